"""One dynamic shared array used as several: ``float *a = s, *b = s + blockDim.x`` (Kernel IR to Kernel IR).

Where every subscript is some multiple of one size (a block's threads, or a parameter) and something less than the size,
the array is as many arrays. What goes before the size is read off the sums; that the rest stays below it is proved of
every access of the run, or the run is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kraise.analysis.poly import to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import INT
from kraise.raising.memory.retyped import retyped
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import State
from kraise.raising.run.values import provable_here

_MOST = 8


@dataclass(frozen=True)
class _Size:
    """What separates the parts: ``blockDim.x``, the number of a block's warps, or a parameter; ``names`` are the locals
    that hold nothing else."""

    expr: k.Expr
    names: Mapping[str, k.Expr]

    def times(self, e: k.Expr) -> int | None:
        """n if ``e`` is n of them."""
        match e:
            case k.Cast(arg=arg):
                return self.times(arg)
            case (
                k.Op(name="mul", args=(k.Const(value=int() as n), x))
                | k.Op(name="mul", args=(x, k.Const(value=int() as n)))
            ):
                return n if self.times(x) == 1 else None
            case k.Hw() | k.Op(name="tdiv" | "floordiv" | "shr"):
                return 1 if (own := _of_launch(e)) is not None and own == _of_launch(self.expr) else None
            case k.Var(name=name) if name in self.names:
                return self.times(self.names[name])
            case k.Var(name=name):
                return 1 if isinstance(self.expr, k.Var) and name == self.expr.name else None
        return None


def split(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with its dynamic shared arrays as the arrays that they are used as; the same if there are none."""
    for array in [s for s in walked(body) if isinstance(s, k.LocalArray) and s.dynamic and not s.shape]:
        for size in _sizes(body, array.name):
            found = _split(body, array, size)
            if found is not None:
                body = found
                break
    return retyped(body, made(body))


def _sizes(body: tuple[k.Stmt, ...], array: str) -> Iterator[_Size]:
    """What is added to subscripts of the array and is the same all the time."""
    changed = set(assigned(body))
    names = _launch_names(body)
    seen: set[object] = set()
    for at in _subscripts(body, array):
        for e in _addends(at):
            for n in walked((e,)):
                fixed = _of_launch(n) is not None or (isinstance(n, k.Var) and n.name not in changed)
                key = _of_launch(n) or (type(n), getattr(n, "name", ""), getattr(n, "axis", 0))
                if fixed and key not in seen:
                    seen.add(key)
                    yield _Size(n, names)  # type: ignore[arg-type]
                elif isinstance(n, k.Var) and n.name in names and n.name not in seen:
                    seen.add(n.name)
                    yield _Size(names[n.name], names)


def _launch_names(body: tuple[k.Stmt, ...]) -> dict[str, k.Expr]:
    """The locals that are the number of a block's threads or warps, and nothing else ever."""
    values: dict[str, list[k.Expr]] = {}
    for s in walked(body):
        if isinstance(s, k.Assign):
            values.setdefault(s.name, []).append(s.value)
        elif isinstance(s, k.For):
            values.setdefault(s.var, []).extend((s.start, s.stop))
    out: dict[str, k.Expr] = {}
    for name, held in values.items():
        e = held[0]
        while isinstance(e, k.Cast):
            e = e.arg
        if len(held) == 1 and _of_launch(e) is not None:
            out[name] = e
    return out


def _of_launch(e: object) -> tuple[int, int] | None:
    """The axis, and by what its number of threads is divided, of an expression that is the same in all threads."""
    match e:
        case k.Cast(arg=arg):
            return _of_launch(arg)
        case k.Hw(kind="blockDim", axis=axis):
            return axis, 1
        case k.Op(name="tdiv" | "floordiv" | "shr" as name, args=(a, b)):
            while isinstance(b, k.Cast):
                b = b.arg
            own = _of_launch(a)
            if own is None or not isinstance(b, k.Const) or not isinstance(b.value, int) or not 0 < b.value < 1024:
                return None
            return own[0], own[1] * (b.value if name != "shr" else 1 << b.value)
    return None


