"""Substitution, forward and back: what is one solve of a triangular system, and what stays a loop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

DOWN = "def f(A, b, x):\n for i in range({n}):\n  s = {s}\n  for j in range({j}):\n   {t}\n  x[i] = {x}\n"
UP = DOWN.replace("range({n})", "range(len(x) - 1, -1, -1)")
RIGHT = "def f(A, b, x):\n for k in range({n}):\n  {d}\n  for i in range({j}):\n   x[i] -= {t}\n"
LEFT = RIGHT.replace("range({n})", "range({n}, -1, -1)")
DIVIDED = {"d": "x[k] /= A[k, k]", "j": "k + 1, len(x)", "t": "A[i, k] * x[k]"}
ONES = DIVIDED | {"d": "pass"}
LEAST = {"n": "len(x)", "s": "b[i]", "j": "i", "t": "s -= A[i, j] * x[j]", "x": "s / A[i, i]"}
SOLVED = {
    "forward": (DOWN, {}),
    "back": (UP, {"j": "i + 1, len(x)"}),
    "of the transposed, forward": (DOWN, {"t": "s -= x[j] * A[j, i]"}),
    "of the transposed, back": (UP, {"j": "i + 1, len(x)", "t": "s -= A[j, i] * x[j]"}),
    "in place": (DOWN, {"s": "x[i]"}),
    "of twice as much": (DOWN, {"s": "2 * b[i] + x[i]"}),
    "of the last rows": (DOWN, {"n": "2, len(x)", "j": "2, i"}),
    "by columns": (RIGHT, DIVIDED),
    "by columns, back": (LEFT, DIVIDED | {"n": "len(x) - 1", "j": "k"}),
    "by columns, ones on the diagonal": (RIGHT, ONES),
    "by columns, ones and no last round": (RIGHT, ONES | {"n": "len(x) - 1"}),
    "by columns, ones, back": (LEFT, ONES | {"n": "len(x) - 1", "j": "k"}),
    "by rows of the transposed": (RIGHT, DIVIDED | {"t": "x[k] * A[k, i]"}),
}
OTHERS = {
    "the diagonal of another": (DOWN, {"x": "s / b[i]"}),
    "a sum that is added": (DOWN, {"t": "s += A[i, j] * x[j]"}),
    "the diagonal summed, too": (DOWN, {"j": "i + 1"}),
    "a part of the row": (DOWN, {"j": "1, i"}),
    "what is not yet made": (UP, {"j": "i"}),
    "rows that look at the first": (DOWN, {"s": "b[i] + x[0]"}),
    "each second row": (DOWN, {"n": "0, len(x), 2"}),
    "by columns, the first of them": (RIGHT, DIVIDED | {"n": "len(x) - 1"}),
    "by columns, a part": (RIGHT, DIVIDED | {"j": "k + 2, len(x)"}),
    "by columns, what is made": (RIGHT, DIVIDED | {"j": "k"}),
    "by columns, added": (RIGHT, DIVIDED | {"t": "-A[i, k] * x[k]"}),
    "by columns, of another": (RIGHT, DIVIDED | {"t": "A[i, k] * b[k]"}),
    "by columns, the diagonal of another": (RIGHT, DIVIDED | {"d": "x[k] /= b[k]"}),
    "by columns, of a half": (RIGHT, DIVIDED | {"n": "0, len(x), 2"}),
    "two products": (DOWN, {"t": "s -= A[i, j] * x[j] * b[j]"}),
}


def made(source, name="k.py"):
    done = pipeline.translate(source, name)
    assert done.text is not None, done.diagnostics
    return done.text, load_module(done.text)


def system(n=6):
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, n)) + 3 * np.eye(n), rng.standard_normal(n), rng.standard_normal(n)


@pytest.mark.parametrize("name", [*SOLVED, *OTHERS])
def test_values(name):
    form, parts = (SOLVED | OTHERS)[name]
    source = form.format(**LEAST | parts)
    text, module = made(source)
    assert ("solve_triangular" in text and "lax" not in text) == (name in SOLVED), text
    own = {}
    exec(source, own)
    A, b, x = system()
    if name in SOLVED:  # of the other triangle nothing is read
        rows, columns = np.indices(A.shape)
        below = (form in (DOWN, RIGHT)) == ("transposed" not in name)
        A[rows < columns if below else rows > columns] = np.nan
    expected = x.copy()
    own["f"](A, b, expected)
    np.testing.assert_allclose(module.f(A, b, x), expected.astype("f"), rtol=1e-4)


def test_columns_and_gradients():
    source = """
__global__ void f(const double *L, double *B, int n, int m) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= m) return;
    for (int i = 0; i < n; i++) {
        double s = B[i * m + c];
        for (int j = 0; j < i; j++) s -= L[i * n + j] * B[j * m + c];
        B[i * m + c] = s / L[i * n + i];
    }
}
"""
    text, module = made(source, "k.cu")
    assert "solve_triangular" in text and "must hold" not in text
    A, b, x = system(4)
    A, B = np.tril(A), np.stack((b, x), axis=1)
    A[1, 1], A[0, 2] = 2.0, np.inf
    expected = np.linalg.solve(np.tril(A), B)
    np.testing.assert_allclose(module.f(A.ravel(), B.ravel(), 4, 2).reshape(4, 2), expected, rtol=1e-12)
    assert module.f(A.ravel(), B.ravel(), 0, 2).tolist() == B.ravel().tolist()

    def loss(flat):
        return jnp.vdot(module.f(flat, B.ravel(), 4, 2), jnp.arange(8.0))

    found = jax.grad(loss)(jnp.asarray(A.ravel())).reshape(4, 4)
    back = np.linalg.solve(np.tril(A).T, np.arange(8.0).reshape(4, 2))
    np.testing.assert_allclose(found, np.tril(-back @ expected.T), rtol=1e-10)


def test_integers_are_cut_off_in_each_round():
    _, module = made(DOWN.format(**LEAST))
    A, b, x = system()
    with pytest.raises(ValueError, match="x must hold floating-point numbers"):
        module.f(A, b, x.astype(int))
    assert made(DOWN.format(**LEAST | {"x": "round(s / A[i, i])"}))[0].count("solve_triangular") == 0
