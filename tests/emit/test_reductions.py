# ruff: noqa: E501, E731, E741 (equations are written on one line, as mathematics)
"""Reductions, contractions, scans, argument reductions: form and values."""

import jax.numpy as jnp
import numpy as np
import pytest
from dsl import EMITTED, FLOAT, INT, INT32, add, arr, ax, build, c, ix, kern, mul, op, p, rd, red, sc, shape, sub, wr
from test_basic import R, close, f32, finite_grad

from kraise import pipeline
from kraise.ir import equations as eq
from kraise.ir.types import FLOAT32
from tests.checks import agrees

i, j, k = ix("i"), ix("j"), ix("k")


def matmul_parts():
    M, K, N = shape("A", 0), shape("A", 1), shape("B", 1)
    axes = (ax("i", M), ax("j", N))
    total = red("add", ax("k", K), mul(rd("A", i, k), rd("B", k, j)))
    return axes, total


def test_matmul():
    axes, total = matmul_parts()
    f = build(
        kern("matmul", [arr("A", 2), arr("B", 2), arr("C", 2)], [wr("C", axes, (i, j), total, covers=True)], [("C", 1)])
    )
    A, B = f32(3, 4), f32(4, 5)
    close(f(A, B, jnp.zeros((3, 5))), A @ B)
    assert "(1 * A) @ B" in EMITTED["matmul"]  # of booleans, too, it counts
    finite_grad(f, A, B, jnp.zeros((3, 5)))


def test_gemm():
    axes, _ = matmul_parts()
    alpha, beta = p("alpha", FLOAT), p("beta", FLOAT)
    total = red("add", ax("k", shape("A", 1)), mul(alpha, rd("A", i, k), rd("B", k, j)))
    value = add(mul(beta, rd("C", i, j)), total)
    f = build(
        kern(
            "gemm",
            [arr("A", 2), arr("B", 2), arr("C", 2), sc("alpha", FLOAT), sc("beta", FLOAT)],
            [wr("C", axes, (i, j), value, covers=True)],
            [("C", 1)],
        )
    )
    A, B, C = f32(3, 4), f32(4, 5), f32(3, 5)
    close(f(A, B, C, 2.0, 0.5), 2 * A @ B + 0.5 * C)
    assert "alpha * ((1.0 * A) @ B[:cols])" in EMITTED["gemm"]


def test_flat_matmul():
    M, N, K = p("M"), p("N"), p("K")
    total = red("add", ax("k", K), mul(rd("A", i, k, view=(M, K)), rd("B", k, j, view=(K, N))))
    body = [wr("C", (ax("i", M), ax("j", N)), (i, j), total, view=(M, N))]
    f = build(kern("flat", [arr("A"), arr("B"), arr("C"), sc("M"), sc("N"), sc("K")], body, [("C", 1)]))
    A, B, C = f32(12), f32(20), f32(17)
    close(f(A, B, C, 3, 5, 4), jnp.concatenate([(A.reshape(3, 4) @ B.reshape(4, 5)).ravel(), C[15:]]))


def test_contractions():
    n, m = shape("A", 0), shape("A", 1)
    I, J, K = ax("i", n), ax("j", n), ax("k", m)
    body = [
        wr("y", I, i, red("add", K, mul(rd("A", i, k), rd("x", k))), covers=True),
        wr("v", K, k, red("add", I, mul(rd("A", i, k), rd("t", i))), covers=True),
        wr("G", (I, J), (i, j), red("add", K, mul(rd("A", i, k), rd("A", j, k))), covers=True),
        wr("H", (I, J), (i, j), red("add", K, mul(rd("w", k), rd("A", i, k), rd("A", j, k))), covers=True),
        wr("s", (), (0,), red("add", K, mul(rd("x", k), rd("w", k)))),
        wr("q", I, i, red("add", K, mul(rd("A", i, k), rd("A", i, k))), covers=True),
    ]
    names = "A:2 x t w y v G:2 H:2 s q"
    params = [arr(*(lambda a: (a[0], int(a[1]) if len(a) > 1 else 1))(t.split(":"))) for t in names.split()]
    f = build(kern("contract", params, body, [("y", 1), ("v", 1), ("G", 1), ("H", 1), ("s", 1), ("q", 1)]))
    A, x, w, t = f32(3, 4), f32(4), f32(4), f32(3)
    z = jnp.zeros
    y, v, G, H, s, q = f(A, x, t, w, z(3), z(4), z((3, 3)), z((3, 3)), z(1), z(3))
    close(y, A @ x)
    close(v, t @ A)
    close(G, A @ A.T)
    close(H, (A * w) @ A.T)
    close(s[0], x @ w)
    close(q, (A * A).sum(1))


