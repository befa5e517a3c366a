"""C's types, as far as kernels use them; scalars are Kernel IR's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraise.ir.kernel import Expr
from kraise.ir.types import BY_NAME, ArrayType, ScalarType, StructType, Type


@dataclass(frozen=True)
class Void:
    """No value; ``name`` tells void, auto, and the opaque objects of the runtime (thread_block, …) apart."""

    name: str = "void"


@dataclass(frozen=True)
class Pointer:
    to: CType
    const: bool = False


@dataclass(frozen=True)
class Container(Pointer):
    """``std::vector`` and its kin in a host function; ``owns`` its memory, so that a copy of it is a copy of that."""

    owns: bool = True


@dataclass(frozen=True)
class Reference:
    to: CType


@dataclass(frozen=True)
class Array:
    """``extent`` None is ``[]``."""

    of: CType
    extent: Expr | None


@dataclass(frozen=True)
class Struct:
    """``vector``: one of CUDA's float4 and the like, whose members are an axis where it stands in an array.
    ``arguments``: those of the class template that it is an instance of, which tell ``Cut<int>`` from ``Cut<float>``
    where neither has members."""

    name: str
    members: tuple[tuple[str, CType], ...]
    vector: bool = False
    defined: object = field(default=None, compare=False)  # the StructDefinition, for methods
    arguments: tuple[str, ...] = ()

    def member(self, name: str) -> CType | None:
        """The type of a member, or None."""
        return next((t for n, t in self.members if n == name), None)


@dataclass(frozen=True)
class Collective(Void):
    """One of CUB's classes for what the threads of a block or a warp do together: ``who`` and ``does``. ``size`` is the
    number of these threads along each axis, ``items`` how many elements each has of it."""

    who: str = ""
    does: str = ""
    element: ScalarType | None = None
    size: tuple[Expr, ...] = ()
    items: int = 1


@dataclass(frozen=True)
class Tile(Void):
    """A tile of a cooperative group, of so many threads."""

    threads: int = 0


CType = ScalarType | Void | Pointer | Reference | Array | Struct
VOID, AUTO = Void(), Void("auto")
FUNCTION = Void("function")  # a pointer to one
OBJECT = Void("object")  # a lambda, a function's name, a cooperative group: passed on as it is
STORAGE = Void("TempStorage")  # what a collective works in
CONTAINERS = ("vector", "device_vector", "host_vector", "device_ptr")
AXES = ("x", "y", "z", "w")
SPELLED = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "half",
    "bfloat16": "__nv_bfloat16",
    "float32": "float",
    "float64": "double",
}


def scalar(name: str) -> ScalarType:
    """The element type called ``name`` (float32, int64, …)."""
    return BY_NAME[name]


def vector(name: str, element: ScalarType, n: int) -> Struct:
    """float4 and its kin."""
    return Struct(name, tuple((a, element) for a in AXES[:n]), vector=True)


def leaf(t: CType) -> tuple[ScalarType | None, int]:
    """Element and number of axes that one value of ``t`` has in an array (None for a struct of several arrays)."""
    if isinstance(t, ScalarType):
        return t, 0
    if isinstance(t, Struct) and t.vector:
        return t.members[0][1], 1  # type: ignore[return-value]
    if isinstance(t, Array | Pointer):
        element, n = leaf(t.of if isinstance(t, Array) else t.to)
        return element, n + 1
    return None, 0


def other_type(one: ScalarType, other: ScalarType | None) -> bool:
    """Does memory of the one mean something else as memory of the other: floats and integers, other widths?"""
    return other is not None and ((one.kind == "float") != (other.kind == "float") or one.bits != other.bits)


def tail(t: CType) -> tuple[int, ...]:
    """The extents that ``leaf``'s axes have, where ``t`` fixes all of them."""
    return (len(t.members),) if isinstance(t, Struct) and t.vector else ()


def is_storage(t: CType) -> bool:
    """Is it what a collective works in, an array of such, or a struct or union of them?"""
    if isinstance(t, Struct):
        return bool(t.members) and all(is_storage(m) for _, m in t.members)
    return t == STORAGE or (isinstance(t, Array) and is_storage(t.of))


def array_leaves(name: str, t: CType, axes: int = 1) -> list[tuple[str, ScalarType, int]]:
    """The arrays (path, element, axes) in which an array ``name`` of ``t`` is kept. Raises TypeError."""
    if isinstance(t, Struct) and not t.vector:
        return [x for n, m in t.members for x in array_leaves(f"{name}.{n}", m, axes)]
    if isinstance(t, Array):
        return array_leaves(name, t.of, axes + 1)
    element, n = leaf(t)
    if element is None:
        raise TypeError(f"{name}: {describe(t)}")
    return [(name, element, axes + n)]


def ir_type(t: CType, in_array: bool = False) -> Type:
    """The Kernel IR type of a kernel's parameter. Raises TypeError where there is none."""
    match t:
        case ScalarType():
            return t
        case Reference(to):
            return ir_type(to)
        case Array(to) if in_array and isinstance(_bottom(to), Struct) and not _bottom(to).vector:  # type: ignore[union-attr]
            return _with_axis(ir_type(to, True))  # ``struct { fcomplex e[3][3]; }``: axes of what those have
        case Struct(defined=own) | Pointer(Struct(defined=own)) | Array(Struct(defined=own)) if getattr(
            own, "union", ()
        ):
            raise TypeError("a union")
        case Pointer(to) | Array(to):
            if isinstance(to, Struct) and not to.vector:
                kept = [(n, m) for n, m in to.members if not isinstance(m, Pointer)]  # those are refused where used
                return StructType(to.name, tuple((n, ir_type(m, True)) for n, m in kept), is_array=True)
            element, n = leaf(to)
            if element is not None:
                return ArrayType(element, n + 1, tail(to))
            if isinstance(to, Array):
                inner = ir_type(to)
                if isinstance(inner, ArrayType):
                    return ArrayType(inner.element, inner.ndim + 1)
        case Struct() if in_array and t.vector:
            return ArrayType(t.members[0][1], 1, tail(t))  # type: ignore[arg-type]
        case Struct():
            return StructType(t.name, tuple((n, ir_type(m, in_array)) for n, m in t.members))
    raise TypeError(describe(t))


def _bottom(t: CType) -> CType:
    """What an array of arrays holds."""
    while isinstance(t, Array):
        t = t.of
    return t


def _with_axis(t: Type) -> Type:
    """Each number of ``t`` as an array, each array with one more axis."""
    match t:
        case ScalarType():
            return ArrayType(t, 1)
        case ArrayType(element, ndim, last):
            return ArrayType(element, ndim + 1, last)
        case StructType(name, members, is_array):
            return StructType(name, tuple((n, _with_axis(m)) for n, m in members), is_array)  # type: ignore[misc]


def describe(t: CType) -> str:
    """The type in words for messages."""
    match t:
        case ScalarType():
            return str(t)
        case Void(name):
            return name
        case Pointer(to):
            return f"{describe(to)} *"
        case Reference(to):
            return f"{describe(to)} &"
        case Array(of):
            return f"{describe(of)} []"
        case Struct(name):
            return name
    return "?"
