"""Names of a CUDA C host function: what a call is called, what is dropped, sizes in bytes as counts of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Token, Tree

from kraise import dialects
from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.c_types import Array, CType, Pointer, Void, leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.trees import Node, strip, tokens, words
from kraise.ir.host_signs import wraps
from kraise.ir.kernel import Cast, Const, Expr, Op, Var
from kraise.ir.types import INT32


def callee(node: Node) -> str:
    """The name of what a call calls, without ``std::``; HIP's names as CUDA's."""
    node = strip(node)
    if not isinstance(node, Tree) or node.data != "id_expression":
        return str(node) if isinstance(node, Token) else ""
    parts = [str(w) for w in words(node)]
    if "<" in parts:
        parts = parts[: parts.index("<")]
    parts = [p for p in parts if p not in ("::", "std")]
    name = "::".join(parts)
    if name.startswith("hip") and name not in dialects.table("host_library")["cuda"]:
        name = "cuda" + name[3:]
    return name


def handed(body: Tree) -> set[str]:
    """The names in launches and copies: what a ``const char *`` among them points to is data, and no text."""
    found = set()
    for node in body.iter_subtrees():
        called = str(node.data) == "call_expression" and isinstance(node.children[0], Tree)
        if str(node.data) == "launch_expression" or (called and "emcpy" in callee(node.children[0])):
            found |= {str(t) for t in tokens(node)}
    return found


def dropped(name: str) -> str:
    """What a call of ``name`` is dropped as, "" if it is not."""
    table = dialects.table("host_library")["dropped_cuda"]
    if name in table:
        return table[name]
    for pattern, what in table.items():
        if pattern.endswith("*") and name.startswith(pattern[:-1]):
            return what
    return ""


def concept(name: str) -> str:
    """What a call does to memory, "" where that is not known."""
    return dialects.table("host_library")["cuda"].get(name, "")


def size_of(t: CType) -> int:
    """The bytes of one element of an array of ``t``; 0 where it is a struct of several arrays."""
    element, axes = leaf(t)
    if element is None or element.bits is None:
        return 0
    n = len(t.members) if axes and hasattr(t, "members") else 1  # a vector type
    return (1 if element.kind == "bool" else element.bits // 8) * n


def rows_of(t: CType) -> tuple[Expr, ...]:
    """The extents of an array of arrays; () for a number, an array without an extent, or anything else."""
    out: list[Expr] = []
    while isinstance(t, Array):
        found = fold(t.extent)
        if not isinstance(found, Const) or int(found.value.real) <= 0:
            return ()
        out.append(Const(int(found.value.real), INT32, found.name))
        t = t.of
    return tuple(out)


def with_known_rows(t: CType, defined: Callable[[Expr], Expr]) -> CType:
    """An array of arrays whose extents are numbers that are known here (``const int W = 64; float a[H][W]``)."""
    if not isinstance(t, Array) or not isinstance(t.of, Array):
        return t

    def known(inner: CType) -> CType:
        if not isinstance(inner, Array) or inner.extent is None:
            return inner
        found = None if fold(inner.extent) else fold(defined(inner.extent))
        return Array(known(inner.of), found or inner.extent)

    return known(t)


def elements(bytes_: Expr, size: int, definitions: dict[str, Expr]) -> Expr | None:
    """``bytes_ / size`` where that is exact by its form, normalised; None where it is not."""
    if size == 1:
        return normal(bytes_)
    match bytes_:
        case Const(value=value) if not int(value.real) % size:
            return Const(int(value.real) // size, INT32)
        case Cast(arg=arg, type=kind) if kind.is_integer:
            return elements(arg, size, definitions)
        case Op(name="mul", args=(a, b)):
            known = [isinstance(e, Const) and not e.name and (1 + (e.value == size)) for e in (a, b)]
            sizes_first = ((b, a), (a, b)) if known[1] > known[0] else ((a, b), (b, a))
            for one, other in sizes_first:
                part = elements(one, size, definitions)
                if part is not None:
                    return product(part, _quotient(other, definitions))
        case Op(name="add" | "sub" as name, args=(a, b)):
            left, right = elements(a, size, definitions), elements(b, size, definitions)
            if left is not None and right is not None:
                return Op(name, (left, right), INT32)
        case Var(name=name) if name in definitions:
            return elements(definitions[name], size, definitions)
    return None


def _quotient(e: Expr, definitions: dict[str, Expr]) -> Expr:
    """A factor of a number of bytes: ``bytes / 20`` is exact where the bytes are so many 20s by their form."""
    match e:
        case Cast(arg=arg, type=kind) if kind.is_integer:
            return _quotient(arg, definitions)
        case Op(name="tdiv", args=(a, Const(value=int(by)))) if by > 0:
            found = elements(a, by, definitions)
            return normal(e) if found is None else found
    return normal(e)


def is_handle(t: CType) -> bool:
    """Is it a stream, a library's handle, or a pointer to one?"""
    inner = t.to if isinstance(t, Pointer) else t
    return isinstance(inner, Void) and inner.name in vocabulary.opaque()


def leftmost(node: Any) -> Any:
    """``cout`` of ``cout << a << b``."""
    while isinstance(node, Tree) and node.data == "shift_expression":
        node = node.children[0]
    return node


def normal(e: Expr) -> Expr:
    """A size without the widening casts of C, products in a fixed order."""
    if isinstance(e, Cast | Op) and e.type.is_integer and (e.type.bits or 64) < 32:
        return e  # what a narrow number holds of it
    match e:
        case Cast(arg=arg, type=kind) if kind.is_integer and arg.type.is_integer:
            return normal(arg)
        case Op(name="mul", args=(a, b)):
            return product(normal(a), normal(b))
        case Op(name="tdiv" | "tmod", args=(a, b)) if wraps(a, b) or wraps(b):
            return e  # what wraps around is no size
        case Op(name=name, args=args) if name in ("add", "sub", "tdiv", "tmod"):
            return Op(name, tuple(normal(a) for a in args), INT32)
        case Var(name=name):
            return Var(name, INT32)
        case Const(value=value, name=name) if e.type.is_integer:
            return Const(int(value.real), INT32, name)
    return e


def product(*terms: Expr) -> Expr:
    """A product with its factors in a fixed order and no factor 1."""
    factors = sorted([f for t in terms for f in _factors(t)], key=lambda f: (isinstance(f, Const), repr(f)))
    factors = [f for f in factors if not (isinstance(f, Const) and f.value == 1 and not f.name)]
    if any(isinstance(f, Const) and f.value == 0 and not f.name for f in factors):
        return Const(0, INT32)
    if not factors:
        return Const(1, INT32)
    found = factors[0]
    for f in factors[1:]:
        found = Op("mul", (found, f), INT32)
    return found


def _factors(e: Expr) -> list[Expr]:
    return [f for a in e.args for f in _factors(a)] if isinstance(e, Op) and e.name == "mul" else [e]