def test_pairwise_distance():
    n, d = shape("X", 0), shape("X", 1)
    diff = sub(rd("X", i, k), rd("X", j, k))
    value = op("sqrt", red("add", ax("k", d), mul(diff, diff)))
    f = build(
        kern(
            "pairwise",
            [arr("X", 2), arr("D", 2)],
            [wr("D", (ax("i", n), ax("j", n)), (i, j), value, covers=True)],
            [("D", 1)],
        )
    )
    X = f32(4, 3)
    close(f(X, jnp.zeros((4, 4))), np.sqrt(((np.asarray(X)[:, None] - np.asarray(X)[None]) ** 2).sum(-1)))


def test_softmax_and_layer_norm():
    n, m = shape("x", 0), shape("x", 1)
    I, J, K = ax("i", n), ax("j", m), ax("k", m)
    top = red("max", K, rd("x", i, k))
    total = red("add", K, op("exp", sub(rd("x", i, k), top)))
    value = op("/", op("exp", sub(rd("x", i, j), top)), total)
    f = build(
        kern(
            "softmax",
            [arr("x", 2), arr("y", 2)],
            [wr("y", (I, J), (i, j), value, covers=True)],
            [("y", 1)],
            [(top, "top"), (total, "total")],
        )
    )
    x = f32(3, 5)
    want = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    close(f(x, jnp.zeros((3, 5))), want)
    finite_grad(f, x, jnp.zeros((3, 5)))
    mean = op("/", red("add", K, rd("x", i, k)), m)
    dk = sub(rd("x", i, k), mean)
    var = op("/", red("add", K, mul(dk, dk)), m)
    value = op("/", sub(rd("x", i, j), mean), op("sqrt", add(var, 1e-5)))
    f = build(
        kern(
            "norm",
            [arr("x", 2), arr("y", 2)],
            [wr("y", (I, J), (i, j), value, covers=True)],
            [("y", 1)],
            [(mean, "mean"), (var, "var")],
        )
    )
    X = np.asarray(x)
    close(f(x, jnp.zeros((3, 5))), (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5), 1e-4)


def test_argmin():
    n, m = shape("D", 0), shape("D", 1)
    body = [
        wr("a", ax("i", n), i, eq.ArgReduce("min", ax("k", m), rd("D", i, k), None, False, INT), covers=True),
        wr("b", ax("i", n), i, eq.ArgReduce("max", ax("k", m, 1), rd("D", i, k), None, True, INT), covers=True),
    ]
    f = build(kern("arg", [arr("D", 2), arr("a", 1, INT32), arr("b", 1, INT32)], body, [("a", 1), ("b", 1)]))
    D = jnp.asarray(R.integers(0, 3, (6, 7)), jnp.float32)
    a, b = f(D, jnp.zeros(6, int), jnp.zeros(6, int))
    D = np.asarray(D)
    close(a, D.argmin(1))
    close(b, [max(q for q in range(1, 7) if row[q] == row[1:].max()) for row in D])


def test_empty_extrema():
    n = shape("A", 0)
    value = red("max", ax("k", p("m")), op("exp", rd("A", i, k), type=FLOAT))
    f = build(
        kern("rowmax", [arr("A", 2), arr("y"), sc("m")], [wr("y", ax("i", n), i, value, covers=True)], [("y", 1)])
    )
    close(f(f32(3, 4), jnp.zeros(3), 0), [-np.inf] * 3)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("init", [0.0, 2.0])
