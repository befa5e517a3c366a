"""Loads that find one number before an array and another behind it: rims of two values, or masks."""

import pytest

from kraise import pipeline
from tests.hostile.judge import judge

ROUND = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ {} }}"
WINDOW = "float s = {start}; for (int k = -2; k <= 2; k++) {{ int j = i + k; {body} }} y[i] = s;"
VALUES = {
    "choices": ("j < 0 ? 7.0f : j >= n ? -1.0f : x[j]", "constant_values=(7.0, -1.0)"),
    "the end first": ("j >= n ? -1.0f : j < 0 ? 7.0f : x[j]", "constant_values=(7.0, -1.0)"),
    "zero before": ("j < 0 ? 0.0f : j >= n ? -1.0f : x[j]", "constant_values=(0.0, -1.0)"),
    "zero behind": ("j < 0 ? 7.0f : j >= n ? 0.0f : x[j]", "constant_values=(7.0, 0)"),
    "one for both": ("j < 0 || j >= n ? 7.0f : x[j]", "constant_values=7.0"),
    "further out": ("j < -1 ? 7.0f : j < 0 || j >= n ? -1.0f : x[j]", "jnp.where("),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_window_over_both_ends(name):
    """Both rims held the first number."""
    value, text = VALUES[name]
    body = ROUND.format(WINDOW.format(start="0.0f", body=f"s += ({value}) * (k + 3.0f);"))
    source = f"__global__ void k(const float *x, float *y, int n) {{ {body} }}"
    assert text in pipeline.translate(source, "k.cu").text
    for n in (1, 2, 9):
        assert judge(source, "cu", f"x=f[{n}] y=f[{n}] n={n}", [((2,), (8,))]) == "right"


REST = {
    "largest": WINDOW.format(start="-9.0f", body="s = fmaxf(s, j < 0 ? -5.0f : j >= n ? 5.0f : x[j]);"),
    "largest of what is not behind": WINDOW.format(start="-9.0f", body="if (j < n) s = fmaxf(s, j < 0 ? 0.0f : x[j]);"),
    "smallest of a nest": WINDOW.format(
        start="9.0f", body="float v = 3.0f; if (j >= 0) {{ if (j < n) v = x[j]; else v = -3.0f; }} s = fminf(s, v);"
    ),
    "one place": "int j = i + m; y[i] = j < 0 ? 1.0f : j >= n ? 2.0f : x[j];",
    "a tile": "float v = i - 1 < 0 ? 100.0f : x[i - 1]; y[i] = v + (i + 1 >= n ? -100.0f : x[i + 1]);",
}


@pytest.mark.parametrize("name", REST)
def test_other_uses_of_two_ends(name):
    body = REST[name].replace("{{", "{").replace("}}", "}")
    source = f"__global__ void k(const float *x, float *y, int n, int m) {{ {ROUND.format(body)} }}"
    assert judge(source, "cu", "x=f[9] y=f[9] n=9 m=3", [((2,), (8,))]) == "right"


def test_two_ends_of_two_axes():
    """A corner belongs to one of four rims: each keeps its mask."""
    index = "int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;"
    read = "c < 0 ? 1.0f : c >= w ? 2.0f : r < 0 ? 3.0f : r >= h ? 4.0f : x[r * w + c]"
    loop = f"for (int k = -1; k <= 1; k++) {{ int c = i + k, r = j - k; s += ({read}) * (k + 2.0f); }}"
    body = f"{index} if (i < w && j < h) {{ float s = 0.0f; {loop} y[j * w + i] = s; }}"
    source = f"__global__ void k(const float *x, float *y, int w, int h) {{ {body} }}"
    assert judge(source, "cu", "x=f[20] y=f[20] w=5 h=4", [((2, 2), (4, 4))]) == "right"


def test_a_rim_of_the_largest_unsigned_number():
    """A weak integer cannot hold it: the module failed when it was called."""
    body = "unsigned a = i < n ? x[i] : 0xffffffffu; for (int d = 16; d > 0; d >>= 1) "
    body += "a = min(a, __shfl_down_sync(0xffffffff, a, d)); if (i < n && threadIdx.x % 32 == 0) y[i / 32] = a;"
    source = f"__global__ void k(const unsigned *x, unsigned *y, int n) {{ {ROUND.partition('if')[0]} {body} }}"
    assert judge(source, "cu", "x=u[70] y=u[3] n=70", [((2,), (64,))]) == "right"
