"""Host loops that are left by ``break``, and their counters afterwards."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

KERNEL = """
__global__ void scale(float *x, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 0.5f + k;
}
"""
LOOPS = {
    "at the start": """
int run(float *x, int n, int most) {
    int it;
    for (it = 0; it < most; it++) {
        if (it * it > n) break;
        scale<<<(n + 31) / 32, 32>>>(x, n, 0);
    }
    return it;
}""",
    "at the end, with a launch that takes the counter": """
int run(float *x, int n, int most) {
    int it;
    for (it = 0; it < most; it++) {
        scale<<<(n + 31) / 32, 32>>>(x, n, it);
        if (it * it > n) break;
    }
    if (it == most) scale<<<(n + 31) / 32, 32>>>(x, n, 7);
    scale<<<(n + 31) / 32, 32>>>(x, n, it);
    return it;
}""",
    "within another": """
int run(float *x, int n, int most) {
    int j, all = 0;
    for (int s = 0; s < most; s++) {
        for (j = 0; j < most; j++) {
            if (j > s) break;
            scale<<<(n + 31) / 32, 32>>>(x, n, j);
        }
        all += j;
    }
    return all;
}""",
    "never": """
int run(float *x, int n, int most) {
    int it;
    for (it = 0; it < most; it++) scale<<<(n + 31) / 32, 32>>>(x, n, 0);
    return it;
}""",
}


def by_hand(name, x, n, most):
    def scale(k):
        nonlocal x
        x = x * np.float32(0.5 + k)

    it = total = 0
    if name == "within another":
        for s in range(most):
            it = 0
            while it < most and it <= s:
                scale(it)
                it += 1
            total += it
        return total, x
    first = name == "at the start"
    while it < most:
        if first and it * it > n:
            break
        scale(it if name.startswith("at the end") else 0)
        if name.startswith("at the end") and it * it > n:
            break
        it += 1
    if name.startswith("at the end"):
        if it == most:
            scale(7)
        scale(it)
    return it, x


@pytest.mark.parametrize("name", LOOPS)
def test_the_counter_after_the_loop(name):
    done = pipeline.translate(KERNEL + LOOPS[name], "k.cu")
    assert "run" in done.raised, [d.reason for d in done.diagnostics]
    run = load_module(done.text).run
    x = np.linspace(0.5, 1.5, 9, dtype=np.float32)
    for most in (0, 1, 3, 4, 6):
        count, values = by_hand(name, x, 9, most)
        got, scaled = run(x, 9, most)
        assert int(got) == count, (most, done.text)
        np.testing.assert_allclose(scaled, values, rtol=1e-5)


def test_a_choice_for_a_size_is_checked_as_a_whole():
    source = """
__global__ void sum(const float *x, float *y, int n) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; y[0] = s; }
void run(const float *x, float *y, int n, int m) {
    for (int q = 0; q < m; q++) sum<<<1, 1>>>(x, y + q, n - q > 0 ? n - q : 0);
}
"""
    run = load_module(pipeline.translate(source, "k.cu").text).run
    x = np.arange(1, 6, dtype=np.float32)
    np.testing.assert_allclose(run(x, np.zeros(3, np.float32), 2, 3), [3, 1, 0])
