"""Windows that are clamped to their array: slices of an array whose edges are repeated, each term written once."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

HEAD = """__global__ void f(const float *in, float *out, int w, int h, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float c = in[y * w + x], num = 0.0f, den = 0.0f;
"""
LOOPS = "for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++) {"
WEIGHTS = "float g = expf(-(v - c) * (v - c) * s); num += g * v; den += g; }"
BODIES = {
    "a box": f"{LOOPS} num += in[min(max(y + i, 0), h - 1) * w + max(min(x + j, w - 1), 0)]; }} den = 25.0f;",
    "by values": "for (int i = -1; i <= 1; i++) for (int j = -2; j <= 2; j++) {"
    f"float v = in[min(max(y + i, 0), h - 1) * w + min(max(x + j, 0), w - 1)]; {WEIGHTS}",
    "three by three": "for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++) {"
    f"float v = in[min(max(y + i, 0), h - 1) * w + min(max(x + j, 0), w - 1)]; {WEIGHTS}",
    "along rows": f"for (int j = -3; j < 8; j++) {{float v = in[y * w + min(max(x + j, 0), w - 1)]; {WEIGHTS}",
    "far on": f"for (int j = 0; j < 12; j++) {{float v = in[y * w + min(max(x + 2 * j - 7, 0), w - 1)]; {WEIGHTS}",
}


def translated(body):
    done = pipeline.translate(HEAD + body + " out[y * w + x] = num / den; }", "k.cu")
    assert done.raised == ("f",), [d.reason for d in done.diagnostics]
    return done


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.long_cases("far on", "by values", "along rows")
def test_values_and_gradients(name):
    done = translated(BODIES[name])
    assert 'mode="edge"' in done.text and "jnp.minimum" not in done.text
    assert "for " in done.text and len(done.text.split("\n")) < 60
    reports, findings = verified(done, pipeline.Request())
    assert not findings and not [r for r in reports if r.failures]


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 2), (0, 3), (0, 0)])
def test_small_images(shape):
    """Rims are wider than the image; an image without cells has no edge."""
    h, w = shape
    a = np.random.default_rng(0).random(h * w, dtype=np.float32)
    got = load_module(translated(BODIES["a box"]).text).f(a, np.zeros_like(a), w, h, 1.0)
    if not a.size:
        assert got.size == 0
        return
    wide = np.pad(a.reshape(h, w), 2, mode="edge")
    wanted = sum(wide[i : i + h, j : j + w] for i in range(5) for j in range(5)) / 25
    np.testing.assert_allclose(got, wanted.ravel(), rtol=1e-5)


@pytest.mark.parametrize(
    "clamp",
    ["min(max(x + j, 1), w - 1)", "min(max(x + j, 0), h - 1)", "min(max(x * j, 0), w - 1)"],
)
def test_other_clamps_stay_gathers(clamp):
    """Not the first cell, another size, no window."""
    source = HEAD + f"for (int j = -2; j <= 2; j++) num += in[y * (w + h) + {clamp}]; out[y * w + x] = num; }}"
    text = pipeline.translate(source, "k.cu").text
    assert "def f" in text and 'mode="edge"' not in text


@pytest.mark.parametrize(("radius", "edges"), [("k.shape[0] // 2", True), ("x.shape[0] // 9", False)])
def test_a_mask_whose_extent_is_an_arrays(radius, edges):
    source = f"""from numba import cuda
@cuda.jit
def f(x, k, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        r = {radius}
        s = 0.0
        for a in range(k.shape[0]):
            s += k[a] * x[min(max(i + a - r, 0), x.shape[0] - 1)]
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    assert ('mode="edge"' in done.text) == edges and ("dynamic_slice" in done.text) == edges
    for n, taps in ((9, 3), (2, 5), (4, 0)):
        ((report,), _) = verified(done, pipeline.Request(shapes={"x": (n,), "k": (taps,), "y": (n,)}))
        assert report.ok, report.failures


def test_a_term_that_gathers_is_no_function():
    """A hundred terms with index arrays of their own would be compiled one by one."""
    source = """__global__ void f(const float *x, const int *p, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
        float s = 0.0f;
        for (int k = 0; k < 40; k++) { float v = x[p[i] + k]; s += v * expf(v); }
        y[i] = s; }"""
    text = pipeline.translate(source, "k.cu").text
    assert "def term" not in text and "jnp.sum" in text


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 1)])
def test_arrays_of_two_axes_without_elements(shape):
    """The edge of an image without columns cannot be repeated: nothing is stored."""
    source = """from numba import cuda
@cuda.jit
def f(a, b, n, m):
    i, j = cuda.grid(2)
    if i < n and j < m:
        s = 0.0
        for d in range(-2, 3):
            s += a[i, min(max(j + d, 0), m - 1)]
        b[i, j] = s
"""
    a = np.ones(shape, np.float32)
    got = load_module(pipeline.translate(source, "k.py").text).f(a, np.zeros_like(a), *shape)
    np.testing.assert_array_equal(got, 5 * a)


