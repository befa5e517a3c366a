"""What a cell and the next one both compute is computed once, over one place more; other values stay as they are."""

import pytest

from kraise import pipeline
from tests.checks import agrees

PAIRS = {
    "a flow": "y[i] = k[i] * (x[i + 1] - x[i]) - k[i - 1] * (x[i] - x[i - 1])",
    "differences": "a = x[i] - x[i - 1]\n        b = x[i + 1] - x[i]\n        y[i] = a * b + a * a - b * b / 3",
    "a load that only a mask keeps inside": "y[i] = x[i] * k[i] - (x[i + 1] * k[i + 1] if x[i] * k[i] > 0.2 else 0.0)",
    "under masks": "y[i] = (k[i] / x[i] if x[i] > 0.2 else 0.0) - (k[i + 1] / x[i + 1] if x[i + 1] > 0.2 else 0.0)",
    "in another order": "y[i] = k[i] * k[i + 1] / (k[i] + k[i + 1]) * (x[i + 1] - x[i])"
    " - 2.0 * k[i] * k[i - 1] / (k[i] + k[i - 1]) * (x[i] - x[i - 1])",
    "of either sign": "a = x[i - 1] - x[i]\n        b = x[i + 1] - x[i]\n        y[i] = a * a * a + b * b * b",
    "magnitudes": "y[i] = abs(x[i - 1] - x[i]) / k[i] - abs(x[i] - x[i + 1]) / k[i]",
}
OTHERS = {
    "both beyond what is known to be there": "y[i] = 0.0\n        if i < n - 2:\n            "
    "y[i] = (k[i + 1] / x[i] if x[i] > 0.2 else 0.0) + (k[i + 2] / x[i + 1] if x[i + 1] > 0.2 else 0.0)",
    "two apart": "y[i] = k[i + 1] * x[i + 1] - k[i - 1] * x[i - 1]",
    "unlike": "y[i] = k[i] * (x[i + 1] - x[i]) - k[i - 1] * (x[i + 1] - x[i - 1])",
    "one load": "y[i] = x[i] * x[i] - x[i - 1] * x[i - 1]",
    "once": "y[i] = x[i + 1] - 2 * x[i] + x[i - 1]",
    "with the index": "y[i] = i * (x[i + 1] - x[i]) - i * (x[i] - x[i - 1]) * x[i]",
}


@pytest.mark.parametrize("name", [*PAIRS, *OTHERS])
def test_along_a_row(name):
    source = f"def f(x, k, y, n):\n    for i in range(1, n - 1):\n        {(PAIRS | OTHERS)[name]}\n"
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    for size in (7, 3, 2, 1, 0):
        request = pipeline.Request(shapes=dict.fromkeys("xky", (size,)), values={"n": size})
        agrees(done, request)
    code = done.text.split('"""')[-1]
    assert ("[:-1]" in code and "[1:]" in code) == (name in PAIRS or name == "with the index"), code


def test_along_columns_of_a_matrix_in_a_loop():
    source = """
def f(u, k, out, steps):
    h, w = u.shape
    for t in range(steps):
        for i in range(h):
            for j in range(1, w - 1):
                out[i, j] = k[i] * (u[i, j + 1] - u[i, j]) ** 3 - k[i] * (u[i, j] - u[i, j - 1]) ** 3
        for i in range(h):
            for j in range(1, w - 1):
                u[i, j] += 0.1 * out[i, j]
"""
    done = pipeline.translate(source, "k.py")
    for width in (6, 2, 0):
        request = pipeline.Request(shapes={"u": (4, width), "k": (4,), "out": (4, width)}, values={"steps": 3})
        agrees(done, request)
    assert "[:, :-1]" in done.text and "[:, 1:]" in done.text, done.text


ENDS = {  # each cell has a neighbour but the ends
    "springs": "a += k[i - 1] * (x[i] - x[i - 1])|a -= k[i] * (x[i + 1] - x[i])|y[i] = a",
    "one end": "a += k[i] * (x[i] - x[i - 1])|a = 2 * a|y[i] = a",
    "under data, too": "a += k[i - 1] * (x[i] - x[i - 1])|a -= k[i] * (x[i + 1] - x[i])|y[i] = a if x[i] > 1 else 0.0",
    "unlike": "a += k[i - 1] * (x[i] - x[i - 1])|a -= k[i] * (x[i + 1] - 2 * x[i])|y[i] = a",
    "a place that the source leaves out": "a += k[i - 1] * (x[i] - x[i - 1])|a -= k[i] * (x[i + 1] - x[i])|y[i] = a",
}


