# ruff: noqa: E501, E731, E741 (equations are written on one line, as mathematics)
"""What stands around the statements: signature, statics, launch, checks, helpers, constants, structs, comments, injection."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dsl import (
    EMITTED,
    FLOAT,
    INT,
    add,
    arr,
    ax,
    build,
    c,
    ix,
    kern,
    load,
    mul,
    op,
    p,
    rd,
    red,
    sc,
    shape,
    sub,
    text_of,
    where,
    wr,
)
from test_basic import close, f32

from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as kir
from kraise.ir.types import BOOL, FLOAT32, FLOAT64, INT32, UINT32, ArrayType, StructType

i, j = ix("i"), ix("j")


def copy(name="copy", **options):
    return kern(name, [arr("x"), arr("y")], [wr("y", ax("i", shape("x")), i, rd("x", i))], [("y", 1)], **options)


def test_docstring_cannot_be_escaped_from():
    hostile = 'a """ b \\" c \\\n"""\nimport os\n\x07 \\N{BULLET} "'
    text = text_of(
        copy(doc=hostile, equations=("y = 'x\"",), notes=(hostile,)), comments=((1, "one\nimport os"),), doc=hostile
    )
    space = load(text)
    assert "os" not in space
    close(space["copy"](jnp.ones(3), jnp.zeros(3)), np.ones(3))


def test_file_name_cannot_be_escaped_from():
    from kraise.emit import emit_module

    text = emit_module(eq.Module('a/b"""\nimport os\n.py', "python", (copy(),)))
    assert "os" not in load(text)


def test_comments_are_carried_over():
    f = build(copy(), comments=((1, "copies x"),))
    assert "    # copies x\n    return" in EMITTED["copy"]
    assert f is not None


def test_parameters_that_python_reserves():
    body = [wr("in", ax("i", p("lambda")), i, mul(2.0, rd("in", i)))]
    f = build(kern("run", [arr("in"), sc("lambda")], body, [("in", 1)]))
    close(f(jnp.ones(3), 2), [2, 2, 1])
    assert "def run(in_, lambda_)" in EMITTED["run"]


def test_partial_as_a_parameter():
    f = build(kern("run", [arr("partial"), sc("n")], [wr("partial", ax("i", p("n")), i, 1.0)], [("partial", 1)]))
    close(f(jnp.zeros(3), 2), [1, 1, 0])


def test_launch():
    threads = mul(p("grid.x", INT32), p("block.x", INT32))
    given = p("grid.given", BOOL)
    hi = where(given, threads, shape("y"))
    f = build(
        kern(
            "square",
            [arr("y"), arr("x")],
            [wr("y", ax("i", hi), i, mul(rd("x", i), rd("x", i)))],
            [("y", 1)],
            launch="optional",
        )
    )
    x = f32(6)
    close(f(jnp.zeros(6), x), x * x)
    close(f(jnp.zeros(6), x, grid=2, block=2), (x * x).at[4:].set(0))


def test_launch_in_two_dimensions():
    h, w = mul(p("grid.y"), p("block.y")), mul(p("grid.x"), p("block.x"))
    f = build(
        kern("fill", [arr("y", 2)], [wr("y", (ax("i", h), ax("j", w)), (i, j), 1.0)], [("y", 1)], launch="required")
    )
    close(f(jnp.zeros((4, 4)), grid=(1, 2), block=(3, 1)), jnp.zeros((4, 4)).at[:2, :3].set(1))
    close(f(jnp.zeros((4, 4)), grid=1, block=(3, 1)), jnp.zeros((4, 4)).at[:1, :3].set(1))


def test_checks():
    check = (op("==", op("%", p("n"), 2), 0), "n must be even")
    f = build(kern("even", [arr("x"), sc("n")], [wr("x", ax("i", p("n")), i, 0.0)], [("x", 1)], checks=(check,)))
    close(f(jnp.ones(3), 2), [0, 0, 1])
    with pytest.raises(ValueError, match="n must be even"):
        f(jnp.ones(3), 3)