def _subscripts(body: tuple[k.Stmt, ...], array: str) -> list[k.Expr]:
    return [
        s.subscripts[0]
        for s in walked(body)
        if isinstance(s, k.Load | k.Store | k.Atomic) and s.array == array and s.subscripts
    ]


def _addends(e: k.Expr) -> list[k.Expr]:
    match e:
        case k.Op(name="add", args=(a, b)):
            return [*_addends(a), *_addends(b)]
        case k.Cast(arg=a) if e.type.is_integer:
            return _addends(a)
    return [e]


def _taken_apart(at: k.Expr, size: _Size) -> tuple[int, k.Expr]:
    """The part, and the subscript in it."""
    part, rest = 0, []
    for e in _addends(at):
        n = size.times(e)
        if n is None:
            rest.append(e)
        else:
            part += n
    if not rest:
        return part, k.Const(0, INT)
    out = rest[0]
    for e in rest[1:]:
        out = k.Op("add", (out, e), out.type)
    return part, out


def _split(body: tuple[k.Stmt, ...], made: k.LocalArray, size: _Size) -> tuple[k.Stmt, ...] | None:
    parts = sorted({_taken_apart(at, size)[0] for at in _subscripts(body, made.name)})
    refs = [n for n in walked(body) if isinstance(n, k.ArrayRef | k.Shape) and n.array == made.name]
    if len(parts) < 2 or parts[0] != 0 or len(parts) > _MOST or refs:
        return None
    taken = {s.name for s in walked(body) if isinstance(s, k.LocalArray)}
    names = {0: made.name}
    for part in parts[1:]:
        number = 2
        while f"{made.name}_{number}" in taken:
            number += 1
        names[part] = f"{made.name}_{number}"
        taken.add(names[part])
    arrays: list[k.Stmt] = []
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        shape: tuple[k.Expr, ...] = ()
        if after is not None:
            shape = (size.expr,)
            if after - part > 1:
                shape = (k.Op("mul", (k.Const(after - part, INT), size.expr), INT),)
        arrays.append(replace(made, name=names[part], shape=shape))

    def visit(n: object) -> object | None:
        if n is made:
            return None
        if isinstance(n, k.Load | k.Store | k.Atomic) and n.array == made.name:
            part, at = _taken_apart(n.subscripts[0], size)
            at = rewritten(at, visit)
            if isinstance(n, k.Load):
                return replace(n, array=names[part], subscripts=(at,))
            values = {f: rewritten(getattr(n, f), visit) for f in ("value", "values") if hasattr(n, f)}
            return replace(n, array=names[part], subscripts=(at,), **values)
        return None

    out: list[k.Stmt] = []
    for s in rewritten(body, visit):
        out += arrays if s is made else [s]
    return tuple(out) if arrays[0] in out else None


def made(body: tuple[k.Stmt, ...]) -> frozenset[str]:
    """The dynamic shared arrays of ``body`` and what they were taken apart into."""
    return frozenset(s.name for s in walked(body) if isinstance(s, k.LocalArray) and s.dynamic)


def check(cx: Context, st: State) -> None:
    """Refuses accesses that are not proved to stay within their part.

    Raises:
        Refused: KR299.
    """
    for a in st.accesses:
        local = st.locals.get(a.array)
        if local is None or a.array not in cx.parts:
            continue
        at = to_poly((a.whole or a.subscripts)[-1])
        inside = replace(st, path=a.path)
        last = local.shape[0] is eq.Param("shared", INT)
        if not provable_here(inside, at) or not (last or provable_here(inside, to_poly(local.shape[0]) - 1 - at)):
            reason = f"nothing says that this stays within its part of the shared array `{a.array}`"
            raise refuse("KR299", reason, a.span, "give each array of the block a shared array of its own")


__all__ = ["check", "made", "split"]
