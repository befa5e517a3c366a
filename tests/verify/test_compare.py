"""``verify`` accepts what is right, and each kind of mistake becomes a failing row."""

import pytest

from kraise.frontends import python
from kraise.ir import kernel as k
from kraise.ir.types import FLOAT32, INT32, StructType
from kraise.verify.cases import ArraySpec, Case, Form
from kraise.verify.compare import verify

MASKED = """
import math
from numba import cuda

@cuda.jit
def roots(x, y, n, scale):
    i = cuda.grid(1)
    if i < n:
        if x[i] > 0:
            y[i] = math.sqrt(x[i]) * scale
        else:
            y[i] = 0.0
"""
HEAD = """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def roots(x, y, n, scale):
    '''Uses fori_loop in words only.'''
    v = x[:n]
"""
RIGHT = HEAD + "    s = jnp.where(v > 0, v, 1.0)\n    return y.at[:n].set(jnp.where(v > 0, jnp.sqrt(s) * scale, 0.0))\n"
NAIVE = HEAD + "    return y.at[:n].set(jnp.where(v > 0, jnp.sqrt(v) * scale, 0.0))\n"
CASE = Case(
    "roots",
    {
        "x": ArraySpec(shape=(11,), values=(0.5, -1, 2, 0, 0.25, -3, 0.7, 0.9, 1, 4, -0.5)),
        "y": ArraySpec(shape=(13,)),
        "n": 11,
        "scale": 1.5,
    },
    form=Form(loops=0, contains=("sqrt",), absent=("arange",)),
)


@pytest.fixture(scope="module")
def module():
    ir, findings = python.read(MASKED, "k.py")
    assert not findings
    return ir


def test_the_right_module_passes_every_check(module):
    report = verify(module, RIGHT, "roots", CASE)
    assert report.ok, report.failures
    checks = {row.check for row in report.rows}
    assert {"values", "values (64 bits)", "jvp", "vjp", "second order", "jit", "vmap", "form"} <= checks
    assert "x: float32[11]" in report.arguments and report.launch


