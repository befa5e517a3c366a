"""Expressions as readable mathematics: ``alpha * sum_k A[i, k] * B[k, j]``, ``a if c else b``.

Parentheses follow precedence. A value that has a name in the source may be printed by it instead of being written out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kraise.ir.equations import (
    ArgReduce,
    Axis,
    CarryIn,
    Cast,
    Const,
    Expr,
    FoldResult,
    HelperCall,
    Index,
    Op,
    Param,
    Read,
    Reduce,
    Scan,
    Shape,
    Version,
)
from kraise.ir.internal_names import readable
from kraise.ir.operations import ASSOCIATIVE, OPERATIONS, WIDENING

# how tightly a form binds; a reduction takes a product as its body and so binds a little looser than one
_SELECT, _OR, _AND, _NOT, _COMPARE = 0, 1, 2, 3, 4
_BIT_OR, _XOR, _BIT_AND, _SHIFT, _SUM, _REDUCTION, _PRODUCT, _UNARY, _POWER, _ATOM = range(5, 15)

_INFIX = {
    "or": ("or", _OR), "and": ("and", _AND),
    "lt": ("<", _COMPARE), "le": ("<=", _COMPARE), "gt": (">", _COMPARE), "ge": (">=", _COMPARE),
    "eq": ("==", _COMPARE), "ne": ("!=", _COMPARE),
    "or_": ("|", _BIT_OR), "xor": ("^", _XOR), "and_": ("&", _BIT_AND), "shl": ("<<", _SHIFT), "shr": (">>", _SHIFT),
    "add": ("+", _SUM), "sub": ("-", _SUM),
    "mul": ("*", _PRODUCT), "div": ("/", _PRODUCT), "floordiv": ("//", _PRODUCT), "tdiv": ("/", _PRODUCT),
    "mod": ("%", _PRODUCT), "tmod": ("%", _PRODUCT), "pow": ("**", _POWER),
}  # fmt: skip
_CHAINED = _INFIX.keys() & {*ASSOCIATIVE}  # a + b + c
_REDUCTIONS = {"add": "sum", "mul": "prod", "min": "min", "max": "max", "and": "all", "or": "any"}
_BITS = {"and_": "bitand", "or_": "bitor", "xor": "bitxor"}
_SCANS = {"add": "cumsum", "mul": "cumprod", "min": "cummin", "max": "cummax", "and": "cumall", "or": "cumany"}
_SCANS |= {"and_": "cumbitand", "or_": "cumbitor", "xor": "cumbitxor"}
_NEUTRAL = {"add": (0,), "mul": (1,), "and": (True,), "or": (False,), "max": (float("-inf"),), "min": (float("inf"),)}
_NEUTRAL |= {"or_": (0,), "xor": (0,), "and_": (-1,)}

Printed = tuple[str, int]


def _plain(version: Version) -> str:
    return version.array


class TooLong(Exception):
    """The text would be longer than what was asked for."""


class Printer:
    """Prints expressions.

    ``names``: values printed by name. ``expand``: how many names inside one another are written out first. ``depth``:
    what lies deeper is printed as ``(...)``. ``array``: how a version is called. With ``most``, a text that has more
    characters is given up: TooLong.
    """

    def __init__(
        self,
        names: Mapping[Expr, str] | None = None,
        expand: int = 0,
        depth: int = 100,
        array: Callable[[Version], str] = _plain,
        most: int | None = None,
    ) -> None:
        self.names = names or {}
        self.expand = expand
        self.depth = depth
        self.array = array
        self.budget = 4000  # nodes: a shared value is printed once for each use
        self.most = most

    def root(self, e: Expr) -> str:
        """The text of an expression; its own name, if it has one, is not used."""
        return self.compute(e, self.expand, self.depth)[0]

    def text(self, e: Expr, least: int = 0) -> str:
        """The text of an expression, by name where it has one, in parentheses if it binds looser than ``least``."""
        return self.at(e, least, self.expand, self.depth)

    def at(self, e: Expr, least: int, expand: int, depth: int) -> str:
        if self.most is not None and not isinstance(e, Cast):
            self.most -= 1  # whatever is printed has one character at least of its own
            if self.most < 0:
                raise TooLong
        name = self.names.get(e)
        if name is not None:
            if expand <= 0 or isinstance(e, Shape):
                return name
            expand -= 1
        if (depth <= 0 or self.budget <= 0) and not isinstance(
            e, Const | Param | Shape | Index | Read | CarryIn | FoldResult
        ):
            return "(...)"
        text, strength = self.compute(e, expand, depth - 1)
        return f"({text})" if strength < least else text

    def compute(self, e: Expr, expand: int, depth: int) -> Printed:
        self.budget -= 1

        def sub(x: Expr, least: int = 0) -> str:
            return self.at(x, least, expand, depth)

        def chained(x: Expr, least: int = 0) -> str:
            # a + b + c + d is no deeper than a + b
            same = isinstance(x, Op) and isinstance(e, Op) and x.name == e.name and x.name in _CHAINED
            return self.at(x, least, expand, depth + 1 if same else depth)

        def listed(xs: tuple[Expr, ...]) -> str:
            return ", ".join(map(sub, xs))

        match e:
            case Const():
                return _constant(e)
            case Param(name=name):
                return name.removesuffix(".x") if name.split(".")[0] in ("grid", "block", "threads") else name, _ATOM
            case Shape(array=array, axis=axis):
                return f"{array}.shape[{axis}]", _ATOM
            case Index(name=name) | CarryIn(name=name):
                return readable(name), _ATOM
            case FoldResult(name=name, axes=axes):
                inside = f"[{', '.join(a.name for a in axes)}]" if name.endswith(".out") else ""
                return readable(name) + inside, _ATOM
            case Cast(type=type, arg=arg):
                if type.is_integer and not (arg.type.is_integer or arg.type.kind == "bool"):
                    return f"int({sub(arg)})", _ATOM
                text, level = self.compute(arg, expand, depth)
                if self.names.get(arg) is None:
                    return text, level
                return (named, _ATOM) if (named := sub(arg)).isidentifier() else (named, level)
            case Op(name=name, args=(arg,), type=type) if name in WIDENING:
                return self.compute(Cast(type, arg), expand, depth)
            case Read(version=version, subscripts=subscripts):
                # a subscript is worth printing however deep the read is
                inside = ", ".join(self.at(s, 0, expand, max(depth, 4)) for s in subscripts)
                return f"{self.array(version)}[{inside}]", _ATOM
            case HelperCall(function=function, args=args):
                return f"{function}({listed(args)})", _ATOM
            case Op(name=name, args=args):
                return _operation(name, args, chained)
            case Reduce(op=op, axes=axes, body=body, where=where):
                head = (_REDUCTIONS | _BITS)[op] + _over(axes, where, sub)
                if op not in ("add", "mul"):
                    return f"{head}({sub(body)})", _ATOM
                return f"{head} {sub(body, _REDUCTION)}", _REDUCTION
            case ArgReduce(op="bisect", axis=axis, body=Op(name=name, args=(found, wanted))):
                relation = ">=" if name == "lt" else ">"
                return f"first{_over((axis,), None, sub)}({sub(found)} {relation} {sub(wanted)})", _ATOM
            case ArgReduce(op=op, axis=axis, body=body, where=where, last=last):
                return f"{'last_' if last else ''}arg{op}{_over((axis,), where, sub)}({sub(body)})", _ATOM
            case Scan(op="linear", axis=axis, body=body, other=other, init=init) if other is not None:
                return f"recurrence_{axis.name}(v -> {sub(body, _PRODUCT)} * v + {sub(other)} from {sub(init)})", _ATOM
            case Scan(op="sort", axis=axis, body=body):
                return f"sorted_{axis.name}({sub(body)})", _ATOM
            case Scan(op=op, axis=axis, body=body, init=init, inclusive=inclusive, reverse=reverse, other=anew):
                how = "" if anew is None else "row_"
                how += ("" if inclusive else "exclusive_") + ("reverse_" if reverse else "")
                text = f"{how}{_SCANS.get(op, op)}_{axis.name}({sub(body)})"
                if isinstance(init, Const) and init.value in _NEUTRAL.get(op, ()):
                    return text, _ATOM
                symbol = {"add": "+", "mul": "*"}.get(op)
                if symbol is None:
                    return f"{op}({sub(init)}, {text})", _ATOM
                strength = _SUM if op == "add" else _PRODUCT
                return f"{sub(init, strength)} {symbol} {text}", strength
        raise AssertionError(e)


def _constant(e: Const) -> Printed:
    if e.name:
        return e.name, _ATOM
    negative = not isinstance(e.value, bool | complex) and str(e.value).startswith("-")
    return repr(e.value), _UNARY if negative else _ATOM


def _operation(name: str, args: tuple[Expr, ...], sub: Callable[..., str]) -> Printed:
    if name in _INFIX:
        symbol, strength = _INFIX[name]
        a, b = args
        if name == "pow":
            whole = isinstance(b, Const) and not b.name and isinstance(b.value, float) and b.value.is_integer()
            exponent = str(int(b.value)) if whole else sub(b, _POWER)  # type: ignore[union-attr, arg-type]
            return f"{sub(a, _ATOM)}{symbol}{exponent}", strength
        if name == "mul" and isinstance(b, Reduce):
            return f"{sub(a, _PRODUCT)} * {sub(b, _REDUCTION)}", _REDUCTION
        if name == "add" and isinstance(b, Const) and not b.name and isinstance(b.value, int) and b.value < 0:
            return f"{sub(a, strength)} - {-b.value}", strength
        right = strength if name in _CHAINED and not (name == "mul" and _rounds(b)) else strength + 1
        left = strength + 1 if strength == _COMPARE else strength
        if name == "sub" and isinstance(b, Reduce):
            right = _REDUCTION
        return f"{sub(a, left)} {symbol} {sub(b, right)}", strength
    match name, args:
        case "select", (c, a, b):
            return f"{sub(a, _OR)} if {sub(c, _OR)} else {sub(b)}", _SELECT
        case "not", (a,):
            return f"not {sub(a, _NOT)}", _NOT
        case (("neg" | "invert"), (a,)):
            return f"{'-' if name == 'neg' else '~'}{sub(a, _UNARY)}", _UNARY
        case "fma", (a, b, c):
            return f"{sub(a, _PRODUCT)} * {sub(b, _PRODUCT + 1)} + {sub(c, _SUM)}", _SUM
        case _:
            assert name in OPERATIONS, name
            return f"{name}({', '.join(map(sub, args))})", _ATOM


def _rounds(e: Expr) -> bool:
    """A quotient or rest of whole numbers, or a rest of others: ``a * (b % c)`` is not ``a * b % c``."""
    while isinstance(e, Cast):
        e = e.arg
    return isinstance(e, Op) and (e.name in ("floordiv", "tdiv", "mod", "tmod"))


def _over(axes: tuple[Axis, ...], where: Expr | None, sub: Callable[..., str]) -> str:
    """The indices of a reduction: ``_k``, or with their ranges where those do not go without saying."""
    if where is None and all(_is_obvious(a) for a in axes):
        return "_" + (axes[0].name if len(axes) == 1 else f"({', '.join(a.name for a in axes)})")
    axes, where = _rows(axes, where)
    text = ", ".join(a.name if _is_obvious(a) else span(a, sub) for a in axes)
    return f"_({text})" if where is None else f"_({text} where {sub(where)})"


def _rows(axes: tuple[Axis, ...], where: Expr | None) -> tuple[tuple[Axis, ...], Expr | None]:
    """An axis between two entries of an array, as ``ptr[i] <= k < ptr[i + 1]``: rows of a flat range."""
    parts = _conjuncts(where)
    out = []
    for a in axes:
        low = [c for c in parts if _bounds(c, "ge", a.name)]
        high = [c for c in parts if _bounds(c, "lt", a.name)]
        if len(low) == len(high) == 1:
            (lower,), (upper,) = low, high
            assert isinstance(lower, Op) and isinstance(upper, Op)
            a = Axis(a.name, lower.args[1], upper.args[1], a.step)
            parts = [c for c in parts if c not in (lower, upper)]
        out.append(a)
    rest: Expr | None = None
    for c in parts:
        rest = c if rest is None else Op("and", (rest, c), c.type)
    return tuple(out), rest


def _conjuncts(where: Expr | None) -> list[Expr]:
    match where:
        case None:
            return []
        case Op(name="and", args=args):
            return [c for a in args for c in _conjuncts(a)]
    return [where]


def _bounds(condition: Expr, name: str, index: str) -> bool:
    match condition:
        case Op(name=found, args=(Index(name=own), Read())):
            return found == name and own == index
    return False


def _is_obvious(axis: Axis) -> bool:
    return isinstance(axis.lo, Const) and axis.lo.value == 0 and axis.step == 1 and isinstance(axis.hi, Param | Shape)


def span(axis: Axis, sub: Callable[..., str]) -> str:
    """``0 <= i < n``."""
    text = f"{sub(axis.lo, _BIT_OR)} <= {axis.name} < {sub(axis.hi, _BIT_OR)}"
    return text if axis.step == 1 else f"{text} in steps of {axis.step}"


def render_expr(expr: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """The expression as mathematics; ``names`` gives values that are printed by name."""
    return Printer(names).root(expr)
