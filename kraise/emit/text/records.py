"""Structs that hold arrays beside the numbers that decide shapes: dataclasses registered with JAX, whose integers are
static fields (contract, section 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kraise.emit.text import layout_text
from kraise.emit.text import python as py
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.types import ArrayType, ScalarType, StructType

if TYPE_CHECKING:
    from kraise.emit.lower import Lowering


def is_record(kind: object) -> bool:
    """Whether a parameter's type is a struct by value with arrays and with integers."""
    if not isinstance(kind, StructType) or kind.is_array:
        return False
    return any(isinstance(t, ArrayType) for _, t in kind.members) and any(_static(t) for _, t in kind.members)


def _static(kind: object) -> bool:
    return isinstance(kind, ScalarType) and kind.is_integer


def record_of(params: tuple[Any, ...], name: str) -> StructType | None:
    """The type of the parameter ``name`` (or ``name.member``) where that is such a struct."""
    head = name.split(".")[0]
    return next((p.type for p in params if p.name == head and is_record(p.type)), None)


def returned(low: Lowering, kernel: eq.Kernel) -> Py:
    """What a function returns: the last versions of what it writes, members of structs put into these."""
    ctx = low.ctx
    items: list[Py] = []
    done: set[str] = set()
    for value in kernel.returns:
        if not isinstance(value, eq.Version):
            items.append(low.lower(value, ()).py)
            continue
        root, _, member = value.array.partition(".")
        if not member:
            items.append(ctx.array(value))
        elif root not in done:
            done.add(root)
            parts = [v for v in kernel.returns if isinstance(v, eq.Version) and v.array.startswith(root + ".")]
            members = {v.array.split(".", 1)[1]: ctx.array(v) for v in parts}
            items.append(changed(kernel.params, root, ctx.param_text(root), members))
    if not items:
        return Atom("None")
    return items[0] if len(items) == 1 else py.Tup(tuple(items))


def changed(params: tuple[Any, ...], name: str, text: str, members: dict[str, Py]) -> Py:
    """The struct parameter ``name`` (as Python text ``text``) with other members."""
    if record_of(params, name) is not None:
        return py.call("dataclasses.replace", Atom(text), **members)
    return py.method(Atom(text), "_replace", **members)


def definition(kind: StructType, around: Any) -> list[str]:
    """The lines of the dataclass."""
    static = [n for n, t in kind.members if _static(t)]
    data = [n for n, _ in kind.members if n not in static]
    fields = {"data_fields": data, "meta_fields": static}
    texts = {key: py.Tup(tuple(Atom(f'"{identifier(n)}"') for n in names)) for key, names in fields.items()}
    decorator = py.call("partial", Atom("jax.tree_util.register_dataclass"), **texts)
    lines = layout_text.statement("@", around.spelled(decorator), 0).split("\n")
    lines += ["@dataclasses.dataclass(frozen=True)", f"class {identifier(kind.name)}:"]
    for name, t in kind.members:
        lines.append(f"    {identifier(name)}: {_annotation(t)}")
    return lines


def named_tuple(kind: StructType) -> list[str]:
    """The lines of the tuple type of a struct of numbers."""
    lines = [f"class {identifier(kind.name)}(NamedTuple):"]
    words = {"float": "float", "bool": "bool"}
    return lines + [
        f"    {identifier(n)}: {words.get(t.kind, 'int') if isinstance(t, ScalarType) else 'tuple'}"
        for n, t in kind.members
    ]


def _annotation(kind: object) -> str:
    if _static(kind):
        return "int"
    return "tuple" if isinstance(kind, StructType) else "jax.Array"
