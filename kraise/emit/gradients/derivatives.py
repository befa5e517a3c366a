"""``f_grad``, ``f_vjp`` and ``f_jvp`` beside a kernel's function ``f``: what the user asked to differentiate.

Each calls ``f`` from a local function of the active arguments alone, so that static and integer arguments never reach a
transformation of JAX. Refused (KR308): a name that is no parameter or no output, or one that no derivative belongs to
because it is static or holds integers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from kraise.diagnostics import Refused, refuse
from kraise.emit.blocks import Assign, Def, Stmt
from kraise.emit.gradients import host_outputs, outputs
from kraise.emit.gradients.outputs import Inputs, Output, Parameters
from kraise.emit.text import python as py
from kraise.emit.text import records
from kraise.emit.text.head import Signature
from kraise.emit.text.names import Names, identifier
from kraise.emit.text.python import Atom, Py, Tup
from kraise.ir import equations as eq
from kraise.ir import hosted as o
from kraise.ir.activity import Activity, Term

CODE = "KR308"


class DerivativeText:
    """The function called ``name`` as statements below a head."""

    def __init__(self, name: str, head: Signature, doc: str, body: list[Stmt]):
        self.name, self.head, self.doc, self.body = name, head, doc, body


@dataclass(frozen=True)
class Subject:
    """What is differentiated: a kernel's function or a host's, by what it takes and returns."""

    function: eq.Kernel | o.Host
    head: Signature
    inputs: Parameters
    outputs: list[Output]
    active: list[str]  # where the user names nothing


def names_of(kernel: eq.Kernel | o.Host) -> list[str]:
    """The names of the functions that a kernel's derivatives are."""
    return [f"{identifier(kernel.name)}_{way}" for way in _ways(kernel)]


def lacking(kernel: eq.Kernel | o.Host, activity: Activity) -> list[tuple[str, list[str]]]:
    """The names of a sentence that a kernel does not have, each with those that it has of the kind."""
    returned = outputs.outputs(kernel) if isinstance(kernel, eq.Kernel) else host_outputs.outputs(kernel)
    given = {name for out in returned for name in (out.name, out.root) if name}
    taken = {p.name for p in kernel.params}  # type: ignore[attr-defined]
    inputs = [n.partition(".")[0] for n in (*activity.wrt, *activity.const)]
    result = {"result"} if len(returned) == 1 or any(out.scalar for out in returned) else set()
    absent = [(t.output, given) for t in activity.terms if t.output not in given | result]
    absent += [(n, taken) for n in inputs if n not in taken]
    return [(name, sorted(among)) for name, among in absent]


def lacked(functions: list[eq.Kernel | o.Host], activity: Activity, sentence: str) -> Refused:
    """Why a sentence concerns no function: what the one that has most of its names has not."""
    nearest = min(functions, key=lambda f: len(lacking(f, activity)))
    name, among = lacking(nearest, activity)[0]
    near = get_close_matches(name, among, 1)
    hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(among)}"
    reason = f"no function has all the names of `{sentence}`: `{nearest.name}` has no `{name}`"
    return refuse(CODE, reason, nearest.span, hint)


def _ways(kernel: eq.Kernel | o.Host) -> tuple[str, ...]:
    asked = [way for a in kernel.derivatives for way in a.ways]
    return tuple(way for way in ("grad", "vjp", "jvp") if way in asked)


def derivatives(
    kernel: eq.Kernel, head: Signature, taken: frozenset[str], needs: Collection[str] = ()
) -> list[DerivativeText]:
    """The derivatives that ``kernel`` asks for, given its function's head and ``needs``. Raises Refused (KR308)."""
    if not kernel.derivatives:
        return []
    if "eqxi" in needs and "jvp" in _ways(kernel):
        reason = f"`{kernel.name}` has no forward mode: the trip count of a loop depends on data (equinox's while loop)"
        hint = "ask for its gradient, or give the loop a bound: `for (int k = 0; k < most; k++) { if (…) break; … }`"
        raise refuse(CODE, reason, kernel.span, hint)
    inputs = Inputs(kernel, head)
    return written(Subject(kernel, head, inputs, outputs.outputs(kernel), inputs.read()), taken)