@pytest.mark.parametrize("name", ENDS)
def test_where_a_cell_has_the_neighbour(name):
    left, right, last = ENDS[name].split("|")
    above = "i > 1" if name == "a place that the source leaves out" else "i > 0"
    source = f"""from numba import cuda
@cuda.jit
def f(x, k, y, n):
    i = cuda.grid(1)
    if i < n:
        a = 0.0
        if {above}:
            {left}
        if i < n - 1:
            {right}
        {last}
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    for size in (5, 1, 0):
        request = pipeline.Request(shapes=dict.fromkeys("xky", (size,)), values={"n": size})
        agrees(done, request)
    assert ("between_padded = jnp.pad(between, 1)" in done.text) == (name == "springs"), done.text
    if name == "springs":
        assert "where" not in done.text.split('"""')[-1]


def test_values_between_cells_where_one_has_all_neighbours_and_another_asks_data():
    source = """from numba import cuda
@cuda.jit
def f(x, k, wall, y, z, n):
    i = cuda.grid(1)
    if i < n:
        a = 0.0
        if i > 0:
            a += k[i - 1] * (x[i] - x[i - 1])
        if i < n - 1:
            a -= k[i] * (x[i + 1] - x[i])
        y[i] = a
        z[i] = 0.0 if wall[i] > 0.5 else a * a
"""
    for text, taken in ((source, True), (source.replace("        y[i] = a\n", ""), False)):
        done = pipeline.translate(text, "k.py")
        request = pipeline.Request(shapes=dict.fromkeys(["x", "k", "wall", "y", "z"], (6,)), values={"n": 6})
        agrees(done, request)
        assert ("between_padded" in done.text) == taken, done.text


def test_between_the_columns_of_a_matrix():
    source = """
__global__ void f(const float *u, const float *k, float *out, int h, int w) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= h || j >= w) return;
  float flow = 0.0f;
  if (j > 0) flow += k[i] * (u[i * w + j] - u[i * w + j - 1]);
  if (j + 1 < w) flow -= k[i] * (u[i * w + j + 1] - u[i * w + j]);
  out[i * w + j] = flow;
}
"""
    done = pipeline.translate(source, "k.cu")
    for h, w in ((3, 5), (2, 1)):
        request = pipeline.Request(shapes={"u": (h * w,), "out": (h * w,), "k": (h,)}, values={"h": h, "w": w})
        agrees(done, request)
    assert "between_padded[:, :w] - between_padded[:, 1 : w + 1]" in done.text, done.text


def test_what_both_places_share_is_written_once():
    source = (
        "__global__ void f(const float *u, const float *v, float *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n - 1) return;\n"
        "  float p = expf(u[i] * v[i]), q = expf(u[i + 1] * v[i + 1]);\n"
        "  y[i] = fmaxf(p + v[i] / (1.0f + p), q + v[i + 1] / (1.0f + q));\n}\n"
    )
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None and done.text.count("jnp.exp(") == 1, done.text
    request = pipeline.Request(shapes={"u": (5,), "v": (5,), "y": (5,)}, values={"n": 5})
    agrees(done, request)


FLUX = """def flux(a, b, p, q):
    s = max(abs(a) + p * p / a, abs(b) + q * q / b)
    return 0.5 * (a * a + b * b) - s * (b - a)

def f(x, k, y, n):
    for i in range(1, n - 1):
        y[i] = flux(x[i], x[i + 1], k[i], k[i + 1]) - flux(x[i - 1], x[i], k[i - 1], k[i])
"""
INLINE = """def f(x, k, y, n):
    for i in range(1, n - 1):
        s = max(abs(x[i]) + k[i] * k[i] / x[i], abs(x[i + 1]) + k[i + 1] * k[i + 1] / x[i + 1])
        r = max(abs(x[i - 1]) + k[i - 1] * k[i - 1] / x[i - 1], abs(x[i]) + k[i] * k[i] / x[i])
        y[i] = s * (x[i + 1] - x[i]) - r * (x[i] - x[i - 1])
"""


@pytest.mark.parametrize(("source", "shown"), [(FLUX, "flux_value[1:] - flux_value[:-1]"), (INLINE, "total[:-1]")])
def test_what_a_flux_is_made_of_at_both_cells(source, shown):
    done = pipeline.translate(source, "k.py")
    code = done.text.split('"""')[-1]
    assert shown in code and code.count("jnp.abs(") == (source is INLINE) and "jnp.maximum(" in done.text, code
    for size in (7, 3, 2, 1, 0):
        shapes = dict.fromkeys("xky", (size,))
        agrees(done, pipeline.Request(shapes=shapes, values={"n": size}), code)
