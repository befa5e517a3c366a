"""Shared arrays with gaps against bank conflicts."""

import numpy as np
import pytest

from kraise import pipeline

MIRROR = """
__global__ void f(const float *x, float *y) {{
  __shared__ float s[36];
  int t = threadIdx.x, first = blockIdx.x * 32;
  {store}
  __syncthreads();
  {load}
}}
"""
STORE = "s[t + (t >> 3)] = x[first + t];"
LOAD = "int r = 31 - t; y[first + t] = s[r + (r >> 3)];"
MOVED = "int r = 31 - t; r += r / 8; y[first + t] = s[r];"


def translated(store=STORE, load=LOAD):
    return pipeline.translate(MIRROR.format(store=store, load=load), "f.cu")


TWO = "s[t + ((t >> 3) + (t >> 2 * 2))] = x[first + t];"  # a second gap after every second one


@pytest.mark.parametrize(
    "store, load",
    [
        (STORE, LOAD),
        (STORE, MOVED),
        ("s[(int)threadIdx.x + (threadIdx.x >> 3)] = x[first + t];", LOAD),
        (STORE, "y[first + t] = s[31 - t + (31 - t) / 8];"),
        (TWO, "int r = 31 - t; r += (r >> 3) + (r >> 4); y[first + t] = s[r];"),
        (TWO, "int r = 31 - t; y[first + t] = t < 31 ? s[r + (r >> 4) + (r >> 3)] : s[0];"),
    ],
)
def test_gaps_close(store, load):
    done = translated(store, load)
    assert done.text is not None and "// 8" not in done.text and "arange" not in done.text, done.text
    scope = {}
    exec(done.text, scope)
    x = np.arange(96, dtype=np.float32)
    wanted = x.reshape(3, 32)[:, ::-1].ravel()
    assert np.array_equal(scope["f"](x, np.zeros(96, np.float32)), wanted)


@pytest.mark.parametrize(
    ("store", "load", "cell"),
    [
        (STORE, "y[first + t] = s[t];", lambda s, t: s[t]),  # one access without gaps: there is none to close
        (STORE, "y[first + t] = s[t + (t >> 4)];", lambda s, t: s[t + (t >> 4)]),
        (STORE, "int r = t; r += r >> 3; y[first + t] = s[r] + r;", lambda s, t: s[t + (t >> 3)] + t + (t >> 3)),
        (STORE, "y[first + t] = s[34];", lambda s, t: s[34]),
        (STORE, "y[first + t] = s[t + (t >> 3) + (t >> 4)];", lambda s, t: s[t + (t >> 3) + (t >> 4)]),
        (STORE, "y[first + t] = s[35 - 9];", lambda s, t: None),  # in a gap: nothing was stored there
    ],
)
def test_a_place_that_is_read_otherwise(store, load, cell):
    done = translated(store, load)
    x = np.arange(32, dtype=np.float32) + 1
    s = np.full(36, np.nan, np.float32)
    for t in range(32):
        s[t + (t >> 3)] = x[t]
    wanted = [cell(s, t) for t in range(32)]
    if done.text is None or None in wanted:
        return
    scope = {}
    exec(done.text, scope)
    got = np.asarray(scope["f"](x, np.zeros(32, np.float32)))
    known = ~np.isnan(wanted)
    assert np.array_equal(got[known], np.asarray(wanted, np.float32)[known])


def test_a_barrier_left_out_is_a_race():
    source = MIRROR.format(store=STORE, load=LOAD).replace("__syncthreads();", "")
    assert "KR201" in {d.code for d in pipeline.translate(source, "f.cu").diagnostics}


def test_two_gaps_that_meet_are_a_race():
    done = translated(store="s[t + (t >> 3)] = x[first + t]; s[t + 1 + (t >> 3)] = 0;")
    assert done.text is None