def test_scans(reverse, inclusive, init):
    n, m = shape("x", 0), shape("x", 1)
    I, K = ax("i", n), ax("k", m)
    body = []
    for name, operator in (("s", "add"), ("t", "max"), ("u", "linear")):
        other = rd("x", i, k) if operator == "linear" else None
        a = mul(0.5, rd("x", i, k)) if operator == "linear" else rd("x", i, k)
        value = eq.Scan(operator, K, a, c(init), inclusive, reverse, FLOAT, other)
        body.append(wr(name, (I, K), (i, k), value, covers=True))
    f = build(kern("scans", [arr("x", 2), arr("s", 2), arr("t", 2), arr("u", 2)], body, [("s", 1), ("t", 1), ("u", 1)]))
    x = f32(3, 5)
    got = f(x, *[jnp.zeros((3, 5))] * 3)
    X = np.asarray(x)
    for out, step in zip(got, (lambda v, a: v + a, max, lambda v, a: 0.5 * a * v + a), strict=True):
        want = np.zeros((3, 5))
        for r in range(3):
            v = init
            for q in reversed(range(5)) if reverse else range(5):
                if not inclusive:
                    want[r, q] = v
                v = step(v, X[r, q])
                if inclusive:
                    want[r, q] = v
        close(out, want)
    finite_grad(f, x, *[jnp.zeros((3, 5))] * 3)


def test_reduced_accumulation():
    n, m = shape("A", 0), shape("A", 1)
    body = [wr("y", (ax("i", n), ax("j", m)), (rd("idx", i, type=INT),), rd("A", i, j), accumulate="add")]
    f = build(kern("segments", [arr("A", 2), arr("idx", 1, INT), arr("y")], body, [("y", 1)]))
    A, idx = f32(4, 3), jnp.asarray([0, 1, 0, 2])
    close(f(A, idx, jnp.zeros(3)), jnp.zeros(3).at[idx].add(A.sum(1)))


def test_count_and_any():
    n, m = shape("A", 0), shape("A", 1)
    positive = op(">", rd("A", i, k), 0.0)
    body = [
        wr("y", ax("i", n), i, red("add", ax("k", m), op("select", positive, c(1), c(0))), covers=True),
        wr("z", ax("i", n), i, red("and", ax("k", m), positive), covers=True),
        wr("w", ax("i", n), i, red("min", ax("k", m), rd("A", i, k, type=FLOAT32), positive), covers=True),
    ]
    f = build(
        kern("counts", [arr("A", 2), arr("y", 1, INT32), arr("z", 1), arr("w")], body, [("y", 1), ("z", 1), ("w", 1)])
    )
    A = f32(4, 3)
    y, z, w = f(A, jnp.zeros(4, int), jnp.zeros(4, bool), jnp.zeros(4))
    close(y, (A > 0).sum(1))
    close(z, (A > 0).all(1))
    close(w, np.where(A > 0, A, np.inf).min(1))


TILES = {  # what is taken of each tile, and the axes of its text
    "best = max(best, x[i * s + a, j * s + b])": "axis=2",
    "best = max(best, x[i * s + a, j])": "axis=1",
    "best = max(best, x[i * s + a, j * s + a + b])": "",  # no tiles
}


@pytest.mark.parametrize("body", TILES)
def test_extrema_of_tiles_are_over_one_axis(body):
    source = f"""
def f(x, y, s):
    H, W = x.shape
    for i in range(H // s):
        for j in range(W // s):
            best = -float("inf")
            for a in range(s):
                for b in range(s):
                    {body}
            y[i, j] = best
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    assert TILES[body] in done.text and ("transpose" in done.text) == (TILES[body] == "axis=2"), done.text
    if TILES[body]:  # the last one reads beyond the row
        request = pipeline.Request(shapes={"x": (4, 8), "y": (2, 4)}, values={"s": 2})
        agrees(done, request)
