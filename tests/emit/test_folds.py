# ruff: noqa: E501, E731, E741 (equations are written on one line, as mathematics)
"""Loops that stay: folds over arrays and over carried scalars."""

import jax
import jax.numpy as jnp
import numpy as np
from dsl import (
    BOOL,
    EMITTED,
    FLOAT,
    INT,
    INT32,
    NUMBER,
    add,
    arr,
    ax,
    build,
    c,
    ix,
    kern,
    mul,
    op,
    p,
    rd,
    red,
    sc,
    shape,
    sub,
    where,
    wr,
)
from test_basic import close, f32, finite_grad

from kraise.ir import equations as eq

i, j, k, t = ix("i"), ix("j"), ix("k"), ix("t")


def test_floyd_warshall():
    n = shape("D")
    E, X = eq.Version("D", 10), eq.Version("D", 11)
    value = op("min", rd(E, i, j), add(rd(E, i, k), rd(E, k, j)))
    body = wr("D", (ax("i", n), ax("j", n)), (i, j), value, before=10, after=11, covers=True)
    fold = eq.Fold("f1", ax("k", n), (), (eq.ArrayCarry(eq.Version("D", 0), E, X, eq.Version("D", 1)),), (body,))
    f = build(kern("floyd", [arr("D", 2)], [fold], [("D", 1)]))
    D = np.asarray(abs(f32(5, 5)))
    want = D.copy()
    for q in range(5):
        want = np.minimum(want, want[:, q : q + 1] + want[q : q + 1])
    close(f(D), want)
    finite_grad(f, jnp.asarray(D))


def test_time_loop_of_two_arrays():
    n = shape("u")
    U, V = (lambda v: eq.Version("u", v)), (lambda v: eq.Version("v", v))
    inner = ax("i", sub(n, 1), 1)
    first = wr(
        "v", inner, i, add(rd(U(10), i), mul(0.1, add(rd(U(10), sub(i, 1)), rd(U(10), add(i, 1))))), before=10, after=11
    )
    second = wr("u", inner, i, rd(V(11), i), before=10, after=11)
    carries = (eq.ArrayCarry(U(0), U(10), U(11), U(1)), eq.ArrayCarry(V(0), V(10), V(11), V(1)))
    fold = eq.Fold("f1", ax("t", p("steps")), (), carries, (first, second))
    f = build(kern("time", [arr("u"), arr("v"), sc("steps")], [fold], [("u", 1), ("v", 1)]))
    u, v = f32(6), f32(6)
    a, b = np.array(u), np.array(v)
    for _ in range(3):
        b[1:-1] = a[1:-1] + 0.1 * (a[:-2] + a[2:])
        a[1:-1] = b[1:-1]
    got = f(u, v, 3)
    close(got[0], a)
    close(got[1], b)
    finite_grad(f, u, v, 3)


def escape():
    axes = (ax("i", shape("steps", 0)), ax("j", shape("steps", 1)))
    x, y, n = (eq.CarryIn("f1", s, axes, INT if s == "n" else NUMBER) for s in "xyn")
    live = op("<=", add(mul(x, x), mul(y, y)), 4.0)
    scalars = (
        eq.ScalarCarry("x", axes, c(0.0), where(live, add(sub(mul(x, x), mul(y, y)), rd("cx", j)), x), FLOAT),
        eq.ScalarCarry("y", axes, c(0.0), where(live, add(mul(2.0, x, y), rd("cy", i)), y), FLOAT),
        eq.ScalarCarry("n", axes, c(0), add(n, where(live, c(1), c(0))), INT),
    )
    fold = eq.Fold("f1", ax("it", p("max_iter")), scalars, (), ())
    out = wr("steps", axes, (i, j), eq.FoldResult("f1", "n", axes, INT), covers=True, line=14)
    return kern(
        "escape_time",
        [arr("cx"), arr("cy"), arr("steps", 2), sc("max_iter")],
        [fold, out],
        [("steps", 1)],
        [(live, "live")],
    )


def test_escape_time():
    f = build(escape())
    cx, cy = jnp.linspace(-2, 1, 5), jnp.linspace(-1, 1, 4)
    got = f(cx, cy, jnp.zeros((4, 5), jnp.int32), 20)
    for a in range(4):
        for b in range(5):
            x = y = 0.0
            n = 0
            while n < 20 and x * x + y * y <= 4:
                x, y, n = x * x - y * y + float(cx[b]), 2 * x * y + float(cy[a]), n + 1
            assert got[a, b] == n


