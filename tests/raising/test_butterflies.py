"""Pairs of elements whose indices differ in bits that all threads flip, and pairs that are not apart."""

import inspect
from pathlib import Path

import jax
import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees
from tests.raising.agree import agree

SAMPLES = Path(__file__).parents[2] / "samples"
TURNED = """__global__ void f(float *x, const float *w) {
    __shared__ float s[12];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 12 + t];
    __syncthreads();
    %ss[t ^ %s] = w[t] * x[blockIdx.x * 12 + t];
    __syncthreads();
    x[blockIdx.x * 12 + t] = s[t] + t;
}"""
ARMS = """def f(x, y, w, s):
    i = cuda.grid(1)
    if i < x.shape[0]:
        if w[i] > 0:
            x[i] += s
        else:
            y[i] = x[i] * w[i]
            x[i] = 3 * x[i]
            y[i] += x[i]
"""
STEP = (SAMPLES / "bitonic_steps" / "kernel.py").read_text()
WALSH = (SAMPLES / "cuda_walsh_steps" / "kernel.cu").read_text()


def refused(text, file):
    done = pipeline.translate(text, file)
    return {d.code for d in done.diagnostics} if done.text is None else set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if other > i:", "if other > 0:"),
        ("i ^ j", "i | j"),
        ("i ^ j", "i ^ (j + i)"),
        ("if x[i] < x[other]:", "if x[i] < x[other + 1]:"),
    ],
)
@pytest.mark.long_cases("(j + i)")
def test_pairs_that_are_not_apart_are_refused(old, new):
    assert not refused(STEP, "kernel.py")
    assert old in STEP
    assert refused(STEP.replace(old, new), "kernel.py") & {"KR201", "KR202"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(i & bit) == 0", "(i & bit) != 1"),
        ("(i & bit) == 0", "(i & (bit + 1)) == 0"),
        ("i ^ bit;", "(unsigned char)i ^ bit;"),
        ("unsigned int pair = i ^ bit", "unsigned int pair = i ^ (bit & threadIdx.x)"),
    ],
)
@pytest.mark.long_cases("bit & threadIdx.x")
def test_bits_that_are_not_flipped_are_refused(old, new):
    assert not refused(WALSH, "kernel.cu")
    assert old in WALSH
    assert refused(WALSH.replace(old, new), "kernel.cu") & {"KR201", "KR202"}


@pytest.mark.parametrize("mine", [3, -3])
def test_each_element_takes_its_partners_value(mine):
    """A negative number flips the sign: there is no partner. Of five elements the last one has none for 3."""
    done = pipeline.translate(STEP, "kernel.py")
    assert ".set(" not in done.text and ".add(" not in done.text
    request = pipeline.Request(
        shapes={"x": (8 if mine < 0 else 16,)}, values={"j": mine, "k": 4}, grid=(2,), block=(8,)
    )
    agrees(done, request)


@pytest.mark.parametrize(("grid", "bit"), [(1, 4), (2, 8), (1, 0)])
def test_a_launch_over_a_part_of_the_array(grid, bit):
    """The partners of its threads may lie behind it."""
    done = pipeline.translate(WALSH, "kernel.cu")
    request = pipeline.Request(shapes={"x": (16,)}, values={"bit": bit}, grid=(grid,), block=(4,))
    agrees(done, request)


@pytest.mark.parametrize(
    ("flipped", "guard", "closed"),
    [("1", "", True), ("3", "", True), ("1", "if (t > 4) ", True), ("4", "if (t < 8) ", False)],
)
def test_numbers_that_mix_within_a_block(flipped, guard, closed):
    done = pipeline.translate(TURNED % (guard, flipped), "f.cu")
    assert not done.diagnostics and (closed == ("xor < " not in done.text)) and "drop" not in done.text, done.text
    request = pipeline.Request(shapes={"x": (24,), "w": (12,)}, grid=(2,), block=(12,))
    agrees(done, request)