def test_helpers_and_constants():
    x = p("x", FLOAT)
    helper = eq.Helper(
        "relu", (x,), (where(op(">", x, 0.0), mul(x, eq.Const(0.5, FLOAT, "HALF")), 0.0),), "Half of x where positive."
    )
    value = eq.HelperCall("relu", (add(rd("x", i), rd("x", j)),), FLOAT)
    n = shape("x")
    kernel = kern(
        "apply",
        [arr("x"), arr("y", 2)],
        [wr("y", (ax("i", n), ax("j", n)), (i, j), value, covers=True)],
        [("y", 1)],
        helpers=(helper,),
    )
    f = build(kernel, constants=(kir.Constant("HALF", FLOAT, (0.5,)), kir.Constant("UNUSED", FLOAT, (0.5,))))
    x = f32(4)
    s = x[:, None] + x
    close(f(x, jnp.zeros((4, 4))), jnp.where(s > 0, s / 2, 0))
    assert "UNUSED" not in EMITTED["apply"]


def test_struct_members():
    from collections import namedtuple

    particle = StructType("P", (("vel", FLOAT32), ("pos", FLOAT32)), True)
    by_value = StructType("S", (("dt", FLOAT32),))
    body = [
        wr("p.pos", ax("i", shape("p.pos")), i, add(rd("p.pos", i), mul(p("s.dt", FLOAT32), rd("p.vel", i)))),
        wr("p.vel", ax("i", shape("p.vel")), i, mul(0.5, rd("p.vel", i))),
    ]
    f = build(kern("move", [kir.Param("p", particle), kir.Param("s", by_value)], body, [("p.vel", 1), ("p.pos", 1)]))
    P, S = namedtuple("P", "vel pos"), namedtuple("S", "dt")
    out = f(P(jnp.ones(3), jnp.zeros(3)), S(0.5))
    close(out.pos, [0.5] * 3)
    close(out.vel, [0.5] * 3)


def test_x64_is_turned_on_only_where_needed():
    wide = kern("wide", [arr("x", 1, FLOAT64)], [wr("x", ax("i", shape("x")), i, 0.0)], [("x", 1)])
    assert "jax_enable_x64" in text_of(wide)
    assert "jax_enable_x64" not in text_of(copy())


def test_unsigned_constants():
    state = rd("s", i, type=UINT32)
    step = op("add", op("mul", state, eq.Const(2891336453, UINT32)), eq.Const(1, UINT32))
    f = build(kern("lcg", [arr("s", 1, UINT32)], [wr("s", ax("i", shape("s")), i, step, covers=True)], [("s", 1)]))
    s = jnp.asarray([1, 2**31], jnp.uint32)
    assert (np.asarray(f(s)) == (np.asarray(s, np.uint64) * 2891336453 + 1) % 2**32).all()
    assert f(s).dtype == jnp.uint32


def test_truncating_division():
    x, y = rd("x", i, type=INT32), rd("y", i, type=INT32)
    body = [
        wr("q", ax("i", shape("x")), i, op("tdiv", x, y, type=INT32)),
        wr("r", ax("i", shape("x")), i, op("tmod", x, y, type=INT32)),
        wr("m", (ax("i", shape("x")), ax("j", shape("x"))), (i, j), op("tdiv", x, rd("y", j, type=INT32), type=INT32)),
    ]
    f = build(
        kern(
            "division",
            [arr("x", 1, INT32), arr("y", 1, INT32), arr("q", 1, INT32), arr("r", 1, INT32), arr("m", 2, INT32)],
            body,
            [("q", 1), ("r", 1), ("m", 1)],
        )
    )
    x, y = jnp.asarray([-7, 7, -6]), jnp.asarray([2, -2, 4])
    z = jnp.zeros(3, jnp.int32)
    q, r, m = f(x, y, z, z, jnp.zeros((3, 3), jnp.int32))
    assert q.tolist() == [-3, -3, -1] and r.tolist() == [-1, 1, -2]
    assert m.tolist() == [[int(a / b) for b in y.tolist()] for a in x.tolist()]


