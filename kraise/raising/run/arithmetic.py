"""Integer arithmetic of values: index arithmetic in normal form, other integers as operations that wrap."""

from __future__ import annotations

from functools import lru_cache

from kraise.analysis.poly import LARGE, Poly, normal, of_hash, to_expr, to_poly, wraps
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType
from kraise.ir.walk import free_indices, is_unsigned_size, topological, transform
from kraise.raising.run import simplify
from kraise.raising.threads.launched import at_least_one

RING = ("add", "sub", "mul", "neg")
_tidied: dict[eq.Expr, eq.Expr] = {}  # what tidy made of each node


def operation(name: str, args: tuple[eq.Expr, ...], t: ScalarType) -> eq.Expr:
    """An operation on values; index arithmetic is kept in normal form."""
    if name in ("and_", "or_") and all(a.type.kind == "bool" for a in args):
        name = name.rstrip("_")  # `i > 0 & i < n`: both sides are known here
    if name == "add" and (less := _taken_off(args, t)) is not None:
        name, args = "sub", less
    if name == "add" and args[0] == args[1] and t.is_integer and isinstance(args[0], eq.CarryIn):
        # XLA's analysis of trip counts (jaxlib 0.10) aborts the process at `t = t + t` of a while loop
        name, args = "mul", (eq.Const(2, t), args[0])
    out = simplify.op(name, args, t)
    mixed = isinstance(out, eq.Op) and out.name == name and not index_like(out)
    # xor, shifts: an index among them is unsigned, too, and one of 8 bits has no others
    bits_matter = t.bits is not None and (t.kind == "uint" or t.kind == "int" and t.bits < 32)
    if mixed and (bits_matter or wraps(out) or not all(map(index_like, args))):  # type: ignore[arg-type]
        out = simplify.op(name, _of_one_width(args, t), t)
    elif mixed and name == "shl" and t.kind == "int" and t.bits is not None:
        # the last bits leave the type, which indices of 64 bits do not
        out = simplify.op(name, tuple(eq.Cast(t, to_expr(to_poly(a))) if free_indices(a) else a for a in args), t)
    if name in RING and out.type.is_integer and isinstance(out, eq.Op) and index_like(out):
        return normal(out)
    if name in ("sub", "add") and out.type.kind == "uint" and isinstance(out, eq.Op) and out.name == name:
        found = _cancelled(out)
        if found is not None:
            return found
    if name in ("floordiv", "tdiv") and out.type.is_integer and isinstance(out, eq.Op) and out.name == name:
        return _exact(out)
    if name == "mod" and isinstance(out, eq.Op) and out.name == name:
        return _remainder(out)
    return out


def _taken_off(args: tuple[eq.Expr, ...], t: ScalarType) -> tuple[eq.Expr, ...] | None:
    """``u + 0xffffffff`` of an unsigned u as ``u - 1``: the operands."""
    for a, b in (args, args[::-1]):
        number = b.value if isinstance(b, eq.Const) and t.kind == "uint" and t.bits is not None else None
        if isinstance(number, int) and t.bits and t.bits >= 32 and 2**t.bits - LARGE < number < 2**t.bits:
            return a, eq.Const(2**t.bits - number, t)
    return None


def _remainder(out: eq.Op) -> eq.Expr:
    """``(32 * q + r) % 8`` is ``r % 8``."""
    a, by = out.args
    if not index_like(a) or not isinstance(by, eq.Const) or not isinstance(by.value, int) or by.value < 2:
        return out
    poly = to_poly(a)
    rest = Poly({m: c if m else c % by.value for m, c in poly.terms.items() if c % by.value})
    if rest.value is not None and poly.indices():
        return eq.Const(rest.value % by.value, out.type)
    return out if rest == poly or not rest.indices() else simplify.op("mod", (to_expr(rest), by), out.type)


def _cancelled(out: eq.Op) -> eq.Expr | None:
    """An unsigned sum in which all that is subtracted cancels (``16 * b + t - 16 * b``): what is left fits, as all
    index arithmetic is taken to."""
    converted: set[eq.Expr] = set()  # what may be negative, and wraps where it stays
    poly = _modular(out, out.type, converted)
    if poly is None or any(c < 0 for c in poly.terms.values()):
        return None
    atoms = poly.atoms()
    return to_expr(poly, out.type) if all(map(index_like, atoms)) and not atoms & converted else None


