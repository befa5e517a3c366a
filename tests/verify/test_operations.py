"""Every row of the operations table: its reference against its partials, its jnp spelling against its reference."""

import cmath

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise.ir.operations import OPERATIONS, SLICE_ENDS
from kraise.verify.duals import Dual, Ties, dual_operation, partials_of
from kraise.verify.errors import InterpreterError
from kraise.verify.scalars import value_operation

# where a function is defined and smooth: points for each operand; None: integers
POINTS = {
    "acosh": [(1.5,), (4.0,)],
    "asin": [(-0.7,), (0.3,)],
    "acos": [(-0.7,), (0.3,)],
    "atanh": [(-0.7,), (0.3,)],
    "pow": [(1.7, 2.3), (0.4, -1.2), (2.5, 3.0)],
    "lgamma": [(0.3,), (2.7,), (11.5,), (-1.3,)],
    "gamma": [(0.3,), (2.7,), (5.5,), (-1.3,)],
    "fma": [(1.3, -0.4, 2.2)],
    "log1p": [(-0.4,), (2.1,)],
}
POSITIVE = {"log", "log2", "log10", "sqrt", "rsqrt", "cbrt", "rcbrt"}
INTEGERS = {"and_", "or_", "xor", "shl", "shr", "tdiv", "tmod", "invert", "popcount", "clz", "bit_length"}
COMPLEX = {"real", "imag", "conj", "complex"}
ANALYTIC = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "exp": cmath.exp, "log": cmath.log, "sqrt": cmath.sqrt,
    "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh, "asin": cmath.asin, "acos": cmath.acos,
    "atan": cmath.atan, "asinh": cmath.asinh, "acosh": cmath.acosh, "atanh": cmath.atanh, "log10": cmath.log10,
    "neg": lambda x: -x, "exp2": lambda x: 2**x, "exp10": lambda x: 10**x,
    "rsqrt": lambda x: x**-0.5, "cbrt": lambda x: x ** (1 / 3), "rcbrt": lambda x: x ** (-1 / 3),
    "degrees": lambda x: x * 180 / cmath.pi, "radians": lambda x: x * cmath.pi / 180,
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y, "fma": lambda x, y, z: x * y + z,
}  # fmt: skip


def points(name, arity):
    if name in POINTS:
        return POINTS[name]
    if name in POSITIVE:
        return [(0.3,), (2.7,)]
    return [(0.7, -1.9, 0.4)[:arity], (-2.3, 0.6, 1.4)[:arity], (5.2, 2.1, -0.3)[:arity]]


DIFFERENTIABLE = [
    n for n, row in OPERATIONS.items() if any(row.partials) and n not in COMPLEX | INTEGERS and not row.lazy
]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_partials_agree_with_central_differences(name):
    row = OPERATIONS[name]
    value, operate = value_operation(name), dual_operation(name, Ties())
    for at in points(name, row.arity):
        for n in range(row.arity):
            h = 1e-6
            above, below = list(at), list(at)
            above[n], below[n] = np.float64(at[n] + h), np.float64(at[n] - h)
            # what is stopped has no derivative, whatever its value does
            expected = 0.0 if name == "stop_gradient" else (value(*above) - value(*below)) / (2 * h)
            operands = [np.float64(x) for x in at]
            operands[n] = Dual(operands[n], np.array([1.0, -2.0]))
            result = operate(*operands)
            got = result.tangents if type(result) is Dual else np.zeros(2)
            np.testing.assert_allclose(got, [expected, -2 * expected], rtol=2e-7, atol=1e-8, err_msg=f"{name}{at}")


@pytest.mark.parametrize("name", ANALYTIC)
def test_partials_agree_with_the_complex_step(name):
    compared = 0
    for at in points(name, OPERATIONS[name].arity):
        try:
            v = value_operation(name)(*map(np.float64, at))
            for n, partial in enumerate(partials_of(name)):
                stepped = [complex(x, 1e-30 if k == n else 0.0) for k, x in enumerate(at)]
                expected = ANALYTIC[name](*stepped).imag / 1e-30
                got = partial(*map(np.float64, (*at, 0.0, 0.0)[:3]), v)
                np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-300, err_msg=f"{name}{at}")
                compared += 1
        except ValueError:  # outside the function's domain
            continue
    assert compared


def spelled(name):
    """The jnp spelling of an operation as a function of x, y and z."""
    row = OPERATIONS[name]
    template = row.jnp or (f"({{0}} {row.infix} {{1}})" if row.infix else f"({row.prefix}{{0}})")
    return eval(f"lambda x, y, z: {template.format('x', 'y', 'z')}", {"jnp": jnp, "jax": jax})


