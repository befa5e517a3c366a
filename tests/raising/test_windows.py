"""Loops over windows that move with an index and are cut off at the ends of what they look at."""

import pytest

from kraise import pipeline
from tests.checks import agrees
from tests.hostile.judge import judge

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
CUT = "for (int k = max(i - 3, 0); k < min(i + 4, n); k++)"
WINDOWS = {
    "to the last": "float s = 0; for (int k = max(i - 3, 0); k <= min(i + 2, n - 1); k++) s += x[k]; y[i] = s;",
    "of choices": "int l = i - 3; if (l < 0) l = 0; int r = i + 2; if (r >= n) r = n - 1; float s = 0;"
    " for (int k = l; k <= r; k++) s += x[k]; y[i] = s / (r - l + 1);",
    "a largest": f"float m = -1e30f; {CUT} m = fmaxf(m, x[k]); y[i] = m;",
    "where it is": f"float m = -1e30f; int b = -1; {CUT} if (x[k] > m) {{ m = x[k]; b = k; }} y[i] = b;",
    "left early": f"float s = 0; {CUT} {{ if (x[k] > 1.5f) break; s += x[k]; }} y[i] = s;",
    "without its middle": f"float s = 0; {CUT} {{ if (k == i) continue; s += x[k] * (k - i); }} y[i] = s;",
    "read afterwards": "int k; float s = 0; for (k = max(i - 3, 0); k < min(i + 4, n); k++) s += x[k]; y[i] = s + k;",
    "downwards": "float s = 0; for (int k = min(i + 3, n - 1); k >= max(i - 2, 0); k--) s = s * 0.5f + x[k]; y[i] = s;",
    "a recurrence": f"float s = 0; {CUT} s = s * 0.5f + x[k]; y[i] = s;",
    "every second": "float s = 0; for (int k = i; k < min(i + 9, n); k += 2) s += x[k]; y[i] = s;",
    "of three ends": "float s = 0;"
    " for (int k = max(i - 3, 0); k < min(min(i + 4, n), 2 * i); k++) s += x[k]; y[i] = s;",
    "none at all": "float s = 1; for (int k = i + 2; k < i; k++) s += x[k]; y[i] = s;",
    "to itself": "float s = 0; for (int k = max(0, i - 3); k < i; k++) s += x[k]; y[i] = s;",
    "accumulated": "for (int k = max(i - 1, 0); k < min(i + 2, n); k++) atomicAdd(&y[k], x[i]);",
}


def source(body, guard="i < n"):
    return f"__global__ void k(const float *x, float *y, int n) {{ {INDEX} if ({guard}) {{ {body} }} }}"


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    for n in (2, 17):
        assert judge(source(WINDOWS[name]), "cu", f"y=f[{n}] x=f[{n}] n={n}", [((3,), (8,))]) == "right"


@pytest.mark.parametrize("name", ["to the last", "of choices", "a largest", "to itself"])
def test_a_window_is_not_a_mask_over_the_whole(name):
    text = pipeline.translate(source(WINDOWS[name]), "k.cu").text
    assert text is not None and "jnp.tri" not in text and "for " not in text.split('"""')[-1]


def test_rows_that_windows_store_to_must_not_overlap():
    assert (
        judge(
            source("for (int k = 3 * i; k < min(3 * i + 3, n); k++) y[k] = x[k] * i;", "3 * i < n"),
            "cu",
            "y=f[17] x=f[17] n=17",
            [((1,), (8,))],
        )
        == "right"
    )
    assert judge(source("for (int k = i; k < min(i + 2, n); k++) y[k] = x[i];"), "cu", "", []) == "refused KR201"


def test_an_index_bound_within_a_short_window_is_its_own():
    """What a mask asks of any lane of the block stays that where the sum over the block's lanes is written out."""
    source = """
from numba import cuda, float32
@cuda.jit
def f(res, out):
    n = res.size
    i = cuda.grid(1)
    tile = cuda.shared.array(8, float32)
    lane = cuda.threadIdx.x
    tile[lane] = (out[i, i] ** 1.5 if out[i, i] > 0.0 else 0.125 * i) if i < n else 0.0
    cuda.syncthreads()
    for l in range(3):
        if lane % (2 * 2**l) == 0:
            tile[lane] = max(tile[lane], tile[lane + 2**l])
        cuda.syncthreads()
    total = tile[0]
    if i < n:
        res[i] = (out[i, i] / (1.5 + total * total) if 0.125 * i < 0.5 else res[i]) - res[i]
"""
    done = pipeline.translate(source, "f.py")
    assert done.text and not done.diagnostics
    agrees(done, pipeline.Request(shapes={"res": (7,), "out": (7, 7)}))


POOL = "int j = i % (w / 2), c = i / (w / 2) % h; float m = -1e30f;"
DIGITS = {  # windows that begin at digits of an index whose sizes say nothing of each other
    "a largest": POOL + " for (int p = 2 * j; p < 2 * j + 2; p++) m = fmaxf(m, x[c * w + p]); y[i] = m;",
    "where it is": POOL + " int b = -1; for (int p = 2 * j; p < 2 * j + 2; p++)"
    " if (x[c * w + p] > m) { m = x[c * w + p]; b = p; } y[i] = m * b;",
    "downwards": "float s = 0; int c = i / w % h; for (int p = c + 2; p >= c; p--) s = 0.5f * s + x[p]; y[i] = s;",
}


@pytest.mark.parametrize("name", DIGITS)
def test_windows_that_begin_at_digits(name):
    text = source(DIGITS[name]).replace("int n)", "int n, int w, int h)")
    assert judge(text, "cu", "y=f[13] x=f[24] n=13 w=6 h=4", [((2,), (8,))]) == "right"


def test_windows_at_digits_may_not_store_to_one_place():
    text = source("int c = i / w; for (int p = 2 * c; p < 2 * c + 2; p++) y[p] = x[i];")
    text = text.replace("int n)", "int n, int w)")
    assert judge(text, "cu", "", []).startswith("refused KR20")
