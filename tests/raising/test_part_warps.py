"""Lanes of a part of a warp that have a row of their own: eight lanes a row are an axis of eight."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options

ROWS = """
__global__ void f(const float *A, float *y, int m, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 8, lane = t % 8;
    if (row >= m) return;
    float s = 0.f;
    for (int c = lane; c < n; c += 8) s += A[row * n + c];
    BODY
}"""
FIRST = "if (lane == 0) y[row] = s;"
SUMS = {
    "xor": "for (int o = 4; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o); y[row] = s;",
    "down, the whole warp": "for (int o = 4; o > 0; o >>= 1) s += __shfl_down_sync(~0u, s, o); " + FIRST,
    "down, eight wide": "for (int o = 4; o > 0; o >>= 1) s += __shfl_down_sync(~0u, s, o, 8); " + FIRST,
    "written out": "s += __shfl_xor_sync(~0u, s, 4); s += __shfl_xor_sync(~0u, s, 2); "
    "s += __shfl_xor_sync(~0u, s, 1); " + FIRST,
}
BEYOND = {
    "two rows": "for (int o = 8; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o); " + FIRST,
    "what lane 0 of the warp holds": "for (int o = 4; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o); "
    "s = __shfl_sync(~0u, s, 0); " + FIRST,
    "parts of the sum": "for (int o = 4; o > 0; o >>= 1) s += __shfl_down_sync(~0u, s, o); y[row * 8 + lane] = s;",
    "a neighbour in the next row": "y[row * 8 + lane] = __shfl_down_sync(~0u, s, 1);",
    "votes of the warp": "y[row] = __popc(__ballot_sync(~0u, s > 0.f));",
    "sixteen wide": "for (int o = 8; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o, 16); " + FIRST,
}


def raised(source):
    done = pipeline.translate(source, "k.cu", Options())
    assert not done.diagnostics, done.diagnostics
    found: dict = {}
    exec(done.text, found)
    return done.text, found


@pytest.mark.parametrize("name", SUMS)
def test_rows_of_eight_lanes(name):
    text, found = raised(ROWS.replace("BODY", SUMS[name]))
    assert ".sum(axis=1)" in text and "grid" not in text
    A = np.arange(5 * 11, dtype=np.float32)
    np.testing.assert_array_equal(found["f"](A, np.zeros(6, np.float32), 5, 11)[:5], A.reshape(5, 11).sum(axis=1))


@pytest.mark.parametrize("name", BEYOND)
def test_exchanges_with_other_rows_are_refused(name):
    done = pipeline.translate(ROWS.replace("BODY", BEYOND[name]), "k.cu", Options())
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR206"}


def test_what_the_first_of_the_eight_holds():
    down = "for (int o = 4; o > 0; o >>= 1) s += __shfl_down_sync(~0u, s, o, 8); s = __shfl_sync(~0u, s, 0, 8); "
    text, found = raised(ROWS.replace("BODY", down + "for (int c = lane; c < n; c += 8) y[row * n + c] = s;"))
    A = np.arange(21, dtype=np.float32)
    wanted = np.repeat(A.reshape(7, 3).sum(axis=1), 3)
    np.testing.assert_array_equal(found["f"](A, np.zeros(21, np.float32), 7, 3), wanted)


def test_running_sums_of_the_eight():
    up = """s = A[t];
    for (int o = 1; o < 8; o <<= 1) { float u = __shfl_up_sync(~0u, s, o); if (lane >= o) s += u; }
    y[t] = s;"""
    text, found = raised(ROWS.replace("BODY", up))
    assert "jnp.cumsum" in text
    A = np.arange(24, dtype=np.float32)
    np.testing.assert_array_equal(
        found["f"](A, np.zeros(24, np.float32), 3, 8), np.cumsum(A.reshape(3, 8), axis=1).ravel()
    )


SPARSE = ROWS.replace("const float *A", "const float *A, const int *ptr").replace(
    "for (int c = lane; c < n; c += 8) s += A[row * n + c];",
    "for (int k = ptr[row] + lane; k < ptr[row + 1]; k += 8) s += A[k];",
)


def test_sparse_rows():
    text, found = raised(SPARSE.replace("BODY", SUMS["written out"]))
    assert "segment_sum" in text and "loop" not in text
    ptr, A = np.array([0, 3, 3, 20, 21], np.int32), np.arange(21, dtype=np.float32)
    wanted = [A[a:b].sum() for a, b in zip(ptr, ptr[1:], strict=False)]
    np.testing.assert_array_equal(found["f"](A, ptr, np.zeros(4, np.float32), 4, 0), wanted)


FOURS = """
__global__ void fours(const float *x, float *y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[t];
    v = fmaxf(v, __shfl_xor_sync(~0u, v, 2));
    v = fmaxf(v, __shfl_xor_sync(~0u, v, 1));
    if (t % 4 == 0) y[t / 4] = v;
}"""


def test_parts_are_axes_where_whole_warps_would_do_too():
    text, found = raised(FOURS)
    assert ".max(axis=1)" in text
    x = np.random.default_rng(1).normal(size=64).astype(np.float32)
    np.testing.assert_array_equal(found["fours"](x, np.zeros(16, np.float32)), x.reshape(16, 4).max(axis=1))


IN_MEMORY = """
__global__ void f(const float *A, float *y, int m, int n) {
    __shared__ volatile float part[64];
    int t = threadIdx.x, row = (blockIdx.x * 64 + t) / 8, lane = t & 7;
    if (row >= m) return;
    float s = 0.f;
    for (int c = lane; c < n; c += 8) s += A[row * n + c];
    part[t] = s;
    if (lane < 4) part[t] += part[t + 4];
    if (lane < 2) part[t] += part[t + NEXT];
    if (lane < 1) part[t] += part[t + 1];
    if (lane == 0) y[row] = part[t];
}"""


def test_eight_lanes_that_add_up_in_volatile_memory():
    text, found = raised(IN_MEMORY.replace("NEXT", "2"))
    assert ".sum(axis=1)" in text and "grid" not in text
    A = np.arange(5 * 11, dtype=np.float32)
    np.testing.assert_array_equal(found["f"](A, np.zeros(6, np.float32), 5, 11)[:5], A.reshape(5, 11).sum(axis=1))


@pytest.mark.parametrize("change", [("volatile ", ""), ("NEXT", "8")])
def test_without_steps_or_into_the_next_row_it_is_a_race(change):
    source = IN_MEMORY.replace(*change).replace("NEXT", "2")
    done = pipeline.translate(source, "k.cu", Options())
    assert done.text is None and {d.code for d in done.diagnostics} <= {"KR201", "KR202", "KR206"}


SCAN = """
__global__ void f(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int d = 1; d < 8; d *= 2) {
        float o = __shfl_up_sync(~0u, v, d, WIDTH);
        if (threadIdx.x % 8 >= d) v += o;
    }
    y[i] = v;
}"""


@pytest.mark.parametrize("width", [8, 16])
def test_scans_of_eight_lanes(width):
    text, found = raised(SCAN.replace("WIDTH", str(width)))
    assert "jnp.cumsum(x2, axis=1)" in text and "where" not in text
    x = np.arange(64, dtype=np.float32)
    got = found["f"](x, np.zeros(64, np.float32), grid=2, block=32)
    np.testing.assert_array_equal(got, np.cumsum(x.reshape(8, 8), axis=1).ravel())
