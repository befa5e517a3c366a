"""Pairs of an extremum and a sum relative to it, combined by a tree in shared memory: softmax in one pass."""

import pytest

from kraise import pipeline
from tests.checks import agrees

ARRAYS = """__global__ void f(const float *x, float *y, int n) {
    __shared__ float top[8], sum[8];
    int row = blockIdx.x, t = threadIdx.x;
    float m = -INFINITY, d = 0.0f;
    for (int i = t; i < n; i += blockDim.x) {
        float v = x[row * n + i];
        if (v > m) { d *= expf(m - v); m = v; }
        d += expf(v - m);
    }
    top[t] = m;
    sum[t] = d;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) {
        if (t < w) {
            STEP
        }
        __syncthreads();
    }
    for (int i = t; i < n; i += blockDim.x) y[row * n + i] = expf(x[row * n + i] - top[0]) / sum[0];
}
"""
BOTH = """float a = top[t], b = top[t + w], c = fmaxf(a, b);
            sum[t] = sum[t] * expf(a - c) + sum[t + w] * expf(b - c);
            top[t] = c;"""
ARMS = """float a = top[t], b = top[t + w], p = sum[t], q = sum[t + w];
            if (b > a) { p = q + expf(a - b) * p; a = b; } else { p += q * expf(b - a); }
            top[t] = a;
            sum[t] = p;"""
STRUCTS = """struct MD { float m, d; };
__device__ MD joined(MD a, MD b) {
    bool above = a.m > b.m;
    MD high = above ? a : b, low = above ? b : a, r;
    r.d = high.d + low.d * __expf(low.m - high.m);
    r.m = high.m;
    return r;
}
__global__ void f(const float *x, float *y, int n) {
    __shared__ MD s[8];
    int t = threadIdx.x;
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    MD own;
    own.m = -FLT_MAX;
    own.d = 0.0f;
    for (int i = t; i < n; i += 8) {
        MD e;
        e.m = x[i];
        e.d = 1.0f;
        own = joined(own, e);
    }
    s[t] = own;
    __syncthreads();
    for (int w = 4; w > 0; w >>= 1) {
        if (t < w) s[t] = joined(s[t], s[t + w]);
        __syncthreads();
    }
    for (int i = t; i < n; i += 8) y[i] = __expf(x[i] - s[0].m) / s[0].d;
}
"""


def text_of(text):
    done = pipeline.translate(text, "case.cu")
    assert done.text is not None, done.diagnostics
    assert "fori_loop" not in done.text and ".at[:, :" not in done.text and "mode=" not in done.text, done.text
    return done


@pytest.mark.parametrize("step", [BOTH, ARMS], ids=["both scaled", "the lesser scaled"])
def test_two_arrays(step):
    done = text_of(ARRAYS.replace("STEP", step))
    agrees(done, pipeline.Request(grid=(3, 1, 1), block=(8, 1, 1), values={"n": 19}))
    assert "each lane must have an element" in done.text


@pytest.mark.long
def test_members_of_a_struct_with_a_finite_start():
    done = text_of(STRUCTS)
    agrees(done, pipeline.Request(grid=(3, 1, 1), block=(8, 1, 1), values={"n": 5}))
    assert "each lane" not in done.text


OTHERS = [("a - c) +", "c - a) +"), ("sum[t + w] * expf(b - c)", "sum[t + w]"), ("top[t] = c", "top[t] = a")]


@pytest.mark.parametrize(("old", "new"), OTHERS)
@pytest.mark.long_cases("expf(b - c)", "top[t]")
def test_other_steps_are_what_they_say(old, new):
    text = ARRAYS.replace("STEP", BOTH).replace("-INFINITY", "-2.0f").replace("[8]", "[4]")
    assert old in text
    done = pipeline.translate(text.replace(old, new), "case.cu")
    assert done.text is not None and "exp.sum(" not in done.text, done.text
    agrees(done, pipeline.Request(grid=(2, 1, 1), block=(4, 1, 1), values={"n": 7}, gradients=False))


def test_without_its_barrier_it_is_a_race():
    text = ARRAYS.replace("STEP", BOTH).replace("        __syncthreads();\n    }\n    for", "    }\n    for")
    assert text.count("__syncthreads") == 1
    done = pipeline.translate(text, "case.cu")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}


PLAIN = """__global__ void f(const float *x, float *y, int n) {
    __shared__ float s[8];
    int row = blockIdx.x, t = threadIdx.x;
    float m = -INFINITY, d = 0.0f;
    for (int i = t; i < n; i += 8) {
        float v = x[row * n + i];
        if (v > m) { d *= expf(m - v); m = v; }
        d += expf(v - m);
    }
    s[t] = m;
    __syncthreads();
    for (int w = 4; w > 0; w /= 2) {
        if (t < w) s[t] = fmaxf(s[t], s[t + w]);
        __syncthreads();
    }
    float top = s[0];
    __syncthreads();
    s[t] = d * expf(m - top);
    __syncthreads();
    for (int w = 4; w > 0; w /= 2) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) y[row] = top + logf(s[0]);
}
"""


@pytest.mark.parametrize(("old", "new"), [("", ""), ("expf(m - top)", "expf(top - m)"), ("d * expf", "d + expf")])
@pytest.mark.long_cases("expf")
def test_sums_that_are_put_together_by_two_plain_trees(old, new):
    """A thread that has met nothing adds nothing; what is weighted otherwise is what it says."""
    assert old in PLAIN
    done = pipeline.translate(PLAIN.replace(old, new), "case.cu")
    assert done.text is not None, done.diagnostics
    assert old or (".get(" not in done.text and "fori_loop" not in done.text), done.text
    for n in (5, 19) if not old else (19,):
        agrees(done, pipeline.Request(grid=(2, 1, 1), block=(8, 1, 1), values={"n": n}))