@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n != "floordiv"])
def test_partials_are_those_that_jax_takes(name):
    """Also where they are a convention: at zero, and at ties."""
    row = OPERATIONS[name]
    at_zero = {"abs": [(0.0,)], "sign": [(0.0,)], "min": [(1.0, 1.0)], "max": [(1.0, 1.0)]}
    with jax.enable_x64(True):
        for at in points(name, row.arity) + at_zero.get(name, []):
            operands = [np.float64(x) for x in at]
            padded = [jnp.asarray(x) for x in (*operands, 0.0, 0.0)[:3]]
            expected = jax.grad(spelled(name), argnums=tuple(range(row.arity)))(*padded)
            for n in range(row.arity):
                moved = [Dual(x, np.array([1.0])) if k == n else x for k, x in enumerate(operands)]
                result = dual_operation(name, Ties())(*moved)
                got = result.tangents[0] if type(result) is Dual else 0.0
                np.testing.assert_allclose(got, expected[n], rtol=1e-10, atol=1e-12, err_msg=f"{name}{at} by {n}")


# integer or boolean operands of the rows without a derivative
INTEGER_POINTS = {
    1: [(7,), (-8,), (0,)],
    2: [(7, 2), (-7, 2), (-8, 3), (1, 5)],
}


SLICES = (*SLICE_ENDS, "slice_count", "same_extent")  # no equation has them: they are not spelled
APART = ("bits", "conj", "real", "imag", *SLICES)


@pytest.mark.parametrize("way, names", [(1, SLICE_ENDS[:2]), (-1, SLICE_ENDS[2:])])
def test_ends_of_slices_are_python_s(way, names):
    ends = [value_operation(name) for name in names]
    for n in range(5):
        for a in range(-7, 8):
            for b in range(-7, 8):
                found = np.arange(n)[a:b:way]
                rounds = range(ends[0](a, n), ends[1](b, n), way)
                assert list(rounds) == found.tolist() and value_operation("slice_count")(len(rounds)) == len(found)
    with pytest.raises(InterpreterError, match="do not fit"):
        value_operation("same_extent")(3, 4)


@pytest.mark.parametrize("name", [n for n in OPERATIONS if n not in APART])
def test_jnp_spelling_means_the_reference(name):
    row = OPERATIONS[name]
    jit = jax.jit(spelled(name))
    with jax.enable_x64(True):
        if name in ("and", "or", "not", "select"):
            cases = [(a, b, 2.0) for a in (True, False) for b in (True, False)]
        elif name in INTEGERS:
            cases = INTEGER_POINTS[row.arity]
            if name == "bit_length":  # of numbers that are not negative
                cases = [c for c in cases if c[0] >= 0]
        else:
            cases = points(name, row.arity)
        for case in cases:
            kind = np.int32 if name in INTEGERS else (lambda v: v if isinstance(v, bool) else np.float64(v))
            operands = [kind(v) for v in case][: row.arity]
            if name in ("and", "or", "not", "select"):
                reference = eval(row.reference, {}, dict(zip("xyz", operands, strict=False)))
            else:
                with np.errstate(all="ignore"):
                    reference = value_operation(name)(*operands)
            padded = [jnp.asarray(v) for v in (*operands, 0.0, 0.0)[:3]]
            np.testing.assert_allclose(jit(*padded), reference, rtol=1e-12, err_msg=f"{name}{case}")


@pytest.mark.parametrize("name", ["real", "imag", "conj", "abs", "mul", "div", "exp", "sqrt", "pow"])
def test_complex_tangents(name):
    z, w = np.complex128(0.6 - 1.1j), np.complex128(-0.3 + 0.8j)
    t = np.complex128(0.7 + 0.2j)
    arity = OPERATIONS[name].arity
    value, operate = value_operation(name), dual_operation(name, Ties())
    rest = [w] * (arity - 1)
    expected = (value(z + 1e-6 * t, *rest) - value(z - 1e-6 * t, *rest)) / 2e-6
    np.testing.assert_allclose(operate(Dual(z, np.array([t])), *rest).tangents, [expected], rtol=1e-8)


def test_pow_and_ties_at_points_that_hurt():
    power = dual_operation("pow", Ties())
    one = np.array([1.0])
    flat = power(Dual(np.float64(0.0), one), 0)
    assert type(flat) is not Dual and flat == 1.0  # d/dx x**0 is zero, also at 0
    assert type(power(Dual(np.float64(0.0), one), 2)) is not Dual
    assert power(Dual(np.float64(0.0), one), 1).tangents == 1.0
    assert power(Dual(np.float64(-2.0), one), 3).tangents == 12.0
    assert type(power(0.0, Dual(np.float64(2.0), one))) is not Dual
    ties = Ties()
    assert dual_operation("max", ties)(Dual(np.float64(1.0), one), 1.0).tangents == 0.5  # JAX's convention
    assert ties.count == 1


def test_a_partial_is_not_paid_for_a_zero_tangent():
    root = dual_operation("sqrt", Ties())(Dual(np.float64(0.0), np.array([0.0, 1.0])))
    np.testing.assert_array_equal(root.tangents, [0.0, np.inf])
