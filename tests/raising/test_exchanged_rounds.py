"""What a loop carries, taken at another thread in every round: the loop's rounds are not free, however simple they are.

(``v *= 0.5`` has a closed form, and a sum of it, too; but in shared memory it is another thread's v that is found.)
"""

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
__global__ void kernel(const float *x, float *y, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    float v = x[t], acc = 0.f;
    for (int k = 0; k < n; k++) {
        %s
        v *= 0.5f;
    }
    y[t] = acc;
}"""
ROUNDS = {
    "staged": "s[t] = v; __syncthreads(); acc += s[31 - t]; __syncthreads();",
    "block": "s[t] = v; __syncthreads();"
    "for (int o = 16; o > 0; o >>= 1) { if (t < o) s[t] = fmaxf(s[t], s[t + o]); __syncthreads(); }"
    "acc += s[0]; __syncthreads();",
    "warp": "float m = v; for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o)); acc += m;",
    "lane": "acc += __shfl_xor_sync(~0u, v, 1);",
    "inner": "float w = v; for (int j = 0; j < 2; j++) w = w * w + x[j]; s[t] = w; __syncthreads();"
    "acc += s[(t + 1) % 32]; __syncthreads();",
    "greatest": "s[t] = v; __syncthreads(); acc = fmaxf(acc, s[31 - t]); __syncthreads(); if (v == acc) v = 1.f;",
}


@pytest.mark.parametrize("name", ROUNDS)
def test_values(name):
    done = pipeline.translate(KERNEL % ROUNDS[name], "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    launch = {"grid": (1,), "block": (32,), "shapes": {"x": (32,), "y": (32,)}, "values": {"n": 3}}
    agrees(done, pipeline.Request(gradients=False, **launch))


def test_what_is_the_same_for_all_stays_free():
    same = KERNEL.replace("float v = x[t]", "float v = 1.f") % ROUNDS["staged"]
    done = pipeline.translate(same, "k.cu")
    assert done.text is not None and "loop" not in done.text
