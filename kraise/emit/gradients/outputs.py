"""What a kernel takes and returns, as far as derivatives are concerned: which of it holds floats, under which names."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from kraise.diagnostics import refuse
from kraise.emit import tree
from kraise.emit.text import python as py
from kraise.emit.text.head import Signature
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Py
from kraise.ir import equations as eq
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType, StructType

CODE = "KR308"


@dataclass(frozen=True)
class Output:
    """One returned array or scalar: its ``name``, its ``slot`` in what the function returns, and for a struct's member
    the struct's name ``root``."""

    name: str
    slot: int
    smooth: bool
    scalar: bool = False
    root: str = ""
    is_complex: bool = False

    def of(self, value: Py) -> Py:
        """The output, given what stands in its slot."""
        for member in self.name.split(".")[1:] if self.root else ():
            value = py.Attr(value, identifier(member))
        return value


def outputs(kernel: eq.Kernel) -> list[Output]:
    """What the kernel's function returns, in order."""
    types = _element_types(kernel)
    names = {n.expr: n.name for n in kernel.names}
    unnamed = sum(not isinstance(v, eq.Version) and v not in names for v in kernel.returns)
    out: list[Output] = []
    slots: dict[str, int] = {}
    for value in kernel.returns:
        if isinstance(value, eq.Version):
            root, _, member = value.array.partition(".")
            if root in slots:
                continue  # another member of a struct that is returned as a whole
            slot = slots.setdefault(root, len(slots))
            for path in [t for t in types if t.startswith(f"{root}.")] if member else [value.array]:
                kind = types.get(path)
                smooth = (kind is None or is_smooth(kind)) and not _stores_integers(kernel, path)
                is_complex = any(t.kind == "complex" for t in (kind, *_stored(kernel, path)) if t)
                out.append(Output(path, slot, smooth, False, root if member else "", is_complex))
        else:
            name = names.get(value) or ("result" if unnamed == 1 else f"result_{len(slots)}")
            name = identifier(name)
            while name in slots:
                name += "_"
            slot = slots.setdefault(name, len(slots))
            out.append(Output(name, slot, is_smooth(value.type), True, "", value.type.kind == "complex"))
    return out


def is_smooth(kind: ScalarType) -> bool:
    return kind.is_inexact or kind.kind == "number"


def _stored(kernel: eq.Kernel, array: str) -> list[ScalarType]:
    """The types of the values that an array is given."""
    stores = [s for s in tree.statements(kernel.body) if isinstance(s, eq.Write) and s.after.array == array]
    return [s.value.type for s in stores]


def _stores_integers(kernel: eq.Kernel, array: str) -> bool:
    """Whether all that an array of no known type is given are integers."""
    types = _stored(kernel, array)
    return bool(types) and all(t.is_integer or t.kind == "bool" for t in types)


def _element_types(kernel: eq.Kernel) -> dict[str, ScalarType]:
    """The element type of each parameter and member, and of each array made on the way, by path."""
    found = types_of(kernel.params)  # type: ignore[arg-type]
    for s in tree.statements(kernel.body):
        if isinstance(s, eq.New):
            found.setdefault(s.version.array, s.element)
    return found


def types_of(params: tuple[k.Param, ...]) -> dict[str, ScalarType]:
    """The element type of each parameter and member, by path."""
    found: dict[str, ScalarType] = {}

    def visit(path: str, kind: object) -> None:
        match kind:
            case ScalarType():
                found[path] = kind
            case ArrayType(element=element):
                found[path] = element
            case StructType(members=members):
                for name, member in members:
                    visit(f"{path}.{name}", member)

    for p in params:
        visit(p.name, p.type)
    return found


