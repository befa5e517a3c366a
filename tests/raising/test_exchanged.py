"""What a loop carries in a register, read by other threads: through shuffles, or by the one thread that stores it."""

import pytest

from kraise import pipeline
from tests.checks import agrees

SORTED = """
__global__ void sorted(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float v = x[i];
    for (int k = 2; k <= 32; k <<= 1)
        for (int j = %s; j > 0; j >>= 1) {
            float o = __shfl_xor_sync(~0u, v, j);
            v = ((lane & j) == 0) == ((lane & k) == 0) ? fminf(v, o) : fmaxf(v, o);
        }
    x[i] = v;
}"""
RUNNING = """
__global__ void running(const float *x, float *y, int n) {
    int lane = threadIdx.x, row = blockIdx.x;
    float carry = 0.f;
    for (int base = 0; base < n; base += 32) {
        float v = base + lane < n ? x[row * n + base + lane] : 0.f;
        for (int d = 1; d < 32; d <<= 1) {
            float o = __shfl_up_sync(~0u, v, d);
            if (lane >= d) v += o;
        }
        v += carry;
        if (base + lane < n) y[row * n + base + lane] = v;
        carry = __shfl_sync(~0u, v, 31);
    }
}"""
SOLVED = """
__global__ void solved(const float *L, const float *b, float *x) {
    __shared__ float xs[8];
    int t = threadIdx.x;
    float acc = b[t];
    for (int k = 0; k < 8; k++) {
        if (t == k) xs[k] = acc / L[k * 8 + k];
        %s
        if (t > k) acc -= L[t * 8 + k] * xs[k];
    }
    x[t] = xs[t];
}"""
AVERAGED = """
__global__ void averaged(const float *x, float *y, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0.f, last = 0.f;
    for (int k = 0; k < n; k++) {
        for (int s = 0; s < 3; s++) a = 0.5f * a + 0.25f * __shfl_down_sync(~0u, a + last, 3) + x[k * stride + i];
        last = __shfl_sync(~0u, a, k);
    }
    y[i] = a + last;
}"""

# after the first tree the lanes other than 0 hold parts of the sum, which the second one asks for
SECOND = """
__global__ void second(const float *x, float *out) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int s = 16; s > 0; s /= 2) v += __shfl_down_sync(~0u, v, s);
    v = fminf(v, __shfl_down_sync(~0u, v, 3));
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}"""


def _verified(source, **asked):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    asked = {"gradients": False, "grid": (2,), "block": (32,), **asked}
    agrees(done, pipeline.Request(**asked))
    return done.text


def test_sorting_by_shuffles():
    text = _verified(SORTED % "k >> 1", shapes={"x": (64,)})
    assert "while" not in text and text.count("fori_loop") == 2


def test_running_sums_of_a_warp():
    text = _verified(RUNNING, shapes={"x": (140,), "y": (140,)}, values={"n": 70})
    assert "a block has 32 threads" in text


def test_what_an_inner_loop_carries():
    _verified(AVERAGED, shapes={"x": (320,), "y": (64,)}, values={"n": 5, "stride": 64})


def test_one_thread_stores():
    text = _verified(SOLVED % "__syncthreads();", grid=(1,), block=(8,), gradients=True)
    assert "acc[k]" in text


@pytest.mark.parametrize(
    ("source", "code"),
    [(SOLVED % "", "KR201"), (SORTED % "lane & k", "KR206"), (SORTED % "(int)x[i]", "KR206"), (SECOND, "KR299")],
    ids=["no barrier", "rounds by lane", "rounds by data", "parts of a sum"],
)
def test_refused(source, code):
    done = pipeline.translate(source, "k.cu")
    assert {d.code for d in done.diagnostics} == {code}
