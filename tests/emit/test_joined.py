"""A row and all others, stored one after the other, as one array; anything in between keeps the two stores apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees, verified

HEAD = "int j = blockIdx.x * blockDim.x + threadIdx.x;\n  if (j >= cols) return;"
BODIES = {
    "first": ("y[j] = x[j]; for (int i = 1; i < rows; i++) y[i * cols + j] = 2.0f * x[i * cols + j];", True),
    "last": (
        "y[(rows - 1) * cols + j] = 3.0f;"
        "for (int i = 0; i < rows - 1; i++) y[i * cols + j] = x[i * cols + j] * x[(i + 1) * cols + j];",
        True,
    ),
    "first column": (
        "y[j * rows] = x[j * rows]; for (int i = 1; i < rows; i++) y[j * rows + i] = 2.0f * x[j * rows + i];",
        True,
    ),
    "last column": (
        "y[j * rows + rows - 1] = 3.0f; for (int i = 0; i < rows - 1; i++) y[j * rows + i] = x[j * rows + i];",
        True,
    ),
    "a column is left": ("y[j * rows] = x[j * rows]; for (int i = 2; i < rows; i++) y[j * rows + i] = 1.0f;", False),
    "read in between": (
        "y[j] = x[j]; z[j] = y[j] + y[(rows - 1) * cols + j];"
        "for (int i = 1; i < rows; i++) y[i * cols + j] = x[i * cols + j];",
        False,
    ),
    "a row is left": ("y[j] = x[j]; for (int i = 2; i < rows; i++) y[i * cols + j] = x[i * cols + j];", False),
    "added to": ("y[j] = x[j]; for (int i = 1; i < rows; i++) y[i * cols + j] += x[i * cols + j];", False),
    "under a mask": ("if (x[j] > 0) y[j] = x[j]; for (int i = 1; i < rows; i++) y[i * cols + j] = 1.0f;", False),
}


def expected(name, x, y, z, rows):
    y, z = y.copy(), z.copy()
    match name:
        case "first":
            y[0], y[1:] = x[0], 2 * x[1:]
        case "last":
            y[-1], y[:-1] = 3, x[:-1] * x[1:]
        case "first column" | "last column" | "a column is left":
            of_x, of_y = x.reshape(-1, rows), y.reshape(-1, rows)  # a view
            if name == "first column":
                of_y[:, 0], of_y[:, 1:] = of_x[:, 0], 2 * of_x[:, 1:]
            elif name == "last column":
                of_y[:, -1], of_y[:, :-1] = 3, of_x[:, :-1]
            else:
                of_y[:, 0], of_y[:, 2:] = of_x[:, 0], 1
        case "read in between":
            old = y[-1] if rows > 1 else x[0]
            y[:], z = x, x[0] + old
        case "a row is left":
            y[0], y[2:] = x[0], x[2:]
        case "added to":
            y[0], y[1:] = x[0], y[1:] + x[1:]
        case "under a mask":
            y[0], y[1:] = np.where(x[0] > 0, x[0], y[0]), 1
    return y, z


@pytest.fixture(scope="module")
def modules():
    kernels = "".join(
        f"__global__ void k{n}(const float *x, float *y, float *z, int rows, int cols) {{ {HEAD} {body} }}\n"
        for n, (body, _) in enumerate(BODIES.values())
    )
    done = pipeline.translate(kernels, "rows.cu")
    assert not done.diagnostics
    return done.text, load_module(done.text)


@pytest.mark.parametrize("name", BODIES)
def test_rows(modules, name):
    text, module = modules
    at = list(BODIES).index(name)
    own = text.split(f"def k{at}(")[1].split("\n@partial")[0]
    assert ("jnp.concatenate" in own) == BODIES[name][1]
    cols = 3
    for rows in (1, 2, 4):
        rng = np.random.default_rng(rows)
        x, y, z = (rng.normal(size=s).astype(np.float32) for s in ((rows, cols), (rows, cols), cols))
        with jax.disable_jit():
            got = getattr(module, f"k{at}")(jnp.asarray(x.ravel()), jnp.asarray(y.ravel()), jnp.asarray(z), rows, cols)
        got = got if isinstance(got, tuple) else (got, z)
        for a, b in zip(got, expected(name, x, y, z, rows), strict=True):
            np.testing.assert_allclose(np.asarray(a).ravel(), b.ravel(), rtol=1e-6)


STAGE = """from numba import cuda
@cuda.jit
def f(v, w, half, n):
    t = cuda.grid(1)
    if t < n // 2:
        k = t % half
        a = 2 * half * (t // half) + k
        p, q = v[a], v[a + half]
{}
"""
HALVES = {
    "both": ("        v[a] = p + q\n        v[a + half] = p - q", True),
    "the second first": ("        v[a + half] = p - q\n        v[a] = p + q * w[k]", True),
    "under a mask": ("        if w[k] > 0:\n            v[a] = q\n        v[a + half] = p", True),
    "one of them": ("        v[a] = p + q", False),
    "scaled under a mask": ("        if w[k] > 0:\n            v[a] = p * q\n        v[a + half] = p", False),
}


@pytest.mark.parametrize("name", HALVES)
def test_halves(name):
    body, one = HALVES[name]
    done = pipeline.translate(STAGE.format(body), "k.py")
    assert done.text is not None and ("jnp.stack(" in done.text) == one, done.text or done.diagnostics
    for n in (16, 14):  # the last rows need not be whole
        request = pipeline.Request(shapes={"v": (16,), "w": (4,)}, values={"half": 4, "n": n}, grid=(1,), block=(8,))
        agrees(done, request)


ENDS = {  # the ends of a row and the cells between them
    "a derivative": (
        "if i == 0:|    d = x[1] - x[0]|elif i == n - 1:|    d = x[n - 1] - x[n - 2]|"
        "else:|    d = x[i + 1] - x[i - 1]|y[i] = d * 0.5",
        True,
    ),
    "the last cell twice": (
        "if i == 0:|    y[0] = x[0]|if i == n - 1:|    y[i] = 2.0|if i > 0 and i < n - 1:|    y[i] = x[i]",
        False,
    ),
    "a cell is left": ("if i == 0:|    y[0] = x[0]|elif i == n - 1:|    y[i] = 2.0|elif i > 1:|    y[i] = x[i]", False),
    "added to": ("if i == 0:|    y[0] = x[0]|elif i == n - 1:|    y[i] = 2.0|else:|    y[i] += x[i]", False),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_and_what_lies_between(name):
    body, taken = ENDS[name]
    lines = "\n        ".join(body.split("|"))
    source = (
        f"from numba import cuda\n@cuda.jit\ndef f(x, y, n):\n    i = cuda.grid(1)\n    if i < n:\n        {lines}\n"
    )
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    for size in (6, 2, 1, 0):
        if size == 1 and name == "a derivative":
            continue  # it has no neighbour
        request = pipeline.Request(shapes={"x": (size,), "y": (size + 1,)}, values={"n": size})
        agrees(done, request)
    assert ("concatenate" in done.text) == taken, done.text


SWEEPS = """
__global__ void sweeps(const float *a, const float *x, float *y, int n, int m) {{
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= m) return;
  float t[8];
  t[0] = x[s] * a[s];
  for (int i = 1; i < n; i++) t[i] = (x[i * m + s] - 0.5f * t[i - 1]) * a[i * m + s];
  {between}
  float last = t[n - 1];
  for (int i = n - 1; i >= 0; i--) {{ last = {back} + 0.3f * last; y[i * m + s] = last; }}
}}
"""


@pytest.mark.parametrize(
    ("between", "back", "rows"),
    [
        ("", "t[i]", True),
        ("", "t[i] * t[n - 1]", True),
        ("", "t[i] * t[n - 1 - i]", True),  # one load by rounds, one from the last on
        ("t[n / 2] = 2.0f;", "t[i]", False),  # what is loaded is another version
    ],
)
def test_rows_that_a_loop_puts_out_are_those_that_the_next_one_takes(between, back, rows):
    done = pipeline.translate(SWEEPS.format(between=between, back=back), "sweeps.cu")
    assert ("jnp.concatenate(" in done.text and "t.at[" not in done.text and ".T" not in done.text) == rows, done.text
    for n in (1, 2, 5):
        request = pipeline.Request(shapes=dict.fromkeys("axy", (3 * n,)), values={"n": n, "m": 3})
        (report,), problems = verified(done, request)
        assert report.ok and not problems, [(r.check, r.what, r.message) for r in report.failures]


def test_one_index_twice_is_a_diagonal_and_no_box():
    done = pipeline.translate(
        """
__global__ void f(const float *x, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) b[(j * n + i) * n + j] = i >= n - 1 ? x[j * n + i] : 2.0f * x[j * n + j];
}
""",
        "case.cu",
    )
    assert done.text is not None and "concatenate" not in done.text
    agrees(done, pipeline.Request())
