"""Loops over launches that make an array row by row, or diagonal by diagonal: one function, a scan over its rows."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

ROW = """__global__ void row(const float *cost, float *a, int w, int i) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= w) return;
    float m = a[(i - 1) * w + j];
    if (j > 0) m = fminf(m, a[(i - 1) * w + j - 1]);
    a[i * w + j] = cost[i * w + j] + m;
}
"""
DIAGONAL = """__global__ void diagonal(const int *x, const int *y, float *H, int n, int m, int d, float gap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = d - i;
    if (i <= n && j >= 1 && j <= m) {
        float v = H[(i - 1) * (m + 1) + j - 1] + (x[i - 1] == y[j - 1] ? 2.0f : -1.0f);
        H[i * (m + 1) + j] = fmaxf(v, fmaxf(H[(i - 1) * (m + 1) + j], H[i * (m + 1) + j - 1]) - gap);
    }
}
"""
POINTERS = """__global__ void row(const float *last, const float *cost, float *next, int w) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < w) next[j] = cost[j] + (j > 0 ? fminf(last[j], last[j - 1]) : last[j]);
}
"""
HEAD = "void run(const float *cost, float *a, int h, int w) { "
SWEEP = "void run(const int *x, const int *y, float *H, int n, int m, float gap) { "
HOSTS = {
    "rows": ROW + HEAD + "for (int i = 1; i < h; i++) row<<<(w + 63) / 64, 64>>>(cost, a, w, i); }",
    "the next row": ROW + HEAD + "for (int k = 0; k < h - 1; k++) row<<<(w + 63) / 64, 64>>>(cost, a, w, k + 1); }",
    "rows in a time loop": ROW + HEAD + "for (int t = 0; t < 3; t++) { cudaMemset(a, 0, w * sizeof(float));"
    " for (int i = 1; i < h; i++) row<<<(w + 63) / 64, 64>>>(cost, a, w, i); } }",
    "a row's own pointer": ROW.replace("cost[i * w + j]", "cost[j]") + HEAD
    + "for (int i = 1; i < h; i++) row<<<(w + 63) / 64, 64>>>(cost + i * w, a, w, i); }",
    "rows by pointers": POINTERS + HEAD
    + "for (int i = 1; i < h; i++) row<<<(w + 63) / 64, 64>>>(a + (i - 1) * w, cost + i * w, a + i * w, w); }",
    "diagonals": DIAGONAL + SWEEP + "for (int d = 2; d <= n + m; d++) "
    "diagonal<<<(n + 63) / 64, 64>>>(x, y, H, n, m, d, gap); }",
    "fields in time": """
from numba import cuda

@cuda.jit
def step(u, t, c):
    i = cuda.grid(1)
    if 0 < i < u.shape[1] - 1:
        u[t + 1, i] = 2.0 * u[t, i] - u[t - 1, i] + c * (u[t, i + 1] - 2.0 * u[t, i] + u[t, i - 1])