def test_float_into_integer_array_does_not_warn(recwarn):
    body = [wr("y", ax("i", p("n")), i, mul(1.5, rd("x", i)))]
    f = build(kern("narrow", [arr("x"), arr("y", 1, INT32), sc("n")], body, [("y", 1)]))
    assert f(jnp.ones(4), jnp.zeros(4, jnp.int32), 2).tolist() == [1, 1, 0, 0]
    assert not [w for w in recwarn if "scatter" in str(w.message)]


def test_shared_subexpressions_do_not_explode():
    value = rd("x", i)
    for _ in range(200):
        value = add(mul(value, value), value)
    text = text_of(kern("deep", [arr("x"), arr("y")], [wr("y", ax("i", shape("x")), i, value)], [("y", 1)]))
    assert len(text) < 60_000


def test_new_arrays():
    n = shape("x")
    element = FLOAT
    body = [
        eq.New(eq.Version("t", 0), element, (n,), c(0.0), "x"),
        wr("t", ax("i", n), i, mul(2.0, rd("x", i)), covers=True),
        eq.New(eq.Version("z", 0), element, (add(n, 2),), c(0.0), "x"),
        wr("z", ax("i", n), add(i, 1), rd("t", i, v=1)),
    ]
    f = build(kern("pad", [arr("x")], body, [("z", 1)]))
    x = f32(3)
    close(f(x), np.pad(2 * x, 1))
    assert EMITTED["pad"].count("jnp.zeros") == 1


def test_not_static_is_refused():
    hi = eq.Cast(INT, rd("x", 0))
    with pytest.raises(Refused):
        text_of(kern("bad", [arr("x")], [wr("x", ax("i", hi), i, 0.0)], [("x", 1)]))


def test_composes_with_jax():
    f = build(
        kern(
            "scale",
            [arr("x"), arr("y")],
            [wr("y", ax("i", shape("y")), i, mul(rd("x", i), rd("x", i)), covers=True)],
            [("y", 1)],
        )
    )
    x = f32(3, 4)
    close(jax.vmap(f)(x, x), x * x)
    close(jax.jvp(f, (x[0], x[0]), (x[0], x[0]))[1], 2 * x[0] ** 2)


_ = (ArrayType, INT, red, sub)


def test_parameter_that_hides_what_the_text_needs():
    body = [wr("x", ax("i", sub(p("max"), 3)), i, 0.0), wr("y", (), c(0), 1.0)]
    with pytest.raises(Refused):
        text_of(kern("bad", [arr("x"), arr("y"), sc("max")], body, [("x", 1), ("y", 1)]))
    f = build(kern("fine", [arr("x"), sc("max")], [wr("x", ax("i", p("max")), i, 0.0)], [("x", 1)]))
    close(f(jnp.ones(3), 2), [0, 0, 1])


def test_dead_lanes_of_a_masked_reduction_have_no_gradient():
    n = shape("A", 0)
    inverse = op("/", 1.0, rd("A", i, j))
    safe = where(op("!=", i, j), inverse, 0.0)
    value = red("add", ax("j", n), mul(safe, rd("x", j)), op("!=", i, j))
    f = build(
        kern("offdiag", [arr("A", 2), arr("x"), arr("y")], [wr("y", ax("i", n), i, value, covers=True)], [("y", 1)])
    )
    A, x = jnp.asarray(np.random.default_rng(1).uniform(1, 2, (4, 4)), jnp.float32), f32(4)
    B = np.where(np.eye(4), 0, 1 / np.asarray(A))
    close(f(A, x, jnp.zeros(4)), B @ np.asarray(x))
    g = jax.grad(lambda a: f(a, x, jnp.zeros(4)).sum())(A)
    assert np.isfinite(np.asarray(g)).all() and (np.diagonal(g) == 0).all()
