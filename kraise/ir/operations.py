"""The table of operations: what each means, its derivative, and how an expert spells it in jax.numpy.

Nothing here imports numpy or jax: references, partials and spellings are text. ``reference`` and ``partials`` are
Python expressions over ``x, y, z`` (the operands), ``v`` (the value) and ``np`` (numpy), plus ``special`` (helpers that
the interpreter supplies where numpy has no such function). ``jnp`` is a template over ``{0} {1} {2}``; an operation
with ``infix`` or ``prefix`` is printed with that symbol and the precedence that goes with it.

A ``safe`` entry gives, for an operand, a value at which the value and every partial are finite whatever the other
operands are: the derivative pass puts it where a lane's result is not used (contract, section 5).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kraise.ir.types import FLOAT64, INT64, ScalarType

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}  # of numbers that are known
BITWISE = ("and_", "or_", "xor")
ASSOCIATIVE = ("add", "mul", "min", "max", "and", "or", *BITWISE)  # and commutative; of floats up to rounding
SLICE_ENDS = ("slice_start", "slice_stop", "slice_last", "slice_before")
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}  # a < b as b > a


@dataclass(frozen=True)
class Operation:
    """One row.

    ``result``: "same" (the operands' common type), "bool", "inexact" (float even for integer operands), "int", or
    "second" (select: the arms' type). ``partials``: one an operand, "" where there is none (integers, booleans), "0"
    where it is zero almost everywhere.
    """

    name: str
    arity: int
    result: str
    reference: str
    partials: tuple[str, ...] = ()
    jnp: str = ""
    infix: str = ""
    prefix: str = ""
    safe: tuple[tuple[int, float], ...] = ()
    lazy: bool = False


def _unary(
    name: str,
    reference: str,
    partial: str,
    jnp: str = "",
    result: str = "inexact",
    safe: float | None = None,
) -> Operation:
    return Operation(
        name,
        1,
        result,
        reference,
        (partial,),
        jnp or f"jnp.{name}({{0}})",
        safe=() if safe is None else ((0, safe),),
    )


def _compare(name: str, symbol: str) -> Operation:
    return Operation(name, 2, "bool", f"x {symbol} y", infix=symbol)


_ROWS = (
    # arithmetic
    Operation("add", 2, "same", "x + y", ("1", "1"), infix="+"),
    Operation("sub", 2, "same", "x - y", ("1", "-1"), infix="-"),
    Operation("mul", 2, "same", "x * y", ("y", "x"), infix="*"),
    Operation("div", 2, "inexact", "x / y", ("1 / y", "-v / y"), infix="/", safe=((1, 1.0),)),
    Operation("floordiv", 2, "same", "np.floor_divide(x, y)", ("0", "0"), infix="//", safe=((1, 1.0),)),
    # Python's remainder: the sign of the divisor
    Operation("mod", 2, "same", "np.mod(x, y)", ("1", "-np.floor(x / y)"), infix="%", safe=((1, 1.0),)),
    # C's integer division and remainder truncate toward zero; fmod is the float remainder with the sign of x
    Operation("tdiv", 2, "same", "special.tdiv(x, y)", ("", ""), "jax.lax.div({0}, {1})"),
    Operation("tmod", 2, "same", "special.tmod(x, y)", ("", ""), "jax.lax.rem({0}, {1})"),
    Operation("fmod", 2, "inexact", "np.fmod(x, y)", ("1", "-np.trunc(x / y)"), "jnp.fmod({0}, {1})", safe=((1, 1.0),)),
    Operation(
        "remainder",
        2,
        "inexact",
        "special.remainder(x, y)",
        ("1", "-np.round(x / y)"),
        "({0} - {1} * jnp.round({0} / {1}))",
        safe=((1, 1.0),),
    ),
    Operation("neg", 1, "same", "-x", ("-1",), prefix="-"),
    Operation(
        "pow",
        2,
        "same",
        "x ** y",
        # x ** 0 is constant, also at x = 0; 0 ** y is, for y > 0
        ("0.0 if y == 0 else y * x ** (y - 1)", "0.0 if x == 0 and y > 0 else v * np.log(x)"),
        infix="**",
        safe=((0, 1.0),),
    ),
    Operation(
        "fma",
        3,
        "inexact",
        "x * y + z",
        ("y", "x", "1"),
        "({0} * {1} + {2})",
    ),
    # bits
    Operation("and_", 2, "same", "x & y", ("", ""), infix="&"),
    Operation("or_", 2, "same", "x | y", ("", ""), infix="|"),
    Operation("xor", 2, "same", "x ^ y", ("", ""), infix="^"),
    Operation("invert", 1, "same", "~x", ("",), prefix="~"),
    Operation("shl", 2, "same", "x << y", ("", ""), infix="<<"),
    Operation("shr", 2, "same", "x >> y", ("", ""), infix=">>"),
    Operation("popcount", 1, "int", "special.popcount(x)", ("",), "jax.lax.population_count({0})"),
    # bits of a number that is not negative, Python's int.bit_length
    Operation("bit_length", 1, "int", "int(x).bit_length()", ("",), "(32 - jax.lax.clz(jnp.asarray({0}, jnp.uint32)))"),
    Operation("clz", 1, "int", "special.clz(x)", ("",), "jax.lax.clz({0})"),
    # comparisons and logic
    _compare("lt", "<"),
    _compare("le", "<="),
    _compare("gt", ">"),
    _compare("ge", ">="),
    _compare("eq", "=="),
    _compare("ne", "!="),
    Operation("and", 2, "bool", "x and y", infix="&", lazy=True),
    Operation("or", 2, "bool", "x or y", infix="|", lazy=True),
    Operation("not", 1, "bool", "not x", prefix="~"),
    Operation("select", 3, "second", "y if x else z", ("", "1", "1"), "jnp.where({0}, {1}, {2})", lazy=True),
    # selection and rounding
    # at a tie each operand gets a half, as in JAX
    Operation(
        "min",
        2,
        "same",
        "np.minimum(x, y)",
        ("(x < y) + 0.5 * (x == y)", "(x > y) + 0.5 * (x == y)"),
        "jnp.minimum({0}, {1})",
    ),
    Operation(
        "max",
        2,
        "same",
        "np.maximum(x, y)",
        ("(x > y) + 0.5 * (x == y)", "(x < y) + 0.5 * (x == y)"),
        "jnp.maximum({0}, {1})",
    ),
    # at zero the derivative from the right, as in JAX
    _unary("abs", "np.abs(x)", "1.0 if x >= 0 else -1.0", "jnp.abs({0})", "same"),
    _unary("sign", "np.sign(x)", "0", "jnp.sign({0})", "same"),
    _unary("floor", "np.floor(x)", "0"),
    _unary("ceil", "np.ceil(x)", "0"),
    _unary("trunc", "np.trunc(x)", "0"),
    _unary("round", "np.round(x)", "0"),  # half to even: Python's round, C's rint
    _unary("round_away", "special.round_away(x)", "0", "jax.lax.round({0})"),
    Operation(
        "copysign",
        2,
        "inexact",
        "np.copysign(x, y)",
        ("np.copysign(1.0, v) * (1.0 if x >= 0 else -1.0)", "0"),
        "jnp.copysign({0}, {1})",
    ),
    Operation("isnan", 1, "bool", "np.isnan(x)", ("",), "jnp.isnan({0})"),
    Operation("isinf", 1, "bool", "np.isinf(x)", ("",), "jnp.isinf({0})"),
    Operation("isfinite", 1, "bool", "np.isfinite(x)", ("",), "jnp.isfinite({0})"),
    Operation("signbit", 1, "bool", "np.signbit(x)", ("",), "jnp.signbit({0})"),
    # powers and roots
    _unary("sqrt", "np.sqrt(x)", "0.5 / v", safe=1.0),
    _unary("rsqrt", "1 / np.sqrt(x)", "-0.5 * v / x", "jax.lax.rsqrt({0})", safe=1.0),
    _unary("cbrt", "np.cbrt(x)", "1 / (3 * v * v)", safe=1.0),
    _unary("rcbrt", "1 / np.cbrt(x)", "-v / (3 * x)", "(1.0 / jnp.cbrt({0}))", safe=1.0),
    Operation("hypot", 2, "inexact", "np.hypot(x, y)", ("x / v", "y / v"), "jnp.hypot({0}, {1})", safe=((0, 1.0),)),
    # exponentials and logarithms
    _unary("exp", "np.exp(x)", "v", safe=0.0),
    _unary("exp2", "np.exp2(x)", "v * np.log(2.0)", safe=0.0),
    _unary("exp10", "10.0 ** x", "v * np.log(10.0)", "jnp.power(10.0, {0})", safe=0.0),
    _unary("expm1", "np.expm1(x)", "v + 1", safe=0.0),
    _unary("log", "np.log(x)", "1 / x", safe=1.0),
    _unary("log2", "np.log2(x)", "1 / (x * np.log(2.0))", safe=1.0),
    _unary("log10", "np.log10(x)", "1 / (x * np.log(10.0))", safe=1.0),
    _unary("log1p", "np.log1p(x)", "1 / (1 + x)", safe=0.0),
    # a float as fraction * 2 ** exponent
    _unary("fraction", "np.frexp(x)[0]", "np.exp2(-1.0 * np.frexp(x)[1])", "jnp.frexp({0})[0]"),
    Operation("exponent", 1, "int", "np.frexp(x)[1]", ("",), "jnp.frexp({0})[1]"),
    # trigonometry
    _unary("sin", "np.sin(x)", "np.cos(x)"),
    _unary("cos", "np.cos(x)", "-np.sin(x)"),
    _unary("tan", "np.tan(x)", "1 + v * v", safe=0.0),
    _unary("asin", "np.arcsin(x)", "1 / np.sqrt(1 - x * x)", "jnp.arcsin({0})", safe=0.0),
    _unary("acos", "np.arccos(x)", "-1 / np.sqrt(1 - x * x)", "jnp.arccos({0})", safe=0.0),
    _unary("atan", "np.arctan(x)", "1 / (1 + x * x)", "jnp.arctan({0})"),
    Operation(
        "atan2",
        2,
        "inexact",
        "np.arctan2(x, y)",
        ("y / (x * x + y * y)", "-x / (x * x + y * y)"),
        "jnp.arctan2({0}, {1})",
        safe=((1, 1.0),),
    ),
    _unary("sinh", "np.sinh(x)", "np.cosh(x)", safe=0.0),
    _unary("cosh", "np.cosh(x)", "np.sinh(x)", safe=0.0),
    _unary("tanh", "np.tanh(x)", "1 - v * v"),
    _unary("asinh", "np.arcsinh(x)", "1 / np.sqrt(x * x + 1)", "jnp.arcsinh({0})"),
    _unary("acosh", "np.arccosh(x)", "1 / np.sqrt(x * x - 1)", "jnp.arccosh({0})", safe=2.0),
    _unary("atanh", "np.arctanh(x)", "1 / (1 - x * x)", "jnp.arctanh({0})", safe=0.0),
    _unary("degrees", "np.degrees(x)", "180 / np.pi"),
    _unary("radians", "np.radians(x)", "np.pi / 180"),
    # special functions
    _unary("erf", "special.erf(x)", "2 / np.sqrt(np.pi) * np.exp(-x * x)", "jax.scipy.special.erf({0})"),
    _unary("erfc", "special.erfc(x)", "-2 / np.sqrt(np.pi) * np.exp(-x * x)", "jax.scipy.special.erfc({0})"),
    _unary("lgamma", "special.lgamma(x)", "special.digamma(x)", "jax.scipy.special.gammaln({0})", safe=1.0),
    _unary("gamma", "special.gamma(x)", "v * special.digamma(x)", "jax.scipy.special.gamma({0})", safe=1.0),
    # complex numbers
    Operation("real", 1, "real", "np.real(x)", ("1",), "jnp.real({0})"),
    Operation("imag", 1, "real", "np.imag(x)", ("",), "jnp.imag({0})"),
    Operation("conj", 1, "same", "np.conj(x)", ("1",), "jnp.conj({0})"),
    Operation("complex", 2, "complex", "x + 1j * y", ("1", "1j"), "jax.lax.complex({0}, {1})"),
    # the value as it is, without a derivative: what cancels in a softmax
    Operation("stop_gradient", 1, "same", "x", ("0",), "jax.lax.stop_gradient({0})"),
    Operation("bits", 1, "same", "special.bits(x)", ("",), ""),  # reinterpretation, typed by its result
    # where a slice of an axis begins and ends, by Python's rule (the last two: of one backwards); no equation has them
    *(Operation(name, 2, "int", f"special.{name}(x, y)", ("", "")) for name in SLICE_ENDS),
    Operation("slice_count", 1, "int", "max(x, 0)", ("",)),  # elements of a slice that ends before it begins: none
    # what two extents agree on, which an array expression takes element by element
    Operation("same_extent", 2, "int", "special.same_extent(x, y)", ("", "")),
    # in 64 bits at least, whatever is added to a number that has them
    Operation("wide_int", 1, "same", "x + np.int64(0)", ("1",), "({0} + jnp.int64(0))"),
    Operation("wide_float", 1, "same", "x + np.float64(0)", ("1",), "({0} + jnp.float64(0))"),
)

WIDENING = {"wide_int": INT64, "wide_float": FLOAT64}
OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}


def counts_bits(name: str, bits: ScalarType, count: ScalarType) -> bool:
    """Whether JAX gives the result of an operation the type of the ``bits`` that it counts, which may have no sign,
    where the source has a ``count`` of another type."""
    return OPERATIONS[name].result == "int" and bits != count and not (bits.kind == "int" == count.kind)
