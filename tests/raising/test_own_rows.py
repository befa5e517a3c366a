"""Places that a thread counts up from the start of its own row: ``k = r * n; for …: if (x) out[k++] = x``."""

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
__global__ void f(const float *x, float *out, int *count, int rows, int n) {{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int k = {first};
    {body}
    count[r] = k;
}}"""
BODIES = {
    "kept": "for (int j = 0; j < n; j++) if (x[r * n + j] > 0.f) out[k++] = x[r * n + j] * x[r * n + j];",
    "until": "for (int j = 0; j < n; j++) { float v = x[r * n + j]; if (v > 1.f) break; if (v < 0.f) out[k++] = v; }",
    "twice": "for (int j = 0; j < n; j++) if (x[r * n + j] > 0.f) out[k++] = 1.f; k = k - r * n;",
    "backwards": "for (int j = n - 1; j >= 0; j--) if (x[r * n + j] > 0.f) { out[k] = x[r * n + j]; k += 1; }",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_rows_that_are_filled_up(body):
    done = pipeline.translate(KERNEL.format(first="r * n", body=body), "k.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    for rows, n in ((3, 4), (1, 1)):
        shapes = {"x": (rows * n,), "out": (rows * n,), "count": (rows,)}
        agrees(done, pipeline.Request(shapes=shapes, values={"rows": rows, "n": n}), body)


@pytest.mark.parametrize(
    "first, body",
    [
        ("r * n", BODIES["kept"].replace("j < n", "j <= n")),
        ("r * n + 1", BODIES["kept"].replace("j < n", "j <= n")),
        ("r * n", BODIES["kept"].replace("k++", "++k").replace("j < n", "j <= n")),
        ("r * n", BODIES["backwards"].replace("k += 1", "k += 2")),
        ("r * (n - 1)", BODIES["kept"]),
    ],
)
def test_places_beyond_the_row_are_refused(first, body):
    done = pipeline.translate(KERNEL.format(first=first, body=body), "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics} <= {"KR201", "KR202", "KR204"}, done.text


@pytest.mark.parametrize(
    "first, body", [("r * n + 1", BODIES["kept"]), ("r * n", BODIES["kept"].replace("k++", "++k"))]
)
def test_rows_that_begin_one_later(first, body):
    """Each begins where the one before may end, at most: no two threads have a place in common."""
    done = pipeline.translate(KERNEL.format(first=first, body=body), "k.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    shapes = {"x": (12,), "out": (13,), "count": (3,)}
    agrees(done, pipeline.Request(shapes=shapes, values={"rows": 3, "n": 4}), body)


def test_in_numba():
    source = """
from numba import cuda

@cuda.jit
def f(x, out, n):
    r = cuda.grid(1)
    if r < out.shape[0] // n:
        k = r * n
        for j in range(n):
            if x[r * n + j] > 0.0:
                out[k] = x[r * n + j] * x[r * n + j]
                k += 1
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(shapes={"x": (12,), "out": (12,)}, values={"n": 4}))
