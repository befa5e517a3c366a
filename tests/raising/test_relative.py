"""Pairs of a running extremum and a sum relative to it, combined over the lanes of warps: softmax in one pass."""

import pytest

from kraise import pipeline
from tests.checks import agrees

WARP = """__global__ void f(const float *x, float *y, int rows, int cols) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    float m = -INFINITY, s = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        float v = x[row * cols + c];
        float n = fmaxf(m, v);
        s = s * expf(m - n) + expf(v - n);
        m = n;
    }
    for (int o = 16; o > 0; o >>= 1) {
        float m2 = __shfl_xor_sync(0xffffffff, m, o);
        float s2 = __shfl_xor_sync(0xffffffff, s, o);
        float n = fmaxf(m, m2);
        s = s * expf(m - n) + s2 * expf(m2 - n);
        m = n;
    }
    STORE
}
"""
ALL = "for (int c = lane; c < cols; c += 32) y[row * cols + c] = expf(x[row * cols + c] - m) / s;"
FIRST = "if (lane == 0) y[row] = m + logf(s);"
BLOCK = """__global__ void f(const float *x, float *y, int cols) {
    __shared__ float tops[32], sums[32];
    int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float m = -INFINITY, s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = x[row * cols + c];
        if (v > m) { s *= expf(m - v); m = v; }
        s += expf(v - m);
    }
    for (int o = 16; o > 0; o /= 2) {
        float m2 = __shfl_down_sync(~0u, m, o), s2 = __shfl_down_sync(~0u, s, o);
        float n = fmaxf(m2, m);
        s = expf(m2 - n) * s2 + s * expf(m - n);
        m = n;
    }
    if (lane == 0) { tops[warp] = m; sums[warp] = s; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < blockDim.x / 32; ++k) {
            float n = fmaxf(m, tops[k]);
            s = s * expf(m - n) + sums[k] * expf(tops[k] - n);
            m = n;
        }
        y[row] = m + logf(s);
    }
}
"""


def translated(text):
    done = pipeline.translate(text, "case.cu")
    assert done.text is not None, done.diagnostics
    return done


@pytest.mark.parametrize("start", ["-INFINITY", "-1e30f"])
@pytest.mark.parametrize("shuffle", ["xor", "down"])
def test_one_row_a_warp(shuffle, start):
    store = ALL if shuffle == "xor" else FIRST
    done = translated(WARP.replace("STORE", store).replace("shfl_xor", f"shfl_{shuffle}").replace("-INFINITY", start))
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text and ".at[row" not in done.text, done.text
    # two lanes that have met nothing make exp(-inf - -inf)
    assert ("cols >= 32 must hold" in done.text) == (start == "-INFINITY")


PAIR = """        float n = fmaxf(m, m2);
        s = s * expf(m - n) + s2 * expf(m2 - n);
        m = n;
"""
ARMS = {
    "one of both is scaled": """        if (m2 > m) { s *= expf(m - m2); m = m2; } else { s2 *= expf(m2 - m); }
        s += s2;
""",
    "both in their arms": """        float a = s, b = s2;
        if (m < m2) { a = s * expf(m - m2); m = m2; } else { b = s2 * expf(m2 - m); }
        s = b + a;
""",
}


@pytest.mark.parametrize("name", ARMS)
def test_the_smaller_half_is_scaled(name):
    text = WARP.replace("STORE", FIRST).replace("-INFINITY", "-1e30f")
    assert PAIR in text
    done = translated(text.replace(PAIR, ARMS[name]))
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text, done.text


@pytest.mark.parametrize(("old", "new"), [("m2 > m", "m2 < m"), ("m - m2", "m2 - m"), ("s2 *=", "s2 +=")])
def test_other_arms_are_what_they_say(old, new):
    arms = ARMS["one of both is scaled"]
    assert old in arms
    text = WARP.replace("STORE", FIRST).replace("-INFINITY", "-1e3f").replace(PAIR, arms.replace(old, new, 1))
    done = pipeline.translate(text, "case.cu")
    if done.text is not None:
        agrees(done, pipeline.Request(gradients=False), done.text)
        assert "fori_loop" in done.text or ".at[row" in done.text, done.text


def test_lanes_that_meet_nothing():
    """Where only some lanes have elements, sums that begin with a finite extremum are those of these lanes."""
    done = translated(WARP.replace("STORE", FIRST).replace("-INFINITY", "-1e30f"))
    agrees(done, pipeline.Request(values={"cols": 5}))


@pytest.mark.long_cases("-1e30f")
@pytest.mark.parametrize("start", ["-INFINITY", "-1e30f"])
def test_one_row_a_block(start):
    done = translated(BLOCK.replace("-INFINITY", start))
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text, done.text


def test_two_trees_of_a_block():
    first, rest = BLOCK.replace("-INFINITY", "-1e30f").split("    if (threadIdx.x == 0) {")
    tree = "for (int o" + first.split("for (int o")[1].split("if (lane == 0)")[0]
    second = f"""    if (warp == 0) {{
        m = lane < blockDim.x / 32 ? tops[lane] : -1e30f;
        s = lane < blockDim.x / 32 ? sums[lane] : 0.0f;
        {tree}
        if (lane == 0) y[row] = m + logf(s);
    }}
}}
"""
    done = translated(first + second)
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text, done.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s2 * expf(m2 - n)", "s2 * expf(m - n)"),
        ("s2 * expf(m2 - n)", "s2"),
        ("s = s * expf(m - n) + s2", "s = s * expf(m - n) - s2"),
        ("__shfl_xor_sync(0xffffffff, s, o)", "__shfl_xor_sync(0xffffffff, s, o / 2)"),
        ("float n = fmaxf(m, m2);", "float n = fminf(m, m2);"),
    ],
)
def test_other_pairs_are_what_they_say(old, new):
    """No factor is dropped that is not the one from one extremum to the next."""
    text = WARP.replace("STORE", FIRST).replace("-INFINITY", "-1e30f")
    done = pipeline.translate(text.replace(old, new), "case.cu")
    if done.text is not None:
        agrees(done, pipeline.Request(), done.text)
        assert "fori_loop" in done.text or ".at[row" in done.text, done.text
