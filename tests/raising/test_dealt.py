"""Threads with several elements each: what is one index over all elements, and what is not."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = "__global__ void f(const float *x, float *y, int n, int m, float *z)"
ROUNDS = """
int s = blockIdx.x * blockDim.x * {times} + threadIdx.x;
for (int c = 0; c < {rounds}; c++) {{ int i = {at}; {body} }}
"""
AT = "s + c * blockDim.x"
MAP = "if (i < n) y[i] = 2 * x[i];"


def _text(body: str) -> str:
    done = pipeline.translate(f"{HEAD} {{ {body} }}", "f.cu")
    return done.text or "refused " + " ".join(sorted({d.code for d in done.diagnostics}))


def test_one_index_over_all():
    assert "y.at[:n].set(2.0 * x[:n])" in _text(ROUNDS.format(times=4, rounds=4, at=AT, body=MAP))


@pytest.mark.parametrize(
    ("times", "rounds", "at", "body"),
    [
        (4, 3, AT, MAP),  # elements are left out
        (3, 4, AT, MAP),  # elements are done twice
        (4, 4, "s + c * 2 * blockDim.x", MAP),
        (4, 4, AT, "if (i < n) y[i] = c * x[i];"),  # the round matters
        (4, 4, AT, "if (i < n) y[i] = threadIdx.x * x[i];"),  # the thread matters
        (4, 4, AT, "if (i < n) y[i] = x[i]; if (s < m) z[s] = 1;"),
        (4, 4, AT, "y[i] = x[i];"),  # nothing bounds it but the launch
    ],
)
def test_what_is_no_such_loop(times, rounds, at, body):
    text = _text(ROUNDS.format(times=times, rounds=rounds, at=at, body=body))
    assert "y.at[:n].set(" not in text


def test_what_is_stored_beside_the_loop():
    loop = ROUNDS.format(times=4, rounds=4, at=AT, body=MAP)
    assert "y.at[:n].set(2.0 * x[:n])" not in _text(f"if (threadIdx.x < m) z[threadIdx.x] = n; {loop}")


def test_overlapping_elements_are_a_race():
    body = "if (i < n) y[i] = x[i]; if (i + 1 < n) y[i + 1] = 0;"
    assert _text(ROUNDS.format(times=4, rounds=4, at=AT, body=body)).startswith("refused KR20")


HOST = """
__global__ void f(const float *x, float *y, int n) {
  int s = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  for (int c = 0; c < 4; c++) { int i = s + c * blockDim.x; if (i < n) y[i] = 2 * x[i]; }
}
void run(const float *x, float *y, int n) { f<<<(n + GRID) / DIV, 64>>>(x, y, n); }
"""


@pytest.mark.parametrize(("add", "div", "fits"), [(255, 256, True), (63, 64, True), (1023, 1024, False)])
def test_a_launch_in_the_file_covers_them(add, div, fits):
    done = pipeline.translate(HOST.replace("GRID", str(add)).replace("DIV", str(div)), "f.cu")
    assert "run" in done.raised and fits is not any("guard lets 250 through" in d.reason for d in done.diagnostics)


@pytest.mark.parametrize(
    ("stop", "whole"),
    [
        ("i < (t + 1) * m && i < n", True),
        ("i < n && i < t * m + m", True),
        ("i < (t + 1) * m + 1 && i < n", False),
        ("i < (t + 1) * m && i < n - t", False),
    ],
)
def test_parts_that_end_with_the_array(stop, whole):
    body = "int t = blockIdx.x * blockDim.x + threadIdx.x; for (int i = t * m; {}; i++) y[i] += 1;"
    assert ("y.at[:n].add(1.0)" in _text(body.format(stop))) == whole


PER = "(n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x)"


@pytest.mark.parametrize("kind", ["int", "unsigned", "size_t"])
def test_parts_of_all_threads_in_any_type(kind):
    body = f"{kind} t = blockIdx.x * blockDim.x + threadIdx.x, per = {PER}, a = t * per;"
    assert "y.at[:n].add(1.0)" in _text(body + f"for ({kind} i = a; i < a + per && i < n; i++) y[i] += 1;")
    less = body.replace("- 1)", "- 2)")
    assert "y.at[:n].add(1.0)" not in _text(less + f"for ({kind} i = a; i < a + per && i < n; i++) y[i] += 1;")


def test_parts_whose_elements_say_where_to_count():
    body = f"int t = blockIdx.x * blockDim.x + threadIdx.x, per = {PER}, a = t * per, b = min(a + per, n);"
    text = _text(body + "for (int i = a; i < b; i++) atomicAdd(&y[(int)x[i]], 1.0f);")
    assert "y.at[x[:n].astype(jnp.int32)].add(1.0)" in text
    assert ".add(1.0)" not in _text(body + "for (int i = a; i < b; i++) atomicAdd(&y[(int)x[i]], (float)t);")


NEIGHBOURS = "int t = blockIdx.x * blockDim.x + threadIdx.x; "


@pytest.mark.parametrize(
    ("body", "free"),
    [
        ("for (int k = 4 * t; k < min(4 * t + 4, n); k++) y[k] = x[k] * (k - 4 * t);", True),
        ("for (int j = 0; j < 4; j++) if (4 * t + j < n) atomicAdd(&y[4 * t + j], x[4 * t + j] * j);", True),
        ("for (int j = 0; j < 5; j++) if (4 * t + j < n) atomicAdd(&y[4 * t + j], x[4 * t + j] * j);", False),
        ("for (int j = 0; j < 4; j++) if (j < n) y[4 * t + j] = x[4 * t + j] * j;", False),
    ],
)
def test_a_guard_on_the_elements_bounds_the_threads(body, free):
    """The place among a thread's elements is asked for; each element is one thread's, or the launch has a say."""
    text = _text(NEIGHBOURS + body)
    assert ("grid" not in text) == free, text
    if free:
        f = load_module(text).f
        for n in (0, 1, 7, 8):
            x = np.arange(1, n + 1, dtype=np.float32)
            got = f(x, np.zeros(n, np.float32), n, 0, np.zeros(1, np.float32))
            np.testing.assert_array_equal(got, x * (np.arange(n) % 4))
