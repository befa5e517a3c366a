"""The greatest of a block in an atomic, where lanes without an element have a number."""

import pytest

from kraise import pipeline
from tests.checks import agrees

BLOCK = """
__global__ void f(const float *x, float *out, int n) {
    __shared__ float s[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? VALUE : NUMBER;
    __syncthreads();
    for (int k = 4; k > 0; k /= 2) { if (t < k) s[t] = fmaxf(s[t], s[t + k]); __syncthreads(); }
    if (t == 0) atomicMax((int *)CELL, __float_as_int(fmaxf(s[0], FLOOR)));
}"""
CASES = {  # the value, the number, the cell; whether the launch need not be given
    "absolute": ("fabsf(x[i])", "0.0f", "out", True),
    "squares": ("x[i] * x[i]", "0.0f", "&out[0]", True),
    "more than one": ("1.0f + fabsf(x[i])", "1.0f", "out", True),
    "of either sign": ("x[i]", "0.0f", "out", False),
    "of each block": ("fabsf(x[i])", "0.0f", "&out[blockIdx.x]", False),
}


@pytest.mark.parametrize("name", CASES)
def test_the_guard_bounds_the_threads(name):
    value, number, cell, free = CASES[name]
    text = BLOCK.replace("VALUE", value).replace("NUMBER", number).replace("CELL", cell)
    text = text.replace("fmaxf(s[0], FLOOR)", "s[0]" if name != "of either sign" else "fmaxf(s[0], 0.0f)")
    done = pipeline.translate(text, "k.cu")
    assert done.text is not None and ("def f(x, out, n):" in done.text) == free, (done.diagnostics, done.text)
    for n in (0, 5, 8, 20):
        case = {"shapes": {"x": (20,), "out": (3,)}, "values": {"n": n}, "grid": (3,), "block": (8,)}
        agrees(done, pipeline.Request(**case), n)