def test_lu():
    n = shape("A")
    A = lambda v: eq.Version("A", v)
    I, J = ax("i", n), ax("j", n)
    ratio = op("/", rd(A(10), i, k), rd(A(10), k, k))
    first = wr("A", (I,), (i, k), ratio, before=10, after=11, where=op(">", i, k))
    update = sub(rd(A(11), i, j), mul(rd(A(11), i, k), rd(A(11), k, j)))
    second = wr(
        "A", (I, J), (i, j), update, before=11, after=12, where=op("and", op(">", i, k), op(">", j, k)), covers=False
    )
    fold = eq.Fold("f1", ax("k", n), (), (eq.ArrayCarry(A(0), A(10), A(12), A(1)),), (first, second))
    f = build(kern("lu", [arr("A", 2)], [fold], [("A", 1)]))
    M = np.asarray(f32(5, 5)) + 4 * np.eye(5)
    W = M.copy()
    for q in range(5):
        W[q + 1 :, q] /= W[q, q]
        W[q + 1 :, q + 1 :] -= np.outer(W[q + 1 :, q], W[q, q + 1 :])
    close(f(jnp.asarray(M)), W, 1e-4)
    finite_grad(f, jnp.asarray(M, jnp.float32))


def test_reverse_and_step():
    n = shape("x")
    A = lambda v: eq.Version("y", v)
    out = []
    for name, axis, reverse in (
        ("back", ax("k", sub(n, 1)), True),
        ("step", ax("k", sub(n, 1), 1, 3), False),
        ("both", ax("k", sub(n, 1), 1, 3), True),
    ):
        w = wr("y", (), (k,), add(mul(0.5, rd(A(10), add(k, 1))), rd("x", k)), before=10, after=11)
        fold = eq.Fold("f1", axis, (), (eq.ArrayCarry(A(0), A(10), A(11), A(1)),), (w,), reverse)
        f = build(kern(name, [arr("x"), arr("y")], [fold], [("y", 1)]))
        x, y = f32(9), f32(9)
        want = np.array(y)
        rounds = list(range(0 if name == "back" else 1, 8, 1 if name == "back" else 3))
        for q in reversed(rounds) if reverse else rounds:
            want[q] = 0.5 * want[q + 1] + x[q]
        close(f(x, y), want)
        out.append(f)


def test_while():
    I = ax("i", shape("x"))
    x, n = eq.CarryIn("f1", "v", (I,), NUMBER), eq.CarryIn("f1", "n", (), INT)
    scalars = (
        eq.ScalarCarry("v", (I,), rd("x", i), mul(0.5, x), NUMBER),
        eq.ScalarCarry("n", (), c(0), add(n, 1), INT),
    )
    condition = op(">", red("max", I, op("abs", x)), 0.1)
    fold = eq.Fold("f1", None, scalars, (), (), condition=condition)
    body = [fold, wr("y", I, i, eq.FoldResult("f1", "v", (I,), NUMBER), covers=True)]
    f = build(kern("halve", [arr("x"), arr("y")], body, [("y", 1), eq.FoldResult("f1", "n", (), INT)]))
    x = f32(5)
    y, n = f(x, jnp.zeros(5))
    close(y, x * 0.5 ** int(n))
    finite_grad(lambda a, b: f(a, b)[0], x, jnp.zeros(5))


def test_bounded_while_freezes():
    I = ax("i", shape("x"))
    x = eq.CarryIn("f1", "v", (I,), NUMBER)
    condition = op(">", red("max", I, op("abs", x)), 0.1)
    fold = eq.Fold(
        "f1", ax("t", 10), (eq.ScalarCarry("v", (I,), rd("x", i), mul(0.5, x), NUMBER),), (), (), condition=condition
    )
    body = [fold, wr("y", I, i, eq.FoldResult("f1", "v", (I,), NUMBER), covers=True)]
    f = build(kern("bounded", [arr("x"), arr("y")], body, [("y", 1)]))
    x = f32(5)
    want = np.asarray(x)
    while abs(want).max() > 0.1:
        want = want / 2
    close(f(x, jnp.zeros(5)), want)


def test_unrolled():
    I = ax("i", shape("x"))
    v = eq.CarryIn("f1", "v", (I,), NUMBER)
    update = add(mul(0.5, v), rd("w", t))
    fold = eq.Fold("f1", ax("t", 3), (eq.ScalarCarry("v", (I,), rd("x", i), update, NUMBER),), (), (), unroll=True)
    body = [fold, wr("y", I, i, eq.FoldResult("f1", "v", (I,), NUMBER), covers=True)]
    f = build(kern("unrolled", [arr("x"), arr("w"), arr("y")], body, [("y", 1)]))
    x, w = f32(5), f32(3)
    want = x
    for q in range(3):
        want = 0.5 * want + w[q]
    close(f(x, w, jnp.zeros(5)), want)