WRONG = {
    "a value": (RIGHT.replace("* scale", "* scale * 1.001"), "values", "y["),
    "one element too many": (RIGHT.replace("0.0))", "0.0)).at[n].set(9.0)"), "values", "y[11]"),
    "the dtype": (RIGHT.replace("0.0))", "0.0)).astype(jnp.float16)"), "values", "float16"),
    "the shape": (RIGHT.replace("0.0))", "0.0))[:n]"), "values", "shape"),
    "the number of arrays": (RIGHT.replace("return y", "return x, y"), "values", "2 arrays are returned"),
    "an exception": (RIGHT.replace("v = x[:n]", "v = x[:n].nope()"), "values", "nope"),
    "a syntax error": (RIGHT.replace("v = x[:n]", "v = = x"), "values", "SyntaxError"),
    "no such function": (RIGHT.replace("def roots", "def other"), "values", "roots"),
    "a gradient that is NaN": (NAIVE, "vjp", "not finite at x["),
    "a gradient cut off": (RIGHT.replace("v = x[:n]", "v = jax.lax.stop_gradient(x[:n])"), "jvp", "y["),
    "a loop": (
        RIGHT.replace("v = x[:n]", "v = jax.lax.fori_loop(0, 1, lambda _, a: a, x[:n])"),
        "form",
        "1 loops where at most 0",
    ),
    "not traceable": (RIGHT.replace("v = x[:n]", "v = x[:n] * float(scale)"), "values", ""),
    "host code on values": (RIGHT.replace('@partial(jax.jit, static_argnames="n")\n', "").replace(
        "v = x[:n]", "v = x[:n] * (1.0 if float(x[0]) > 0 else 2.0)"), "jit", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_a_failing_row(module, name):
    text, check, message = WRONG[name]
    report = verify(module, text, "roots", CASE)
    assert not report.ok
    assert any(row.check == check and message in row.message for row in report.failures), report.failures


def test_a_racing_source_fails():
    source = "from numba import cuda\n@cuda.jit\ndef f(x, y):\n    i = cuda.grid(1)\n    y[0] = x[i]\n"
    ir, _ = python.read(source, "k.py")
    case = Case("f", {"x": ArraySpec(shape=(6,)), "y": ArraySpec(shape=(1,))}, grid=(2,), block=(3,))
    report = verify(ir, "def f(x, y):\n    return y.at[0].set(x[5])\n", "f", case)
    assert any("race" in row.message for row in report.failures)
    assert any("order of threads" in row.message for row in report.failures)


def test_integers_must_be_equal_and_returned_scalars_count():
    source = """
def count(x, hist):
    total = 0
    for i in range(x.shape[0]):
        hist[x[i] % 4] += 1
        total += x[i]
    return total
"""
    ir, _ = python.read(source, "k.py", only=("count",))
    case = Case("count", {"x": ArraySpec("int32", (9,), 0, 50), "hist": ArraySpec("int32", (4,), fill=0)})
    text = "def count(x, hist):\n    return x.sum() + {0}, hist.at[x % 4].add(1)\n"
    assert verify(ir, text.format(0), "count", case).ok
    assert not verify(ir, text.format(1), "count", case).ok


def test_what_the_module_warns_of_is_noted(module):
    text = RIGHT.replace(
        "    v = x", "    import warnings\n    warnings.warn('soon an error', FutureWarning)\n    v = x"
    )
    report = verify(module, text, "roots", CASE, gradients=False)
    assert report.ok and any(row.status == "note" and "soon an error" in row.message for row in report.rows)


def test_complex_gradients():
    source = "def f(z, w):\n    for i in range(z.shape[0]):\n        w[i] = z[i] * z[i].conjugate() + z[i] ** 2\n"
    ir, _ = python.read(source, "k.py", only=("f",))
    case = Case("f", {"z": ArraySpec("complex64", (5,)), "w": ArraySpec("complex64", (5,))})
    right = "def f(z, w):\n    return w.at[:].set(z * z.conj() + z**2)\n"
    report = verify(ir, right, "f", case)
    assert report.ok, report.failures
    assert not verify(ir, right.replace("z.conj()", "z"), "f", case).ok


STRUCTS = k.Module(
    "b.cu",
    "cuda_c",
    (
        k.Function(
            "push",
            "plain",
            (
                k.Param("b", StructType("Body", (("x", FLOAT32), ("m", FLOAT32)), is_array=True)),
                k.Param("p", StructType("Box", (("dt", FLOAT32), ("n", INT32)))),
            ),
            (
                k.For(
                    "i",
                    k.Const(0, INT32),
                    k.Var("p.n", INT32),
                    k.Const(1, INT32),
                    (
                        k.Store(
                            "b.x",
                            (k.Var("i", INT32),),
                            k.Op(
                                "mul",
                                (k.Load("b.m", (k.Var("i", INT32),), FLOAT32), k.Var("p.dt", FLOAT32)),
                                FLOAT32,
                            ),
                        ),
                    ),
                ),
            ),
        ),
    ),
)
STRUCT_TEXT = """
from typing import NamedTuple
import jax

class Body(NamedTuple):
    x: jax.Array
    m: jax.Array

class Box(NamedTuple):
    dt: float
    n: int

def push(b, p):
    return b._replace(x=b.x.at[: p.n].set(b.m[: p.n] * p.dt))
"""


def test_structs():
    body = {"x": ArraySpec(shape=(6,)), "m": ArraySpec(shape=(6,))}
    case = Case("push", {"b": body, "p": {"dt": 0.5, "n": 4}})
    report = verify(STRUCTS, STRUCT_TEXT, "push", case)
    assert report.ok, report.failures
    assert {"b.x", "b.m"} <= {row.what for row in report.rows if row.check == "jvp"}
    assert not verify(STRUCTS, STRUCT_TEXT.replace("* p.dt", "* 2"), "push", case).ok


def test_a_static_float_is_left_out_of_the_gradient():
    source = "def f(x, y, c):\n    for i in range(x.shape[0]):\n        y[i] = x[i] * c\n"
    ir, _ = python.read(source, "k.py", only=("f",))
    case = Case("f", {"x": ArraySpec(shape=(5,)), "y": ArraySpec(shape=(5,)), "c": 0.5})
    text = "import jax\n\n\n@jax.jit\ndef g(x):\n    return x\n\n\ndef f(x, y, c):\n    return g(x * float(c))\n"
    report = verify(ir, text, "f", case)
    assert report.ok, report.failures
    assert any(row.what == "c" and row.status == "note" for row in report.rows)
