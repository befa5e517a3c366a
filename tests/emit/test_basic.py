# ruff: noqa: E501, E731, E741 (equations are written on one line, as mathematics)
"""Maps, stencils, broadcasts, copies: form and values of what is emitted."""

import jax
import jax.numpy as jnp
import numpy as np
from dsl import (
    EMITTED,
    FLOAT,
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

i, j, k = ix("i"), ix("j"), ix("k")
R = np.random.default_rng(0)


def f32(*s):
    return jnp.asarray(R.uniform(-1, 1, s), jnp.float32)


def close(a, b, tol=1e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tol, atol=tol)


def finite_grad(f, *args, wrt=0):
    g = jax.grad(lambda *a: jnp.sum(jnp.sin(jax.tree.leaves(f(*a))[0])), argnums=wrt)(*args)
    assert np.isfinite(np.asarray(g)).all()


def test_square():
    x = rd("x", i)
    f = build(
        kern("square", [arr("y"), arr("x")], [wr("y", ax("i", shape("y")), i, mul(x, x), covers=True)], [("y", 1)])
    )
    x, y = f32(7), f32(7)
    close(f(y, x), x * x)
    finite_grad(f, y, x, wrt=1)


def test_saxpy_guarded():
    a, n = p("a", FLOAT), p("n")
    body = [wr("y", ax("i", n), i, add(mul(a, rd("x", i)), rd("y", i)))]
    f = build(kern("saxpy", [sc("n"), sc("a", FLOAT), arr("x"), arr("y")], body, [("y", 1)]))
    x, y = f32(9), f32(9)
    close(f(5, 2.0, x, y), y.at[:5].add(2 * x[:5]))
    assert "y.at[:n].add(a * x[:n])" in EMITTED["saxpy"]
    close(f(0, 2.0, x, y), y)


def force_kernel():
    N = shape("positions", 1)
    axes = (ax("i", N), ax("j", N))
    d = [sub(rd("positions", r, i), rd("positions", r, j)) for r in range(3)]
    square = add(add(op("**", d[0], 2), op("**", d[1], 2)), op("**", d[2], 2))
    same = op("==", i, j)
    r2 = where(same, 1.0, square)
    inv = where(same, d[0], op("/", 1.0, r2))
    G = p("G", NUMBER)
    F = [mul(G, rd("masses", i), rd("masses", j), inv, d[r]) for r in range(3)]
    total = add(add(F[0], F[1]), F[2])
    names = [
        (N, "N"),
        (d[0], "dx"),
        (d[1], "dy"),
        (d[2], "dz"),
        (inv, "inv_r2"),
        (F[0], "Fx"),
        (F[1], "Fy"),
        (F[2], "Fz"),
    ]
    return kern(
        "attractive_force",
        [arr("positions", 2), arr("masses"), sc("G", NUMBER), arr("F", 2)],
        [wr("F", axes, (i, j), total, line=14)],
        [("F", 1)],
        names,
        doc="Force between each pair of bodies.",
        equations=("F[i, j] = Fx + Fy + Fz  for 0 <= i < N, 0 <= j < N",),
    )


def test_attractive_force():
    f = build(force_kernel())
    P, m = f32(3, 6), f32(6)
    n = 6
    out = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            dd = np.asarray(P[:, a] - P[:, b])
            inv = dd[0] if a == b else 1 / (dd**2).sum()
            out[a, b] = (2.0 * m[a] * m[b] * inv * dd).sum()
    close(f(P, m, 2.0, jnp.zeros((n, n))), out, 1e-4)
    finite_grad(f, P, m, 2.0, jnp.zeros((n, n)))


def test_image_2d():
    h, w = shape("img", 0), shape("img", 1)
    value = mul(p("gain", FLOAT), op("abs", rd("img", i, j)))
    f = build(
        kern(
            "image",
            [arr("img", 2), arr("out", 2), sc("gain", FLOAT)],
            [wr("out", (ax("i", h), ax("j", w)), (i, j), value)],
            [("out", 1)],
        )
    )
    a = f32(4, 5)
    close(f(a, jnp.zeros((6, 7)), 3.0)[:4, :5], 3 * abs(a))


def test_stencil_interior():
    ny, nx = p("ny"), p("nx")
    u = lambda dy, dx: rd("u", add(i, dy) if dy else i, add(j, dx) if dx else j, view=(ny, nx))
    total = sub(add(add(add(u(0, -1), u(0, 1)), u(-1, 0)), u(1, 0)), mul(4.0, u(0, 0)))
    value = add(u(0, 0), mul(p("c", FLOAT), total))
    axes = (ax("i", sub(ny, 1), 1), ax("j", sub(nx, 1), 1))
    f = build(
        kern(
            "heat",
            [arr("u"), arr("v"), sc("nx"), sc("ny"), sc("c", FLOAT)],
            [wr("v", axes, (i, j), value, view=(ny, nx), line=8)],
            [("v", 1)],
        )
    )
    a, b = f32(5 * 6), f32(5 * 6 + 2)
    A = np.asarray(a).reshape(5, 6)
    out = np.array(b)
    B = out[:30].reshape(5, 6)
    B[1:-1, 1:-1] = A[1:-1, 1:-1] + 0.1 * (A[1:-1, :-2] + A[1:-1, 2:] + A[:-2, 1:-1] + A[2:, 1:-1] - 4 * A[1:-1, 1:-1])
    close(f(a, b, 6, 5, 0.1), out)
    finite_grad(f, a, b, 6, 5, 0.1)


def test_bounds_of_tiny_sizes():
    n = p("n")
    f = build(
        kern(
            "inner",
            [arr("x"), arr("y"), sc("n")],
            [wr("y", ax("i", sub(n, 1), 1), i, sub(rd("x", add(i, 1)), rd("x", add(i, -1))))],
            [("y", 1)],
        )
    )
    x, y = f32(8), f32(8)
    for size in range(0, 9):
        want = np.array(y)
        for a in range(1, size - 1):
            want[a] = x[a + 1] - x[a - 1]
        close(f(x, y, size), want)


def test_transpose():
    axes = (ax("i", shape("a", 0)), ax("j", shape("a", 1)))
    f = build(
        kern("transpose", [arr("a", 2), arr("b", 2)], [wr("b", axes, (j, i), rd("a", i, j), covers=True)], [("b", 1)])
    )
    a = f32(3, 5)
    close(f(a, jnp.zeros((5, 3))), a.T)
    assert "a.T" in EMITTED["transpose"]


def test_reversed_and_strided():
    n = p("n")
    body = [
        wr("y", ax("i", n), i, rd("x", sub(sub(n, 1), i))),
        wr("z", ax("i", n), mul(2, i), rd("x", i)),
        wr("w", ax("i", n), i, rd("x", add(mul(2, i), 1))),
        wr("v", ax("i", shape("x")), sub(sub(shape("x"), 1), i), rd("x", i), covers=True),
    ]
    f = build(
        kern(
            "copies",
            [arr("x"), arr("y"), arr("z"), arr("w"), arr("v"), sc("n")],
            body,
            [("y", 1), ("z", 1), ("w", 1), ("v", 1)],
        )
    )
    for n in (0, 1, 4):
        x, y, z, w, v = f32(10), f32(10), f32(10), f32(10), f32(10)
        ry, rz, rw, rv = f(x, y, z, w, v, n)
        close(ry[:n], x[:n][::-1])
        close(ry[n:], y[n:])
        close(rz[: 2 * n : 2], x[:n])
        close(rw[:n], x[1 : 2 * n : 2] if n else x[:0])
        close(rv, x[::-1])


def test_roll_and_clamp():
    n = shape("x")
    body = [
        wr(
            "y", ax("i", n), i, sub(rd("x", op("%", add(i, 1), n)), rd("x", op("%", add(sub(i, 1), n), n))), covers=True
        ),
        wr(
            "z",
            ax("i", n),
            i,
            sub(rd("x", op("min", add(i, 1), sub(n, 1))), rd("x", op("max", sub(i, 1), 0))),
            covers=True,
        ),
    ]
    f = build(kern("rolls", [arr("x"), arr("y"), arr("z")], body, [("y", 1), ("z", 1)]))
    x = np.asarray(f32(6))
    y, z = f(x, jnp.zeros(6), jnp.zeros(6))
    close(y, np.roll(x, -1) - np.roll(x, 1))
    close(z, np.append(x[1:], x[-1]) - np.append(x[0], x[:-1]))
    assert "jnp.roll(x, -1)" in EMITTED["rolls"]


def test_diagonal_and_gather():
    n = p("n")
    body = [
        wr("y", ax("i", n), i, rd("A", i, i)),
        wr("z", ax("i", n), i, rd("x", rd("idx", i, type=c(1).type))),
        wr("W", (ax("i", n), ax("j", shape("A", 1))), (i, j), rd("A", rd("idx", i, type=c(1).type), j)),
        wr("A", ax("i", n), (i, i), 0.0),
    ]
    params = [arr("A", 2), arr("x"), arr("idx", 1, c(1).type), arr("y"), arr("z"), arr("W", 2), sc("n")]
    f = build(kern("gathers", params, body, [("A", 1), ("y", 1), ("z", 1), ("W", 1)]))
    A, x, idx = f32(5, 5), f32(5), jnp.asarray([4, 0, 2, 2, 1])
    a, y, z, W = f(A, x, idx, f32(5), f32(5), f32(5, 5), 4)
    close(y[:4], jnp.diagonal(A)[:4])
    close(z[:4], x[idx[:4]])
    close(W[:4], A[idx[:4]])
    close(a, A - jnp.diag(jnp.append(jnp.diagonal(A)[:4], 0)))


def test_histogram():
    n = shape("x")
    bin_ = rd("x", i, type=c(1).type)
    body = [wr("h", ax("i", n), bin_, c(1), accumulate="add")]
    f = build(kern("hist", [arr("x", 1, c(1).type), arr("h", 1, c(1).type)], body, [("h", 1)]))
    x = jnp.asarray([1, 1, 3, 0])
    assert (f(x, jnp.zeros(4, int)) == jnp.asarray([1, 2, 0, 1])).all()


def test_masked_store_and_drop():
    n = shape("x")
    x = rd("x", i)
    body = [
        wr("y", ax("i", n), i, mul(x, 2.0), where=op(">", x, 0.0)),
        wr("z", ax("i", n), rd("idx", i, type=c(1).type), x, where=op(">", x, 0.0), safe=True),
    ]
    f = build(kern("masks", [arr("x"), arr("idx", 1, c(1).type), arr("y"), arr("z")], body, [("y", 1), ("z", 1)]))
    x, y, z = f32(6), f32(6), f32(6)
    idx = jnp.arange(6)[::-1] - jnp.where(x > 0, 0, 100)
    ry, rz = f(x, idx, y, z)
    close(ry, jnp.where(x > 0, 2 * x, y))
    want = np.array(z)
    for a in range(6):
        if x[a] > 0:
            want[5 - a] = x[a]
    close(rz, want)


def test_triangular_sum():
    n = shape("A", 0)
    value = red("add", ax("j", n), rd("A", i, j), op("<=", j, i))
    f = build(kern("tri", [arr("A", 2), arr("y")], [wr("y", ax("i", n), i, value, covers=True)], [("y", 1)]))
    A = f32(5, 5)
    close(f(A, jnp.zeros(5)), jnp.tril(A).sum(1))


def test_deterministic():
    from dsl import text_of

    assert text_of(force_kernel()) == text_of(force_kernel())


def test_clamps_and_windows_in_two_dimensions():
    h, w = shape("x", 0), shape("x", 1)
    up = rd("x", op("max", sub(i, 1), 0), j)
    value = sub(up, rd("x", i, op("min", add(j, 2), sub(w, 1))))
    box = red("add", (ax("k", 3), ax("l", 2)), mul(rd("w", k, ix("l")), rd("x", add(i, k), add(j, ix("l")))))
    inner = (ax("i", sub(h, 2)), ax("j", sub(w, 1)))
    body = [
        wr("y", (ax("i", h), ax("j", w)), (i, j), value, covers=True),
        wr("z", inner, (i, j), box),
    ]
    f = build(kern("filters", [arr("x", 2), arr("w", 2), arr("y", 2), arr("z", 2)], body, [("y", 1), ("z", 1)]))
    x, w = np.asarray(f32(5, 6)), np.asarray(f32(3, 2))
    y, z = f(x, w, jnp.zeros((5, 6)), jnp.zeros((5, 6)))
    want = np.zeros((5, 6))
    for a in range(5):
        for b in range(6):
            close(y[a, b], x[max(a - 1, 0), b] - x[a, min(b + 2, 5)])
            if a < 3 and b < 5:
                want[a, b] = (w * x[a : a + 3, b : b + 2]).sum()
    close(z, want)
    assert "arange" not in EMITTED["filters"]
    # a single row or column
    one, _ = f(x[:1, :1], w, jnp.zeros((1, 1)), jnp.zeros((1, 1)))
    close(one, np.zeros((1, 1)))


def test_a_fixed_position_is_not_read_where_nothing_runs():
    n = shape("x")
    f = build(
        kern("ends", [arr("x"), arr("y")], [wr("y", ax("i", n), i, add(rd("x", 0), rd("x", sub(n, 1))))], [("y", 1)])
    )
    assert f(np.zeros(0, np.float32), np.zeros(0, np.float32)).shape == (0,)
    close(f(np.asarray([1.0, 2.0, 4.0], np.float32), np.zeros(3, np.float32)), [5.0] * 3)
