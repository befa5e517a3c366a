"""What an emitted function asks of its arguments: their types and ranks (``must_be`` of a kernel)."""

from __future__ import annotations

from kraise.emit.blocks import failing
from kraise.emit.context import Context, Stmt
from kraise.emit.text.doc import WIDTH
from kraise.ir import equations as eq
from kraise.ir.walk import children, free_indices, statement_expressions, topological

_LINEAR = ("mul", "div", "neg")


def _in_lines(names: list[str], tests: dict[str, str]) -> list[list[str]]:
    """The names together, or each alone where the line of their tests would be too long."""
    together = len(" or ".join(tests[n] for n in names)) <= WIDTH - len("        if :")
    return [names] if together else [[n] for n in names]


def _numbers(kernel: eq.Kernel, names: list[str], of_array: bool = False) -> list[Stmt]:
    """That parameters are numbers; ``of_array``: how an array is meant is said, too."""
    out: list[Stmt] = []
    tests = {name: f"jnp.ndim({name})" for name in names}
    for some in _in_lines(names, tests):
        said = f"{', '.join(some)} must be {'a number' if len(some) == 1 else 'numbers'}"
        said += f" (where an array is meant, the source says {some[0]}[:])" if of_array else ""
        out.append(failing(" or ".join(map(tests.__getitem__, some)), f"{kernel.name}: {said}"))
    return out


def of_type(context: Context, kernel: eq.Kernel) -> list[Stmt]:
    """That a parameter is there; that it has the type of ``jnp.zeros(n, float)`` or of another one, where these change
    places; that parameters which expressions over arrays take for numbers are no arrays."""
    out: list[Stmt] = []
    for name in (context.param_text(n) for n, kind in kernel.must_be if kind == "given"):
        said = f"{kernel.name}: {name} must be given: without it the source computes something else"
        out.append(failing(f"{name} is None", said))
    if names := [context.param_text(n) for n, kind in kernel.must_be if kind == "number" and n not in context.statics]:
        out += _numbers(kernel, names, of_array=True)
    added = [n for n, kind in kernel.must_be if kind == "number summed" and (n, "number") not in kernel.must_be]
    if names := [context.param_text(n) for n in added if n not in context.statics and _summed_with(kernel, n)]:
        out += _numbers(kernel, names)
    axes: dict[str, list[str]] = {}
    for n, kind in kernel.must_be:
        count, _, summed = kind.partition(" ")
        if count.isdigit() and (not summed or (_summed(kernel, n) and (n, count) not in kernel.must_be)):
            axes.setdefault(count, []).append(context.param_text(n))
    for count, arrays in axes.items():
        many = f"{count} {'axis' if count == '1' else 'axes'}"
        tests = {name: f"jnp.ndim({name}) != {count}" for name in arrays}
        for some in _in_lines(arrays, tests):
            said = f"{', '.join(some)} must have {many} (parts of it are written with a colon)"
            out.append(failing(" or ".join(map(tests.__getitem__, some)), f"{kernel.name}: {said}"))
    for name in (n for n, kind in kernel.must_be if kind == "floats"):
        said = f"{kernel.name}: {name} must be of the type of np.zeros, which takes its place"
        out.append(failing(f"{context.param_text(name)}.dtype != jnp.result_type(float)", said))
    for word, what, attribute in (("like ", "type", "dtype"), ("shaped as ", "shape", "shape")):
        for name, other in ((n, kind.removeprefix(word)) for n, kind in kernel.must_be if kind.startswith(word)):
            one, first = context.param_text(name), context.param_text(other)
            said = f"{kernel.name}: {first} and {one} must be of one {what}, for copies of them change places"
            out.append(failing(f"{one}.{attribute} != {first}.{attribute}", said))
    return out


def _reduced(kernel: eq.Kernel) -> list[eq.Expr]:
    """What is added up (or reduced otherwise) to one number, or to running ones: beside other axes each element keeps
    its own."""
    values = [e for s in kernel.body for e in statement_expressions(s)]
    values += [e for e in kernel.returns if not isinstance(e, eq.Version)]
    return [
        n
        for n in topological(values)
        if isinstance(n, eq.Reduce | eq.Scan)
        and free_indices(n) == ({n.axis.name} if isinstance(n, eq.Scan) else set())
    ]


def _summed(kernel: eq.Kernel, array: str) -> bool:
    """Whether elements of an array are added up so: there rows would disappear."""
    return any(isinstance(r, eq.Read) and r.version.array == array for r in topological(_reduced(kernel)))


def _summed_with(kernel: eq.Kernel, name: str) -> bool:
    """Whether a number is part of what is added up so: an array in its place would be added up as well. As a factor of
    all of a sum it stands before it, whatever it is."""

    def inside(e: eq.Expr) -> bool:
        found = [x for x in children(e) if _holds(x, name)]
        if len(found) == 1 and isinstance(e, eq.Cast | eq.Op) and (isinstance(e, eq.Cast) or e.name in _LINEAR):
            return inside(found[0])
        return bool(found)

    for n in _reduced(kernel):
        if isinstance(n, eq.Reduce) and n.op == "add":
            if inside(n.body) or (n.where is not None and _holds(n.where, name)):
                return True
        elif _holds(n, name):
            return True
    return False


def _holds(e: eq.Expr, name: str) -> bool:
    return any(isinstance(n, eq.Param) and n.name == name for n in topological((e,)))


__all__ = ["of_type"]