SIDES = {  # the neighbours of a cell, of the edge itself where there is none; whether they share one padded array
    "all four": ("num = in[max(y - 1, 0) * w + x] + in[min(y + 1, h - 1) * w + x]"
                 " + in[y * w + max(x - 2, 0)] * in[y * w + min(x + 1, w - 1)];", True),
    "two": ("num = in[max(y - 1, 0) * w + x] - c * in[y * w + max(x - 1, 0)];", True),
    "along one axis": ("num = in[y * w + min(x + 1, w - 1)] - c * in[y * w + max(x - 1, 0)];", False),
    "up to another end": ("num = in[max(y - 1, 0) * w + x] - c * in[y * w + min(x + 1, w - 2)];", False),
}  # fmt: skip


@pytest.mark.parametrize("name", SIDES)
def test_neighbours_along_several_axes_share_a_padded_array(name):
    body, shared = SIDES[name]
    done = translated(body + " den = 1.5f;")
    assert ("in_padded = jnp.pad(" in done.text) == shared, done.text
    for h, w in ((3, 4), (1, 2)):
        request = pipeline.Request(shapes={"in": (h * w,), "out": (h * w,)}, values={"h": h, "w": w, "s": 1.0})
        reports, findings = verified(done, request)
        assert not findings and not [r for r in reports if r.failures]


FACES = {
    "an end of its own on each side": ("n + 1", "u[min(i, n - 1)] - 2.0 * u[max(i - 1, 0)]"),
    "further on": ("n + 1", "u[min(i + 1, n - 1)] * u[max(i - 2, 0)]"),
    "both ends of one load": ("n + 4", "u[min(max(i - 2, 0), n - 1)]"),
    "the other way about": ("n + 3", "u[max(min(i - 1, n - 1), 0)]"),
    "an end that is not reached": ("n + 1", "u[min(max(i - 1, 0), n + 3)]"),
}


@pytest.mark.parametrize("name", FACES)
@pytest.mark.long_cases("the other way about", "an end that is not reached")
def test_more_places_than_cells(name):
    """Faces of cells, ghosts: an array of just the cells that are read is enough."""
    count, value = FACES[name]
    source = f"def f(u, y, n):\n    for i in range({count}):\n        y[i] = {value}\n"
    done = pipeline.translate(source, "k.py")
    assert 'mode="edge"' in done.text and "arange" not in done.text, done.text
    for n, more in ((5, 0), (5, 6), (2, 1), (1, 0)):
        shapes = {"u": (n + more,), "y": (n + int(count[-1]),)}
        reports, findings = verified(done, pipeline.Request(shapes=shapes, values={"n": n}))
        assert not findings and not [r for r in reports if r.failures], (n, more, done.text)


@pytest.mark.parametrize("value", ["u[min(i - 1, n - 1)]", "u[max(i - 1, 1)]", "u[min(i + m, n - 1)]"])
def test_what_is_clamped_otherwise_stays_as_it_is(value):
    source = f"def f(u, y, n, m):\n    for i in range(n + 1):\n        y[i] = {value}\n"
    done = pipeline.translate(source, "k.py")
    assert done.text is None or 'mode="edge"' not in done.text, done.text


OF_NOTHING = {
    "f.py": """
def f(u, n):
    s = 0.0
    for i in range(n):
        s += u[max(i - 1, 0)] * u[min(i + 1, n - 1)]
    return s
""",
    "f.cu": """
__global__ void f(const float *u, float *out, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += u[max(i - 1, 0)] * u[min(i + 1, n - 1)];
    out[0] = s;
}
""",
}


@pytest.mark.parametrize("file", OF_NOTHING)
def test_a_sum_over_the_edges_of_nothing(file):
    done = pipeline.translate(OF_NOTHING[file], file)
    assert done.text is not None and 'mode="edge"' in done.text, done.text
    f = load_module(done.text).f
    for n in (0, 1, 2, 5):
        u = np.arange(2, n + 2, dtype=np.float32)
        out = () if file == "f.py" else (np.zeros(1, np.float32),)
        i = np.arange(n)
        expected = (u[np.maximum(i - 1, 0)] * u[np.minimum(i + 1, n - 1)]).sum()
        assert np.ravel(f(u, *out, n))[0] == pytest.approx(expected), (n, done.text)


def test_what_returns_early_asks_no_more():
    source = """
def f(u, out):
    for i in range(len(u)):
        out[i] = u[max(i - 1, 0)]
"""
    text = pipeline.translate(source, "f.py").text
    assert text is not None and 'mode="edge"' in text and "constant" not in text, text
    assert np.array_equal(load_module(text).f(np.zeros(0), np.ones(2)), np.ones(2))