def written(subject: Subject, taken: frozenset[str]) -> list[DerivativeText]:
    """The derivatives of a subject. Raises Refused (KR308)."""
    out: list[DerivativeText] = []
    function = subject.function
    for way in _ways(function):
        asked = [a for a in function.derivatives if way in a.ways]
        if len({_meaning(a, way) for a in asked}) > 1:
            reason = f"`{function.name}_{way}` is asked for in two ways"
            raise refuse(CODE, reason, function.span, "give one --grad a kernel")
        out.append(_Writer(subject, taken, asked[0]).write(way))
    return out


def _meaning(activity: Activity, way: str) -> tuple[object, ...]:
    return (activity.terms if way == "grad" else (), activity.wrt, activity.const, activity.noneed)


class _Writer:
    def __init__(self, subject: Subject, taken: frozenset[str], activity: Activity):
        kernel, head = subject.function, subject.head
        self.kernel, self.head, self.activity = kernel, head, activity
        self.name = identifier(kernel.name)
        self.inputs, self.outputs = subject.inputs, subject.outputs
        self.fresh = Names(taken | set(head.names) | {"grid", "block"})
        self.active = [self._active(n) for n in activity.wrt] or subject.active
        self.active = [n for n in self.active if n not in activity.const]
        for name in activity.const:
            self.inputs.known(name)
        for name in activity.noneed:
            if not self._found(name) and name not in self.active:
                self.inputs.known(name)  # the shadow of an input alone: nothing else to say of it
        if not self.active:
            raise self._refuse(f"nothing that `{kernel.name}` reads has a derivative", "name inputs that hold floats")

    def _refuse(self, reason: str, hint: str = "") -> Refused:
        return refuse(CODE, reason, self.kernel.span, hint)

    def _active(self, name: str) -> str:
        self.inputs.known(name)
        self.inputs.differentiable(name)
        return name

    def _found(self, name: str) -> list[Output]:
        """The output of a name, or those of a struct's members."""
        scalars = [out for out in self.outputs if out.scalar]
        for only in (self.outputs, scalars):
            if name == "result" and len(only) == 1:
                return only  # what a function returns, whatever it is called in it
        return [out for out in self.outputs if name in (out.name, out.root)]

    def _output(self, name: str) -> Output:
        found = self._found(name)
        if not found:
            known = list(dict.fromkeys(out.name for out in self.outputs))
            near = get_close_matches(name, known, 1)
            guess = f"did you mean `{near[0]}`?" if near else "it returns " + ", ".join(known)
            raise self._refuse(f"`{self.kernel.name}` returns no `{name}`", guess)
        if found[0].root == name:
            choices = ", ".join(out.name for out in found if out.smooth)
            raise self._refuse(f"`{name}` is a struct: a loss takes one of its members", f"one of {choices}")
        if not found[0].smooth:
            raise self._refuse(f"`{name}` holds integers: it has no derivative", "name an output that holds floats")
        return found[0]

    # --- parts -----------------------------------------------------------------------------------

    def _inner(self, name: str) -> str:
        """The parameter of the local function that stands for an active argument."""
        return identifier(name.replace(".", "_"))

    def _call(self) -> Py:
        """The kernel's own call, active members put into their structs."""
        arguments: list[Py] = []
        for p in self.head.positional:
            members = [n for n in self.active if n.partition(".")[0] == p and "." in n]
            value: Py = Atom(p)
            if members:
                inner: dict[str, Py] = {n.partition(".")[2]: Atom(self._inner(n)) for n in members}
                value = records.changed(self.kernel.params, p, p, inner, self.head.fields)
            arguments.append(value)
        keywords = {n: Atom(n) for n in self.head.names if n not in self.head.positional}
        return py.call(self.name, *arguments, **keywords)

    def _values(self, body: list[Stmt], wanted: list[Output]) -> list[Py]:
        """The wanted outputs of a call, as expressions; ``body`` takes the statement that unpacks it."""
        slots = list(dict.fromkeys(out.slot for out in self.outputs))
        if len(slots) == 1:
            if len(wanted) == 1:
                return [wanted[0].of(self._call())]
            name = self.fresh.fresh("out")
            body.append(Assign(name, self._call()))
            return [out.of(Atom(name)) for out in wanted]
        used = {out.slot for out in wanted}
        first = {out.slot: out for out in reversed(self.outputs)}
        names = {s: self._unshadowed(first[s].root or first[s].name) if s in used else "_" for s in slots}
        body.append(Assign(", ".join(names[s] for s in slots), self._call()))
        return [out.of(Atom(names[out.slot])) for out in wanted]

    def _unshadowed(self, name: str) -> str:
        # an assignment in the local function would hide the argument of that name
        return self.fresh.fresh(f"{name}_new" if identifier(name) in self.head.names else name)

    def _weights(self) -> list[str]:
        """What the loss's dot products take beside the kernel's own parameters."""
        extra = [t.weights for t in self.activity.terms if t.weights]
        return [w for w in dict.fromkeys(extra) if identifier(w) not in self.head.names]

    def _frozen(self) -> list[Stmt]:
        out: list[Stmt] = []
        for name in self.activity.const:
            head, _, member = name.partition(".")
            if identifier(head) in self.head.static or not self.inputs.smooth(name):
                continue  # nothing flows through it
            stopped = py.call("jax.lax.stop_gradient", Atom(".".join(identifier(p) for p in name.split("."))))
            value: Py = stopped
            if member:
                value = records.changed(self.kernel.params, head, identifier(head), {member: stopped}, self.head.fields)
            out.append(Assign(identifier(head), value))
        return out

    def _listed(self, names: list[str]) -> str:
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    # --- the functions -----------------------------------------------------------------------------

    def write(self, way: str) -> DerivativeText:
        """One of the derivatives."""
        made = {"grad": self._grad, "vjp": self._vjp, "jvp": self._jvp}[way]
        extra, doc, body = made()
        head = Signature((*self.head.positional, *extra), self.head.keywords, self.head.static, self.head.fields)
        return DerivativeText(f"{self.name}_{way}", head, doc, [*self._frozen(), *body])

    def _grad(self) -> tuple[list[str], str, list[Stmt]]:
        terms = self.activity.terms
        wanted = [self._output(t.output) for t in terms]
        for output in wanted:
            if output.is_complex:
                raise self._refuse(
                    f"`{output.name}` is complex: a loss is real", "leave the loss out for the vjp alone"
                )
        unique = list(dict.fromkeys(wanted))
        loss = self.fresh.fresh("loss")
        inner: list[Stmt] = []
        values = dict(zip(unique, self._values(inner, unique), strict=True))
        for output, value in values.items():
            if wanted.count(output) > 1 and not isinstance(value, Atom):
                name = self._unshadowed(output.root or output.name)
                inner.append(Assign(name, value))
                values[output] = Atom(name)
        total: Py | None = None
        for term, output in zip(terms, wanted, strict=True):
            negative = term.factor.startswith("-")
            part = _term(term, output, values[output])
            if total is None:
                total = py.Un("-", part) if negative else part
            else:
                total = py.Bin("-" if negative else "+", total, part)
        assert total is not None
        inner.append(Assign(None, total))
        body: list[Stmt] = [Def(loss, tuple(self._inner(n) for n in self.active), inner)]
        quiet = {t.output for t in terms} <= set(self.activity.noneed)
        transform = "jax.grad" if quiet else "jax.value_and_grad"
        options: dict[str, Py] = {}
        if len(self.active) > 1:
            options["argnums"] = Tup(tuple(py.number(k) for k in range(len(self.active))))
        if any(self.inputs.mixed(n) for n in self.active):
            options["allow_int"] = Atom("True")
        function = py.call(transform, Atom(loss), **options)
        body.append(Assign(None, py.Call(function, tuple(self._argument(n) for n in self.active))))
        said = " ".join(
            f"{'- ' if t.factor.startswith('-') and k else '+ ' if k else ''}{_said(t, k)}" for k, t in enumerate(terms)
        )
        what = "Gradient" if quiet else "Value and gradient"
        return self._weights(), f"{what} of {said} with respect to {self._listed(self.active)}.", body

    def _argument(self, name: str) -> Py:
        return Atom(".".join(identifier(p) for p in name.split(".")))

    def _primal(self) -> tuple[str, list[Output], Stmt]:
        wanted = [out for out in self.outputs if out.smooth and out.name not in self.activity.const]
        if not wanted:
            raise self._refuse(f"`{self.kernel.name}` returns integers alone: they have no derivative")
        inner: list[Stmt] = []
        whole = len(wanted) == len(self.outputs) and not any(out.root for out in wanted)
        values = [self._call()] if whole else self._values(inner, wanted)
        inner.append(Assign(None, values[0] if len(values) == 1 else Tup(tuple(values))))
        name = self.fresh.fresh("primal")
        return name, wanted, Def(name, tuple(self._inner(n) for n in self.active), inner)

    def _vjp(self) -> tuple[list[str], str, list[Stmt]]:
        name, wanted, primal = self._primal()
        bars = {slot: self.fresh.fresh(f"{slot}_bar") for slot in dict.fromkeys(out.root or out.name for out in wanted)}
        pull = self.fresh.fresh("pull")
        given = [out.of(Atom(bars[out.root or out.name])) if out.root else Atom(bars[out.name]) for out in wanted]
        cotangent = given[0] if len(given) == 1 else Tup(tuple(given))
        pulled: Py = py.call(pull, cotangent)
        if len(self.active) == 1:
            pulled = py.Sub(pulled, (py.number(0),))
        arguments = (Atom(name), *(self._argument(n) for n in self.active))
        body: list[Stmt] = [primal, Assign(f"_, {pull}", py.call("jax.vjp", *arguments)), Assign(None, pulled)]
        of = self._listed(list(bars))
        where = "the cotangent" if len(bars) == 1 else "the cotangents"
        doc = f"Gradients with respect to {self._listed(self.active)}, given {where} of {of}."
        return list(bars.values()), doc, body

    def _jvp(self) -> tuple[list[str], str, list[Stmt]]:
        name, wanted, primal = self._primal()
        dots = [self.fresh.fresh(f"{self._inner(n)}_dot") for n in self.active]
        at, along = (Tup(tuple(x)) for x in ([self._argument(n) for n in self.active], [Atom(d) for d in dots]))
        pushed: Py = py.call("jax.jvp", Atom(name), at, along)
        quiet = all(out.name in self.activity.noneed or out.root in self.activity.noneed for out in wanted)
        body: list[Stmt] = [primal, Assign(None, py.Sub(pushed, (py.number(1),)) if quiet else pushed)]
        of = self._listed([out.name for out in wanted])
        what = "Tangents" if quiet else "Values and tangents"
        return dots, f"{what} of {of} along tangents of {self._listed(self.active)}.", body


def _term(term: Term, output: Output, value: Py) -> Py:
    match term.how:
        case "dot":
            text: Py = py.call("jnp.vdot", value, Atom(identifier(term.weights)))
        case "mean":
            text = py.call("jnp.mean", value)
        case _:
            text = value if output.scalar and not term.how else py.call("jnp.sum", value)
    number = term.factor.lstrip("-")
    return py.Bin("*", Atom(number), text) if number and number != "1.0" else text


def _said(term: Term, k: int) -> str:
    number = term.factor.lstrip("-")
    inside = f"{term.output}, {term.weights}" if term.weights else term.output
    text = f"{term.how or 'sum'}({inside})" if term.how else inside
    sign = "-" if not k and term.factor.startswith("-") else ""
    return f"{sign}{number} * {text}" if number and number != "1.0" else sign + text
