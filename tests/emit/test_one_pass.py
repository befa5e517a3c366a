"""Forms that XLA makes in one pass, each with the nearest kernel that must keep the other one."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

POOL = """
__global__ void f(const float *u, float *v, int rows, int cols) {{
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (r < rows / 2 && c < cols / 2) v[r * (cols / 2) + c] = {};
}}"""
ROW, NEXT = "u[2 * r * cols + 2 * c + {}]", "u[(2 * r + 1) * cols + 2 * c + {}]"
STEP = """
__global__ void step(float *x, unsigned int bit) {{
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int pair = i ^ bit;
  if ((i & bit) == 0) {{
    float a = x[i], b = x[pair];
    x[i] = {};
    x[pair] = a - b;
  }}
}}"""
MOVES = """
__global__ void relax(const float *x, float *y, int steps) {{
  __shared__ float s[9];
  int t = threadIdx.x;
  float v = x[blockIdx.x * 8 + t];
  if (t == 0) s[8] = {};
  for (int i = 0; i < steps; ++i) {{
    s[t] = v;
    __syncthreads();
    v = 0.5f * (v + s[t + 1]);
    __syncthreads();
  }}
  y[blockIdx.x * 8 + t] = v;
}}"""
ADDED = """
__global__ void f(float *r, const float *q, float a, float *sum, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{
    r[i] -= a * q[i];
    {}atomicAdd(sum, r[i] * r[i]);
  }}
}}"""
COMB = """
def f(x, y, n):
    for i in range(n):
        total = x[i]
        reach = 1
        while reach < n:
            if i >= {}:
                total += x[i - {}]
            reach *= 2
        y[i] = total
"""
PARTS = """
import numpy as np

def f(x, y):
    n = y.shape[0]
    s = np.zeros((n, 8))
    for i in range(n):
        for k in range(4):
            s[i, k + 2] = x[i, k]
    for i in range(n):
        for k in range(2):
            s[i, k] = x[i, k] * x[i, k]
    {}
    for i in range(n):
        for k in range(2):
            s[i, k + {}] = x[i, k + 2] + 1.0
    for i in range(n):
        for k in range(4):
            y[i, k] = s[i, k + 1] * s[i, k + 2] * s[i, k + 3]
"""
IMAGE = {"shapes": {"u": (35,), "v": (6,)}, "values": {"rows": 5, "cols": 7}}
PAIRS = {"shapes": {"x": (8,)}, "values": {"bit": 2}, "grid": (1,), "block": (8,)}
BLOCK = {"shapes": {"x": (8,), "y": (8,)}, "values": {"steps": 3}, "grid": (1,), "block": (8,)}
LINE = {"shapes": {"r": (7,), "q": (7,), "sum": (1,)}, "values": {"n": 5, "a": 0.5}}
FAR = {"shapes": {"x": (9,), "y": (9,)}, "values": {"n": 9}}
ROWS = {"shapes": {"x": (3, 5), "y": (3, 5)}}
FOUR = [f.format(k) for f in (ROW, NEXT) for k in (0, 1)]
CASES = {
    "all cells of blocks": (POOL.format(" + ".join(FOUR)), ".sum(axis=1)", True, IMAGE),
    "three cells of blocks": (POOL.format(" + ".join(FOUR[:3])), ".sum(axis=1)", False, IMAGE),
    "a sum at the first threads": (STEP.format("a + b"), "(i < threads)", True, PAIRS),
    "a product there": (STEP.format("a * b"), "(i < threads)", False, PAIRS),
    "zeros at first": (MOVES.format("0.0f"), "jnp.pad(", True, BLOCK),
    "ones at first": (MOVES.format("1.0f"), "jnp.pad(", False, BLOCK),
    "a sum of what was stored": (ADDED.format(""), "r_new * r_new", True, LINE),
    "a sum of a part of it": (ADDED.format("if (i < n - 1) "), "r_new * r_new", False, LINE),
    "powers of two back": (COMB.format("reach", "reach"), "dynamic_slice", True, FAR),
    "the parts of a row": (PARTS.format("", 6), "s = jnp.concatenate(", True, ROWS),
    "parts that overlap": (PARTS.format("", 5), "s = jnp.concatenate(", False, ROWS),
    "a part asked for too soon": (PARTS.format("y[0, 4] = s[1, 6]", 6), "s = jnp.concatenate(", False, ROWS),
    "their squares back": (COMB.format("reach * reach", "reach * reach"), "dynamic_slice", False, FAR),
}


@pytest.mark.parametrize("name", CASES)
def test_a_form_and_its_nearest_other(name):
    source, form, taken, request = CASES[name]
    done = pipeline.translate(source, "k.py" if "def f" in source else "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    assert (form in done.text) == taken, done.text
    agrees(done, pipeline.Request(**request))


def test_masks_that_ask_for_what_was_stored_before_exclude_nothing():
    """A 3 becomes 7, which the last store sees."""
    stores = "if (x[i] < 3) x[i] = 10; if (x[i] == 3) x[i] = 7; if (x[i] > 3) x[i] = 10;"
    head = "__global__ void f(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
    done = pipeline.translate(f"{head}if (i < n) {{ {stores} }} }}", "k.cu")
    assert load_module(done.text).f(np.arange(6, dtype=np.int32), 5).tolist() == [10] * 5 + [5]