def run(u, c):
    for t in range(1, u.shape[0] - 1):
        step[(u.shape[1] + 63) // 64, 64](u, t, c)
""",
}  # fmt: skip
OTHERS = {  # nothing of these is one function: the loop over launches stays, with what it carries
    "not all diagonals": HOSTS["diagonals"].replace("d = 2", "d = 3"),
    "a cell that the row before has not": HOSTS["diagonals"].replace(
        "H[(i - 1) * (m + 1) + j - 1]", "H[(i + 1) * (m + 1) + j - 2]"
    ),
    "two rows a round": ROW + HEAD + "for (int i = 1; i < h; i++) { row<<<(w + 63) / 64, 64>>>(cost, a, w, i); "
    "row<<<(w + 63) / 64, 64>>>(cost, a, w, i); } }",
    "a number that a thread changes": HOSTS["rows"].replace("float m = a", "if (j > 2) w = w + 0; float m = a"),
    "one thread a launch": HOSTS["rows"].replace("if (j >= w) return;", "if (j != 0) return;"),
}  # fmt: skip


def _rows(m, cost, a, h, w):
    for i in range(1, h):
        a = m.row(cost, a, w, i)
    return a


def _in_time(m, cost, a, h, w):
    for _ in range(3):
        a = _rows(m, cost, a.at[:w].set(0.0), h, w)
    return a


def _own_pointer(m, cost, a, h, w):
    for i in range(1, h):
        a = m.row(cost[i * w :], a, w, i)
    return a


def _pointers(m, cost, a, h, w):
    for i in range(1, h):
        a = a.at[i * w : (i + 1) * w].set(m.row(a[(i - 1) * w : i * w], cost[i * w :], a[i * w : (i + 1) * w], w))
    return a


def _diagonals(m, x, y, H, rows, columns, gap):
    for d in range(2, rows + columns + 1):
        H = m.diagonal(x, y, H, rows, columns, d, gap)
    return H


def _fields(m, u, c):
    for t in range(1, u.shape[0] - 1):
        u = m.step(u, t, c)
    return u


ROUNDS = {
    "rows in a time loop": _in_time,
    "a row's own pointer": _own_pointer,
    "rows by pointers": _pointers,
    "diagonals": _diagonals,
    "fields in time": _fields,
}


def _translated(source):
    done = pipeline.translate(source, "k.cu" if "__global__" in source else "k.py")
    assert "run" in done.raised, [d.reason for d in done.diagnostics]
    return done.text.split("def run(")[1], done.text


def _arguments(name):
    draw = np.random.default_rng(len(name))
    if name == "fields in time":
        return (draw.normal(size=(6, 5)).astype(np.float32), np.float32(0.3)), (0, 1)
    if name == "diagonals":
        letters = [draw.integers(0, 2, s).astype(np.int32) for s in (5, 6)]
        return (*letters, draw.normal(size=45).astype(np.float32), 5, 6, np.float32(0.4)), (2, 5)
    return (*draw.normal(size=(2, 21)).astype(np.float32), 4, 5), (0, 1)


@pytest.mark.parametrize("name", HOSTS)
def test_one_function(name):
    """Values and gradients of the host against its launches one by one, each of them a call of the raised kernel."""
    host, text = _translated(HOSTS[name])
    assert "_rounds(" in host and "jax.lax.scan" in text
    module, (arguments, floats) = load_module(text), _arguments(name)

    def launches(*args):
        return ROUNDS.get(name, _rows)(module, *args)

    given = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    np.testing.assert_allclose(module.run(*given), launches(*given), rtol=1e-5)
    if name in ("rows", "diagonals"):
        weigh = np.random.default_rng(1).normal(size=np.shape(module.run(*given)))
        one, other = (jax.grad(lambda *a, f=f: (f(*a) * weigh).sum(), floats)(*given) for f in (module.run, launches))
        for p, q in zip(one, other, strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OTHERS)
def test_the_loop_stays(name):
    host, _ = _translated(OTHERS[name])
    assert "_rounds(" not in host


@pytest.mark.parametrize(
    "change",
    [
        ("H[i * (m + 1) + j - 1])", "H[(i + 1) * (m + 1) + j - 1])"),
        ("- gap);", "- gap) + H[(i - 1) * (m + 1) + j + 1];"),
    ],
)
def test_cells_of_one_launch_are_a_race(change):
    done = pipeline.translate(HOSTS["diagonals"].replace(*change), "k.cu")
    assert done.raised == () and {d.code for d in done.diagnostics} == {"KR201", "KR212"}


def test_what_another_thread_of_the_launch_stores():
    """Two pointers into the row that is stored: a thread may see there what another one has made of it."""
    row = POINTERS.replace("float *next", "const float *same, float *next").replace(
        ": last[j])", ": last[j]) + same[j ^ 1]"
    )
    host = HEAD + "for (int i = 1; i < h; i++) "
    host += "row<<<(w + 63) / 64, 64>>>(a + (i - 1) * w, cost + i * w, a + i * w, a + i * w, w); }"
    done = pipeline.translate(row + host, "k.cu")
    assert done.raised == ("row",) and {d.code for d in done.diagnostics} == {"KR211"}