def test_the_second_arm_sees_what_was_there_before():
    kernel = agree(ARMS)
    assert "x.0" in "\n".join(kernel.equations) or "x[i] * w[i]" in "\n".join(kernel.equations)


@pytest.mark.parametrize("other", ["y[i] = x[i - 1]", "y[i] = x[i + 1]"])
def test_an_arm_that_reads_what_other_threads_store_in_the_first_is_a_race(other):
    source = ARMS.replace("y[i] = x[i] * w[i]", other).replace("if i < x.shape[0]", "if 0 < i < x.shape[0] - 1")
    assert refused("from numba import cuda\n\n@cuda.jit\n" + source, "k.py") & {"KR201"}


SORT = """
__global__ void sort(float *a, int n) {{
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int k = 2; k <= {size}; {up})
        for (int j = {first}; j > 0; {down}) {{
            int p = t ^ {mask};
            if (p > t) {{
                float x = s[t], y = s[p];
                if ((x > y) == ((t & k) == 0)) {{ s[t] = y; s[p] = x; }}
            }}
            {barrier}
        }}
    a[blockIdx.x * blockDim.x + t] = s[t];
}}
"""
WAYS = {
    "size": "blockDim.x",
    "up": "k <<= 1",
    "first": "k >> 1",
    "down": "j >>= 1",
    "mask": "j",
    "barrier": "__syncthreads();",
}
SPELLED = {
    "shifts": {},
    "products of a size": {"size": "n", "up": "k *= 2", "first": "k / 2", "down": "j = j / 2"},
}


@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.long_cases("products of a size")
def test_a_bitonic_sort_of_blocks_whose_size_the_launch_gives(name):
    done = pipeline.translate(SORT.format(**WAYS | SPELLED[name]), "k.cu")
    assert done.text is not None and "while" not in done.text, done.diagnostics
    scope = {}
    exec(done.text, scope)
    size = {"n": 8} if "n" in inspect.signature(scope["sort"]).parameters else {}
    launch = {"grid": 3, "block": 8, "shared": 8}
    x = np.random.default_rng(0).permutation(24).astype(np.float32)
    assert np.array_equal(scope["sort"](x, **size, **launch), np.sort(x.reshape(3, 8), axis=1).ravel())
    weights = np.arange(24, dtype=np.float32)
    pulled = jax.grad(lambda x: (scope["sort"](x, **size, **launch) * weights).sum())(x)
    ranks = np.argsort(np.argsort(x.reshape(3, 8), axis=1), axis=1) + 8 * np.arange(3)[:, None]
    assert np.array_equal(pulled, ranks.ravel())


@pytest.mark.parametrize("change", [{"barrier": ""}, {"mask": "(j | t)"}])
def test_partners_that_each_thread_picks_are_refused(change):
    done = pipeline.translate(SORT.format(**WAYS | change), "k.cu")
    assert done.text is None and "KR201" in {d.code for d in done.diagnostics}


LANES = """__device__ float total(float v) {
  for (int o = warpSize / 2; o > 0; o >>= 1) {
    unsigned mask = __activemask();
    v += __shfl_down_sync(mask, v, o) %s;
  }
  return v;
}
__global__ void f(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = total(i < n ? x[i] : 0);
  if (threadIdx.x %% 32 == 0) y[i / 32] = v;
}"""


def test_a_mask_of_lanes_that_each_round_asks_for():
    done = pipeline.translate(LANES % "", "f.cu")
    assert ".sum(axis=1)" in done.text and "fori_loop" not in done.text
    agrees(done, pipeline.Request(shapes={"x": (64,), "y": (2,)}, values={"n": 50}, grid=(1,), block=(64,)))


def test_a_mask_of_lanes_that_counts():
    done = pipeline.translate(LANES % "* (mask != 0)", "f.cu")
    assert done.text is None or "fori_loop" in done.text
