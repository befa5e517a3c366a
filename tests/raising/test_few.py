"""Loops over what is left of a chunk: one index with the thread's, if the chunk holds all of it."""

import jax
import numpy as np
import pytest

from kraise import pipeline

MOVED = """
__global__ void f(const float *a, float *b, float c, int n) {{
    int i = {index};
    if ({whole}) {{
        float4 v = *reinterpret_cast<const float4 *>(a + {place});
        *reinterpret_cast<float4 *>(b + {place}) = make_float4(v.x * c, v.y * c, v.z * c, v.w * c);
    }} else {rest}
}}
"""
THREAD = "blockIdx.x * blockDim.x + threadIdx.x"
TAKEN = {
    "from the chunk's place": (THREAD, "4 * i + 3 < n", "4 * i", "for (int k = 4 * i; k < n; k++) b[k] = a[k] * c;"),
    "counted": (
        f"4 * ({THREAD})", "i + 3 < n", "i", "if (i < n) for (int k = 0; k < n - i; k++) b[i + k] = a[i + k] * c;",
    ),
    "another bound": (THREAD, "4 * i + 4 <= n", "4 * i", "for (int k = i * 4; k <= n - 1; ++k) b[k] = c * a[k];"),
}  # fmt: skip
LEFT = {
    "more than the chunk": (THREAD, "4 * i + 7 < n", "4 * i", "for (int k = 4 * i; k < n; k++) b[k] = a[k] * c;"),
    "no chunk": (THREAD, "4 * i + 3 < n && i < 2", "4 * i", "for (int k = 4 * i; k < n; k++) b[k] = a[k] * c;"),
}
DOT = """
__global__ void f(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (4 * i + 3 < n) {
        for (int k = 0; k < 4; k++) s += a[4 * i + k] * b[4 * i + k];
        atomicAdd(out, s);
    } else {
        for (int k = 4 * i; k < n; k++) s += a[k] * b[k];
        atomicAdd(out, s);
    }
}
"""


def run(text, *arguments, **launch):
    scope = {}
    exec(text, scope)
    return scope["f"](*arguments, **launch)


@pytest.mark.parametrize("name", [*TAKEN, *LEFT])
def test_the_rest_of_a_chunk(name):
    index, whole, place, rest = (TAKEN | LEFT)[name]
    done = pipeline.translate(MOVED.format(index=index, whole=whole, place=place, rest=rest), "k.cu")
    assert done.text is not None, done.diagnostics
    assert ("arange" in done.text or "grid" in done.text) == (name in LEFT), done.text
    launch = {"grid": 4, "block": 1} if "grid" in done.text else {}
    for n in (0, 1, 3, 4, 6, 8, 11):
        a, b = np.arange(1, n + 4, dtype=np.float32), np.full(n + 3, -1, np.float32)
        expected = np.where(np.arange(n + 3) < n, a * 3, b)
        assert np.array_equal(run(done.text, a, b, np.float32(3), n, **launch), expected), (n, done.text)
    pulled = jax.grad(lambda a: run(done.text, a, b, np.float32(3), 9, **launch).sum())(a)
    assert np.array_equal(pulled, np.where(np.arange(n + 3) < 9, 3, 0))


def test_a_sum_over_whole_chunks_and_one_over_the_rest():
    done = pipeline.translate(DOT, "k.cu")
    assert done.text is not None and " @ " in done.text and "arange" not in done.text, done.text
    for n in (0, 3, 4, 9):
        a, b = np.arange(n, dtype=np.float32), np.arange(1, n + 1, dtype=np.float32)
        assert run(done.text, a, b, np.zeros(1, np.float32), n)[0] == a @ b