def test_nested_folds_hoist_what_is_invariant():
    n = shape("x")
    I = ax("i", n)
    A = lambda v: eq.Version("y", v)
    scale = op("exp", add(rd("x", i), 1.0))
    w = wr("y", (I,), (i,), add(mul(rd(A(20), i), scale), mul(t, k)), before=20, after=21, covers=True)
    inner = eq.Fold("g", ax("k", 2), (), (eq.ArrayCarry(A(10), A(20), A(21), A(11)),), (w,))
    outer = eq.Fold("f1", ax("t", 3), (), (eq.ArrayCarry(A(0), A(10), A(11), A(1)),), (inner,))
    f = build(kern("nest", [arr("x"), arr("y")], [outer], [("y", 1)], [(scale, "scale")]))
    x, y = f32(4), f32(4)
    want = np.array(y)
    for a in range(3):
        for b in range(2):
            want = want * np.exp(np.asarray(x) + 1) + a * b
    close(f(x, y), want, 1e-3)
    assert EMITTED["nest"].index("scale = ") < EMITTED["nest"].index("def step")


def test_old_version_stays_readable():
    n = shape("y")
    I = ax("i", n)
    body = [
        wr("y", I, i, mul(2.0, rd("y", i)), covers=True),
        wr("z", I, i, add(rd("y", i, v=0), rd("y", i, v=1))),
    ]
    f = build(kern("versions", [arr("y"), arr("z")], body, [("y", 1), ("z", 1)]))
    y = f32(4)
    a, b = f(y, jnp.zeros(4))
    close(a, 2 * y)
    close(b, 3 * y)
    jax.jit(f)(y, y)


_ = (BOOL, INT32)


def test_fold_that_reads_the_array_as_it_was_before():
    n = shape("y")
    A = lambda v: eq.Version("y", v)
    w = wr("y", ax("i", n), i, add(rd(A(10), i), rd(A(0), i)), before=10, after=11, covers=True)
    fold = eq.Fold("f1", ax("t", 3), (), (eq.ArrayCarry(A(0), A(10), A(11), A(1)),), (w,))
    f = build(kern("before", [arr("y")], [fold], [("y", 1)]))
    y = f32(4)
    close(f(y), 4 * y)


def test_view_in_a_fold():
    m = p("m")
    A = lambda v: eq.Version("u", v)
    first = wr("u", (ax("i", m), ax("j", 3)), (i, j), mul(2.0, rd("u", i, j, view=(m, 3))), view=(m, 3))
    axes = (ax("i", sub(m, 1), 1), ax("j", 3))
    w = wr(
        "u",
        axes,
        (i, j),
        add(rd(A(10), sub(i, 1), j, view=(m, 3)), rd(A(10), i, j, view=(m, 3))),
        before=10,
        after=11,
        view=(m, 3),
    )
    fold = eq.Fold("f1", ax("t", 2), (), (eq.ArrayCarry(A(1), A(10), A(11), A(2)),), (w,))
    f = build(kern("views", [arr("u"), sc("m")], [first, fold], [("u", 2)]))
    u = f32(14)
    want = np.array(u)
    U = want[:12].reshape(4, 3)
    U *= 2
    for _ in range(2):
        U[1:-1] = U[:-2] + U[1:-1]
    close(f(u, 4), want)


def held_cells():
    """``y[k] ^= t`` and ``x[k] += 0.5 * t``, both held in a register over the rounds."""
    at = (ax("k", shape("y")),)
    y, x = eq.CarryIn("f1", "$y", at, NUMBER), eq.CarryIn("f1", "$x", at, NUMBER)
    scalars = (
        eq.ScalarCarry("$y", at, rd("y", k), op("xor", y, t, type=NUMBER), NUMBER),
        eq.ScalarCarry("$x", at, rd("x", k), add(x, mul(0.5, t)), NUMBER),
    )
    fold = eq.Fold("f1", ax("t", p("n")), scalars, (), ())
    stores = [wr(a, at, k, eq.FoldResult("f1", f"${a}", at, NUMBER), covers=True) for a in "yx"]
    return build(kern("held", [arr("y"), arr("x"), sc("n")], [fold, *stores], [("y", 1), ("x", 1)]))


def test_every_carried_value_keeps_its_own_dtype():
    y, x = np.asarray([2**24 + 1, 7], np.int32), np.asarray([0.5, 1.5], np.float32)
    a, b = held_cells()(y, x, 3)
    assert a.dtype == np.int32 and b.dtype == np.float32
    assert a.tolist() == [(2**24 + 1) ^ 1 ^ 2, 7 ^ 1 ^ 2]
    close(b, x + 1.5)


def test_a_choice_by_sizes_reads_only_what_it_chooses():
    n = shape("x")
    last = op("select", op("<", 0, n), add(rd("x", sub(n, 1)), 1.0), 0.5, type=FLOAT)
    f = build(kern("last", [arr("x"), arr("y")], [wr("y", (), c(0), last)], [("y", 1)]))
    y = np.zeros(1, np.float32)
    assert f(np.zeros(0, np.float32), y)[0] == 0.5
    assert f(np.asarray([1.0, 2.0], np.float32), y)[0] == 3.0
