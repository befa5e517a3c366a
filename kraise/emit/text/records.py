"""Structs that hold numbers which decide shapes beside what has a value or a derivative: dataclasses registered with
JAX, with the former as static fields (contract, section 1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from kraise.diagnostics import Refused, refuse
from kraise.emit.text import layout_text
from kraise.emit.text import python as py
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Atom, Py, flat
from kraise.ir import equations as eq
from kraise.ir.types import ArrayType, ScalarType, StructType

if TYPE_CHECKING:
    from kraise.emit.lower import Lowering

Field = tuple[StructType, str]


def is_record(kind: object) -> bool:
    """Whether a parameter's type is a struct by value with arrays and with integers."""
    if not isinstance(kind, StructType) or kind.is_array:
        return False
    return any(isinstance(t, ArrayType) for _, t in kind.members) and any(_static(t) for _, t in kind.members)


def _static(kind: object) -> bool:
    return isinstance(kind, ScalarType) and kind.is_integer


def record_of(params: tuple[Any, ...], name: str) -> StructType | None:
    """The type of the parameter ``name`` (or ``name.member``) where that is such a struct."""
    kind = _struct_of(params, name)
    return kind if is_record(kind) else None


def static_field(params: tuple[Any, ...], path: str) -> Field | None:
    """The integer member ``path`` of a struct by value that holds floats, too: a field of its own that can be static,
    so that the rest need not be."""
    kind = _struct_of(params, path)
    member = path.partition(".")[2]
    if kind is None or kind.is_array or is_record(kind) or not _static(dict(kind.members).get(member)):
        return None
    floats = any(isinstance(t, ScalarType) and t.kind in ("float", "complex", "number") for _, t in kind.members)
    return (kind, member) if floats and all(isinstance(t, ScalarType) for _, t in kind.members) else None


def _struct_of(params: tuple[Any, ...], name: str) -> StructType | None:
    head = name.split(".")[0]
    return next((p.type for p in params if p.name == head and isinstance(p.type, StructType)), None)


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
            own = ctx.param_text(root)
            members = {
                m: v for m, v in members.items() if flat(v) != f"{own}.{'.'.join(map(identifier, m.split('.')))}"
            }
            items.append(changed(kernel.params, root, own, members) if members else Atom(own))
    if not items:
        return Atom("None")
    return items[0] if len(items) == 1 else py.Tup(tuple(items))


def not_made(version: eq.Version) -> Refused:
    """Why an array version has no variable."""
    if version.array.count(".") > 1 and version.number == 0:
        reason = f"`{version.array}`: an array of structs that hold structs is not raised"
        return refuse("KR299", reason, None, "write the members of the inner struct out, or pass it as an array")
    return refuse("KR302", f"array {version.array} is read before it is made")


def changed(
    params: tuple[Any, ...], name: str, text: str, members: dict[str, Py], fields: Collection[Field] = ()
) -> Py:
    """The struct parameter ``name`` (as Python text ``text``) with other members; ``fields`` are static ones."""
    is_data = record_of(params, name) is not None or any(kind is _struct_of(params, name) for kind, _ in fields)
    inner = [m for m in members if "." in m]
    kind = _struct_of(params, name)
    if inner and (is_data or kind is None or not kind.is_array):
        reason = f"`{name}.{inner[0]}` is stored to: an array in a struct within a struct"
        raise refuse("KR299", reason, None, "pass the inner struct, or its members, as a parameter of its own")
    if is_data:
        return py.call("dataclasses.replace", Atom(text), **members)
    return _replaced(text, members)


def _replaced(text: str, members: dict[str, Py]) -> Py:
    """A tuple of arrays with other members, those of inner structs put into these."""
    new: dict[str, Py] = {}
    for path, value in members.items():
        head, _, rest = path.partition(".")
        if not rest:
            new[head] = value
        elif head not in new:
            own = {p.partition(".")[2]: v for p, v in members.items() if p.partition(".")[0] == head}
            new[head] = _replaced(f"{text}.{identifier(head)}", own)
    return py.method(Atom(text), "_replace", **new)


def definition(kind: StructType, around: Any, fields: Collection[str]) -> list[str]:
    """The lines of the dataclass; ``fields`` are static, as are all integers beside arrays."""
    static = [n for n, t in kind.members if n in fields or (is_record(kind) and _static(t))]
    data = [n for n, _ in kind.members if n not in static]
    fields = {"data_fields": data, "meta_fields": static}
    texts = {key: py.Tup(tuple(Atom(f'"{identifier(n)}"') for n in names)) for key, names in fields.items()}
    decorator = py.call("partial", Atom("jax.tree_util.register_dataclass"), **texts)
    lines = layout_text.statement("@", around.spelled(decorator), 0).split("\n")
    lines += ["@dataclasses.dataclass(frozen=True)", f"class {identifier(kind.name)}:"]
    for name, t in kind.members:
        lines.append(f"    {identifier(name)}: {_annotation(t) if is_record(kind) else _word(t)}")
    return lines


def named_tuple(kind: StructType) -> list[str]:
    """The lines of the tuple type of a struct of numbers, or of an array of structs."""
    lines = [f"class {identifier(kind.name)}(NamedTuple):"]
    lines += [f"    {identifier(n)}: {'jax.Array' if kind.is_array else _word(t)}" for n, t in kind.members]
    return lines if kind.members else [*lines, "    pass"]


def _word(kind: object) -> str:
    words = {"float": "float", "bool": "bool", "complex": "complex", "number": "float"}
    if isinstance(kind, ArrayType):
        return "jax.Array"
    return words.get(kind.kind, "int") if isinstance(kind, ScalarType) else "tuple"


def _annotation(kind: object) -> str:
    if _static(kind):
        return "int"
    return "tuple" if isinstance(kind, StructType) else "jax.Array"