def _modular(e: eq.Expr, t: ScalarType, converted: set[eq.Expr]) -> Poly | None:
    """``e`` as a polynomial modulo 2 to the bits of the unsigned type ``t``, in which unsigned differences may be taken
    apart; None where a narrower unsigned type wraps on its own. ``converted`` gets the atoms below conversions."""
    match e:
        case eq.Op(name="add" | "sub" | "mul" as name, args=(a, b)) if e.type == t or e.type.kind == "int":
            x, y = _modular(a, t, converted), _modular(b, t, converted)
            if x is None or y is None:
                return None
            return x + y if name == "add" else x - y if name == "sub" else x * y
        case eq.Cast(arg=a) if e.type == t and a.type.is_integer:
            inner = _modular(a, t, converted)
            converted |= inner.atoms() if inner is not None else set()
            return inner
    return to_poly(e) if index_like(e) else None


def _exact(out: eq.Op) -> eq.Expr:
    """``(16 * q) // 16`` and, rounding down, ``(16 * q + 15) // 16``: the number of whole ones is known. (Extents of
    the launch are positive.)"""
    a, by = out.args
    if not index_like(a) or not isinstance(by, eq.Const) or not isinstance(by.value, int) or by.value < 2:
        return out
    poly = to_poly(a)
    sizes = not poly.indices() or out.name == "floordiv"
    if sizes and poly.value is None and all(c % by.value == 0 for m, c in poly.terms.items() if m):
        rest = poly.offset % by.value
        if rest == 0 or out.name == "floordiv" or at_least_one(a):
            return to_expr(Poly({m: c // by.value for m, c in poly.terms.items()}), out.type)
    return out


def _of_one_width(args: tuple[eq.Expr, ...], t: ScalarType) -> tuple[eq.Expr, ...]:
    """Indices among operands that have a width (and may wrap) get that width too."""
    wide = [a for a in args if not isinstance(a, eq.Const) or not index_like(a)]  # a literal that fits has no say
    # index arithmetic fits all of them: what its cast said of it is in the result's type, or in the other operand's
    told = [a for a in wide if not index_like(a)] or wide
    sized = [a.type for a in told if a.type.is_integer and a.type.bits is not None and not isinstance(a, eq.Param)]
    if t.is_integer and t.bits is not None:
        sized.append(t)
    if not sized or not all(a.type.is_integer for a in args):
        return args
    width = max(sized, key=lambda s: (s.bits or 0, s.kind == "uint"))
    if width.kind == "uint":
        args = tuple(_counted_choice(a) or _as_counted(a) for a in args)
    return tuple(eq.Cast(width, a) if _converted(a, width, t, args) else a for a in args)


def _converted(a: eq.Expr, width: ScalarType, t: ScalarType, args: tuple[eq.Expr, ...]) -> bool:
    """Whether an operand says itself that it has the common width."""
    if isinstance(a, eq.Const):
        return False
    if _differs(a.type, width) and (free_indices(a) or _wraps_round(t, args)):
        return True
    # what is computed from unsigned sizes has a type of its own when it is emitted: JAX finds no common one
    other = a.type.kind != width.kind or a.type.bits not in (None, width.bits)
    return isinstance(a, eq.Op) and other and index_like(a) and any(map(is_unsigned_size, topological((a,))))


def _counted_choice(e: eq.Expr) -> eq.Expr | None:
    """An unsigned choice of indices, sizes and numbers as what it is emitted as, signed; None for anything else."""
    match e:
        case eq.Op(name="select", args=(c, *arms)) if e.type.kind == "uint":
            # a literal has no width of its own beside literals, however large it is
            counted = [a if index_like(a) or isinstance(a, eq.Const) else _counted_choice(a) for a in arms]
            if any(a is not None for a in counted):  # one that is converted beside one that is not
                counted = [_unconverted(a, e.type) if n is None else n for a, n in zip(arms, counted, strict=True)]
            return None if None in counted else eq.Op("select", (c, *counted), INT)  # type: ignore[arg-type]
    return None


def _unconverted(e: eq.Expr, t: ScalarType) -> eq.Expr | None:
    return e.arg if isinstance(e, eq.Cast) and e.type == t and index_like(e.arg) else None


def _as_counted(e: eq.Expr) -> eq.Expr:
    """Index arithmetic of an unsigned type as what it is emitted as, signed: ``i + 2`` of an unsigned i."""
    if e.type.kind != "uint" or not free_indices(e) or isinstance(e, eq.Index) or not index_like(e):
        return e
    counted = to_expr(to_poly(e))
    return eq.Op(counted.name, counted.args, INT) if isinstance(counted, eq.Op) else counted


def _differs(narrow: ScalarType, wide: ScalarType) -> bool:
    """Whether arithmetic of the two types is not of the wider type by itself: uint64 beside int64 is a float, uint32
    beside int32 an int64."""
    return narrow.bits is None or (wide.kind == "uint" and narrow.kind == "int")


def _wraps_round(t: ScalarType, args: tuple[eq.Expr, ...]) -> bool:
    """Whether sizes alone (Python's integers, which do not wrap) stand in an unsigned operation."""
    return t.kind == "uint" and not any(free_indices(a) or isinstance(a, eq.Read) for a in args)


@lru_cache(maxsize=100_000)
def index_like(e: eq.Expr) -> bool:
    """Whether ``e`` is index arithmetic: an integer of indices, parameters and shapes, no array contents.

    Such numbers are taken to fit their type. That is not so of products with large constants (hashes, generators) nor
    of unsigned differences that may be negative: they keep their operations, which wrap.
    """
    match e:
        case eq.Const(value=v, type=t):
            return type(v) is int and (t.bits is None or not of_hash(v, t, factor=False))
        case eq.Index() | eq.Shape() | eq.Param():
            return e.type.is_integer
        case eq.Op() if wraps(e):
            return False
        case eq.Op(name="shl", args=(eq.Const(), by)):
            return isinstance(by, eq.Param) and by.type.is_integer  # a size: what a step of a scan reaches back
        case eq.Op(name=name, args=args):
            return name in (*RING, "floordiv", "mod", "tdiv", "tmod", "min", "max") and all(map(index_like, args))
        case eq.Cast(type=t, arg=a):
            return t.kind == "int" and (t.bits is None or t.bits >= 32) and index_like(a)
    return False


def uninverted(subscript: eq.Expr) -> eq.Expr:
    """The sum that ``~k`` is, which counts from the end, in a subscript."""

    def one(node: eq.Expr) -> eq.Expr:
        match node:
            case eq.Op(name="invert", args=(a,), type=ScalarType(kind="int") as t) if index_like(a):
                return eq.Op("sub", (eq.Op("neg", (a,), t), eq.Const(1, t)), t)
        return node

    if isinstance(subscript, eq.Op) and any(
        isinstance(n, eq.Op) and n.name == "invert" for n in topological((subscript,))
    ):
        now = transform(subscript, one, {})
        return normal(now) if index_like(now) else subscript
    return subscript


@lru_cache(maxsize=100_000)
def row_like(e: eq.Expr) -> bool:
    """The same with elements of arrays in it that have a sign (``row[i] * n + c``), and with what a loop carries
    (``count * n + i``): where C's ints wrap, nothing is defined, so that this is a number like another."""
    match e:
        case eq.Read(type=t) | eq.CarryIn(type=t):
            return t.kind == "number" or (t.kind == "int" and (t.bits or 64) >= 32)
        case eq.Op() if wraps(e):
            return False
        case eq.Op(name=name, args=args) if name in RING:
            return all(map(row_like, args))
        case eq.Cast(type=t, arg=a):
            return t.kind == "int" and (t.bits is None or t.bits >= 32) and row_like(a)
    return index_like(e)


def same_cell(a: tuple[eq.Expr, ...], b: tuple[eq.Expr, ...]) -> bool:
    """Whether two subscript tuples are equal for every instance."""
    return len(a) == len(b) and all(x is y or to_poly(x) == to_poly(y) for x, y in zip(a, b, strict=True))


def uniform(e: eq.Expr, names: tuple[str, ...]) -> bool:
    """Whether the value is the same for all of the indices ``names``."""
    return not (free_indices(e) & set(names))


def tidy(e: eq.Expr) -> eq.Expr:
    """Index arithmetic back in normal form after a substitution."""

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Op):
            return operation(node.name, node.args, node.type)
        return node

    if len(_tidied) > 100_000:
        _tidied.clear()
    return transform(e, one, _tidied)
