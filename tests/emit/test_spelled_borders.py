"""Borders that are clamped by choices, in whatever spelling, and neighbours that data choose.

The clamps are compared with the text of ``max(0, min(g, w - 1))``, which tests/emit/test_edges.py verifies; what is new
is run against the interpreter.
"""

import pytest

from kraise import pipeline
from tests.checks import verified

ROW = """__global__ void blur(const float* u, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0;
    for (int k = -2; k <= 2; k++) {
        int g = x + k;
        CLAMP
        s += u[y * w + g];
    }
    out[y * w + x] = s;
}
"""
TILE = """__global__ void blur(const float* u, float* out, int w, int h) {
    __shared__ float s[8][8 + 4];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int row = NEAREST;
    for (int c = threadIdx.x; c < 8 + 4; c += 8) {
        int g = blockIdx.x * 8 + c - 2;
        CLAMP
        s[threadIdx.y][c] = u[row * w + g];
    }
    __syncthreads();
    if (x < w && y < h) out[y * w + x] = s[threadIdx.y][threadIdx.x] - s[threadIdx.y][threadIdx.x + 4];
}
"""
PLAIN = "g = max(0, min(g, w - 1));"
SPELLED = [
    "g = g < 0 ? 0 : (g >= w ? w - 1 : g);",
    "if (g < 0) g = 0; if (g >= w) g = w - 1;",
    "if (g > w - 1) g = w - 1; if (g < 0) g = 0;",
    "if (g < 0) g = 0; else if (g > w - 1) g = w - 1;",
]


def text_of(source):
    done = pipeline.translate(source, "k.cu")
    assert done.text and not [d for d in done.diagnostics if d.severity == "error"], done.diagnostics
    return done.text


def code(text):
    """The statements, without the docstring and the lines of the source."""
    return [line.split("  #")[0] for line in text.split('"""')[4].splitlines()]


@pytest.mark.parametrize("clamp", SPELLED)
def test_a_clamp_by_choices_is_edge_padding(clamp):
    assert 'mode="edge"' in text_of(ROW.replace("CLAMP", PLAIN))
    assert code(text_of(ROW.replace("CLAMP", clamp))) == code(text_of(ROW.replace("CLAMP", PLAIN)))


@pytest.mark.parametrize("row", ["min(y, h - 1)", "y < h ? y : h - 1"])
def test_a_tile_that_is_staged_through_clamps_is_edge_padding(row):
    text = text_of(TILE.replace("CLAMP", SPELLED[0]).replace("NEAREST", row))
    assert 'mode="edge"' in text and "clip" not in text and "where(" not in text, text


@pytest.mark.parametrize(
    "clamp", ["if (g < 2) g = 0; if (g >= w) g = w - 1;", "if (g < 0) g = 1; if (g >= w) g = w - 1;"]
)
def test_other_choices_are_no_edge(clamp):
    source = ROW.replace("CLAMP", clamp)
    assert 'mode="edge"' not in text_of(source)
    done = pipeline.translate(source, "k.cu")
    ((report,), _) = verified(done, pipeline.Request(shapes={"u": (35,), "out": (35,)}, values={"w": 7, "h": 5}))
    assert report.ok, report.failures


NEXT = """__global__ void step(const float* u, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int o = y * w + x, left = o - 1, right = o + 1, above = o - w, below = o + w;
    if (x == 0) left += LEFT;
    if (x == w - 1) right--;
    if (y == 0) above += ABOVE;
    if (y == h - 1) below -= w;
    out[o] = u[left] + 2 * u[right] + 3 * u[above] + 4 * u[below];
}
"""


def stepped(left, above):
    done = pipeline.translate(NEXT.replace("LEFT", left).replace("ABOVE", above), "k.cu")
    for w, h in ((5, 7), (2, 2)):
        request = pipeline.Request(shapes={"u": (w * h + 2,), "out": (w * h,)}, values={"w": w, "h": h})
        ((report,), _) = verified(done, request)
        assert report.ok, report.failures
    return done.text


def test_neighbours_that_equalities_keep_inside_are_edge_padding():
    text = stepped("1", "w")
    assert 'u_padded = jnp.pad(u2, 1, mode="edge")' in text and text.count("u_padded[") == 4, text
    assert text.count("mode=") == 1 and "where(" not in text and "arange" not in text, text


def test_a_neighbour_that_goes_elsewhere_is_no_edge():
    text = stepped("2", "w + 1")
    assert 'u_padded = jnp.pad(u2, ((0, 1), (0, 1)), mode="edge")' in text and text.count("u_padded[") == 2, text
    assert text.count("mode=") == 1, text


CHOSEN = """__global__ void steepest(const float* u, const float* a, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    float v = a[y * w + x];
    int dx, dy;
    if (v < -0.5f) { dx = 1; dy = 0; }
    else if (v < 0.0f) { dx = 1; dy = 1; }
    else if (v < 0.5f) { dx = 0; dy = 1; }
    else { dx = -1; dy = FAR; }
    out[y * w + x] = u[(y + dy) * w + x + dx] - u[(y - dy) * w + x - dx];
}
"""


def test_neighbours_that_data_choose_are_in_rows():
    done = pipeline.translate(CHOSEN.replace("FAR", "1"), "k.cu")
    assert "u2[y[:, None] + choice, x + choice_2]" in done.text and "clip" not in done.text, done.text
    shapes = dict.fromkeys(("u", "a", "out"), (35,))
    ((report,), _) = verified(done, pipeline.Request(shapes=shapes, values={"w": 7, "h": 5}))
    assert report.ok, report.failures


def test_neighbours_beyond_the_guard_are_in_no_row():
    """``y + 2`` may be a row below the last: the place in the flat array is all that is known."""
    assert "u2[y[:, None] + choice" not in text_of(CHOSEN.replace("FAR", "2"))
