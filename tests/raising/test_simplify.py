"""Exact simplifications, and the ones that are not exact and therefore not made."""

import pytest

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT64, INT, INT32, UINT8, ScalarType
from kraise.raising.run import simplify
from tests.raising.build import const, i, j, op, read

x = read("x", i)
p, q = op("lt", x, 1.0), op("gt", read("m", i), 0.0)


def made(name, *args, type=None):
    nodes = tuple(const(a) if isinstance(a, bool | int | float) else a for a in args)
    kind = type or (BOOL if name in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not") else nodes[-1].type)
    return simplify.op(name, nodes, kind)


FLAG = eq.Cast(INT32, p)
MADE = [
    (made("ne", FLAG, const(0)), p),
    (made("eq", FLAG, const(0)), op("not", p)),
    (made("ne", made("select", q, FLAG, eq.Const(0, INT32)), eq.Const(0, INT32)), op("and", q, p)),
    (made("add", 2, 3), const(5)),
    (made("add", i, 0), i),
    (made("sub", i, i), const(0)),
    (made("sub", made("add", i, 3), made("add", i, 1)), const(2)),
    (made("add", made("add", i, 3), -1), op("add", i, 2)),
    (made("sub", made("add", i, 3), 3), i),
    (made("sub", made("add", i, j), i), j),
    (made("mul", i, 0), const(0)),
    (made("mul", 1, i), i),
    (made("tdiv", -7, 2), const(-3)),
    (made("floordiv", -7, 2), const(-4)),
    (made("tmod", -7, 2), const(-1)),
    (made("mod", -7, 2), const(1)),
    (made("lt", i, i), const(False)),
    (made("lt", made("sub", i, 1), i), const(True)),
    (made("ge", i, made("add", i, 1)), const(False)),
    (made("and", True, p), p),
    (made("and", p, False), const(False)),
    (made("or", p, True), const(True)),
    (made("and", p, p), p),
    (made("and", p, op("not", p)), const(False)),
    (made("or", op("lt", i, j), op("ge", i, j)), const(True)),
    (made("not", op("not", p)), p),
    (made("not", op("lt", i, j)), op("ge", i, j)),
    (made("not", op("eq", x, 1.0)), op("ne", x, 1.0)),
    (made("select", True, x, 1.0), x),
    (made("select", p, x, x), x),
    (made("select", p, made("select", p, x, 1.0), 2.0), op("select", p, x, 2.0)),
    (made("select", p, 2.0, made("select", p, x, 1.0)), op("select", p, 2.0, 1.0)),
    (made("select", op("not", p), x, 1.0), op("select", p, 1.0, x)),
    (made("select", p, True, q), op("or", p, q)),
    (made("select", p, q, False), op("and", p, q)),
    (made("mul", x, 1.0), x),
    (made("div", x, 1.0), x),
    (made("sub", x, 0.0), x),
    (simplify.cast(INT32, eq.Const(7, INT)), const(7)),
    (simplify.cast(INT32, i), i),
    (simplify.op("sub", (eq.Const(1, UINT8), eq.Const(2, UINT8)), UINT8), eq.Const(255, UINT8)),
    (simplify.op("add", (const(2**31 - 1), const(1)), INT32), const(-(2**31))),
    (simplify.op("shl", (const(1), const(31)), INT32), const(-(2**31))),
]


@pytest.mark.parametrize("case", range(len(MADE)))
def test_made(case):
    got, expected = MADE[case]
    assert got is expected


LEFT = [
    ("add", x, const(0.0), FLOAT64),
    ("mul", x, const(0.0), FLOAT64),
    ("sub", x, x, FLOAT64),
    ("eq", x, x, BOOL),
    ("floordiv", const(1), const(0), INT32),
    ("sub", x, const(-0.0), FLOAT64),  # -0.0 - -0.0 is 0.0
]


@pytest.mark.parametrize("case", range(len(LEFT)))
def test_left(case):
    name, a, b, type = LEFT[case]
    assert simplify.op(name, (a, b), type) is eq.Op(name, (a, b), type)


def test_negated_comparison_of_floats_stays():
    assert made("not", p) is op("not", p)


def test_casts_of_constants_wrap():
    assert simplify.cast(UINT8, eq.Const(300, INT)) is eq.Const(44, UINT8)
    assert simplify.cast(UINT8, eq.Const(-1, INT)) is eq.Const(255, UINT8)


F32 = ScalarType("float", 32)


def _f32(*values):
    return tuple(eq.Const(v, F32) for v in values)


def test_literals_of_32_bits_make_integers_and_conditions_of_32_bits():
    """In 64 bits, as Python computes what is emitted: 28.999999999999996, and 0.30000000000000004 > 0.3."""
    product, total = eq.Op("mul", _f32(0.29, 100.0), F32), eq.Op("add", _f32(0.1, 0.2), F32)
    assert simplify.cast(INT32, product) is eq.Const(29, INT32)
    assert simplify.op("eq", (total, *_f32(0.3)), BOOL) is simplify.TRUE
    assert simplify.op("gt", (total, *_f32(0.3)), BOOL) is simplify.FALSE


def test_literals_whose_width_does_not_matter_stay():
    product, wide = eq.Op("mul", _f32(0.5, 100.0), F32), eq.Op("mul", (const(0.29), const(100.0)), FLOAT64)
    assert simplify.cast(INT32, product) is eq.Cast(INT32, product)
    assert simplify.cast(INT32, wide) is eq.Cast(INT32, wide)
    assert simplify.op("gt", (product, *_f32(1.0)), BOOL) is eq.Op("gt", (product, *_f32(1.0)), BOOL)