class Parameters:
    """The parameters of a kernel or a host function: which can be differentiated."""

    def __init__(self, function: eq.Kernel | o.Host, types: dict[str, ScalarType], head: Signature):
        self.name, self.span, self.head = function.name, function.span, head
        self.types = types
        params: tuple[k.Param, ...] = function.params  # type: ignore[assignment]
        self.structs = {p.name for p in params if isinstance(p.type, StructType)}
        self.parameters = [p.name for p in params]
        self.subscripting: set[str] = set()

    def _members(self, name: str) -> list[str]:
        return [path for path in self.types if path == name or path.startswith(f"{name}.")]

    def known(self, name: str) -> None:
        """Raises Refused where ``name`` is no parameter (or member of one)."""
        if self._members(name):
            return
        near = get_close_matches(name, [*self.parameters, *self.types], 1)
        guess = f"did you mean `{near[0]}`?" if near else "its parameters are " + ", ".join(self.parameters)
        raise refuse(CODE, f"`{self.name}` has no parameter `{name}`", self.span, guess)

    def differentiable(self, name: str) -> None:
        """Raises Refused where no derivative with respect to ``name`` exists, or none that JAX can take."""
        head = name.partition(".")[0]
        if identifier(head) in self.head.static:
            hint = "static arguments are known when the function is traced; leave it out"
            raise refuse(CODE, f"`{name}` decides a shape: it is static, not differentiable", self.span, hint)
        if not self.smooth(name):
            hint = "leave it out: it stays an ordinary argument"
            raise refuse(CODE, f"`{name}` holds integers: it has no derivative", self.span, hint)

    def smooth(self, name: str) -> bool:
        """Whether a parameter (or a member of it) holds floats."""
        return any(is_smooth(self.types[m]) and m not in self.subscripting for m in self._members(name))

    def mixed(self, name: str) -> bool:
        """Whether a struct holds both floats and integers: JAX gives float0 for the latter."""
        return name in self.structs and not all(is_smooth(self.types[m]) for m in self._members(name))

    def flowing(self, used: set[str]) -> list[str]:
        """Those among the used parameters that can be differentiated, in order."""
        static = set(self.head.static)
        return [p for p in self.parameters if p in used and identifier(p) not in static and self.smooth(p)]


class Inputs(Parameters):
    """The parameters of a kernel."""

    def __init__(self, kernel: eq.Kernel, head: Signature):
        super().__init__(kernel, _element_types(kernel), head)
        self.kernel = kernel
        self.subscripting = self._subscripting()

    def read(self) -> list[str]:
        """The parameters that hold floats and whose values flow into what the kernel writes, in order.

        What only decides (a condition, a comparison, a subscript) does not flow.
        """
        used: set[str] = set()
        folds = [s for s in tree.statements(self.kernel.body) if isinstance(s, eq.Fold)]
        carried = {c.entry for f in folds for c in f.arrays if c.outside.number == 0}
        for node in self._flowing():
            if isinstance(node, eq.Read) and (node.version.number == 0 or node.version in carried):
                used.add(node.version.array.partition(".")[0])
            elif isinstance(node, eq.Param):
                used.add(node.name.partition(".")[0])
        return self.flowing(used)

    def _flowing(self) -> set[eq.Expr]:
        stack: list[eq.Expr] = [v for v in self.kernel.returns if not isinstance(v, eq.Version)]
        for s in tree.statements(self.kernel.body):
            match s:
                case eq.Write(value=value):
                    stack.append(value)
                case eq.New(fill=fill):
                    stack += [] if fill is None else [fill]
                case eq.Fold(scalars=scalars, outputs=results):
                    stack += [e for c in scalars for e in (c.init, c.update)] + [o.value for o in results]
        seen: set[eq.Expr] = set()
        while stack:
            node = stack.pop()
            if node in seen or (not isinstance(node, eq.Param) and not is_smooth(node.type)):
                continue
            seen.add(node)
            match node:
                case eq.Op(name="select", args=args):
                    stack += args[1:]
                case eq.Read():
                    pass
                case eq.Reduce(body=body):
                    stack.append(body)
                case _:
                    stack += tree.children(node)
        return seen

    def _nodes(self) -> list[eq.Expr]:
        roots = [r for s in tree.statements(self.kernel.body) for r in tree.statement_roots(s)]
        roots += [v for v in self.kernel.returns if not isinstance(v, eq.Version)]
        return list(tree.walk(*roots))

    def _subscripting(self) -> set[str]:
        """The arrays and scalars of no known type that are used as subscripts: they hold integers."""
        found: set[str] = set()
        places: list[eq.Expr] = [s for n in self._nodes() if isinstance(n, eq.Read) for s in n.subscripts]
        for stmt in tree.statements(self.kernel.body):
            if isinstance(stmt, eq.Write):
                places += stmt.subscripts
        for node in tree.walk(*places):
            if isinstance(node, eq.Read) and node.type.kind == "number":
                found.add(node.version.array)
            elif isinstance(node, eq.Param) and node.type.kind == "number":
                found.add(node.name)
        return found
