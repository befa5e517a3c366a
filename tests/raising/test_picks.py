"""What rides along with an extremum of a warp or a block: arg-reductions, and the twins that are none.

The sample cuda_best_lane compares the values with g++, ties among them; here ties are counted out in NumPy.
"""

import textwrap

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

WARP = """
__global__ void kernel(const float *x, int *place, float *value) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float best = x[i];
    int at = {own};
    for (int d = {first}; d {until}; d {step}) {{
        float other = {exchange}(~0u, best, d);
        int there = {exchange}(~0u, at, {places});
        {choice}
    }}
    if (threadIdx.x % 32 == 0) {{ place[i / 32] = at; value[i / 32] = best; }}
}}
"""
DOWN = {
    "own": "i",
    "first": "16",
    "until": "> 0",
    "step": "/= 2",
    "exchange": "__shfl_down_sync",
    "places": "d",
    "choice": "if (other > best) { best = other; at = there; }",
}
FIRST = "if (other > best || (other == best && there < at)) { best = other; at = there; }"


def translated(text, file="kernel.cu"):
    return pipeline.translate(textwrap.dedent(text), file)


def codes(done):
    return {d.code for d in done.diagnostics if d.severity == "error"}


def reversed_bits(n, bits):
    return int(f"{n:0{bits}b}"[::-1], 2)


def by_halves(rows, extremum):
    """The place in each row at which a tree by halves arrives that keeps its own where both are equal."""
    bits = rows.shape[1].bit_length() - 1
    best = extremum(rows, axis=1)
    return [
        min(np.flatnonzero(r == b), key=lambda n: reversed_bits(int(n), bits)) for r, b in zip(rows, best, strict=True)
    ]


FIRSTS = {
    "lesser place": ({"choice": FIRST}, np.argmax),
    "lesser place, compared the other way": (
        {"choice": "if (best < other || (best == other && at > there)) { at = there; best = other; }"},
        np.argmax,
    ),
    "doubling": ({"first": "1", "until": "< 32", "step": "*= 2"}, np.argmax),
    "least, by all": (
        {
            "exchange": "__shfl_xor_sync",
            "choice": "at = other < best || (other == best && there < at) ? there : at; best = fminf(best, other);",
        },
        np.argmin,
    ),
    "lane in place of number": ({"choice": FIRST, "own": "threadIdx.x % 32"}, np.argmax),
    "greater place": ({"choice": FIRST.replace("there < at", "there > at")}, None),
    "halves": ({}, None),
    "halves, compared the other way": ({"choice": "if (best < other) { best = other; at = there; }"}, None),
}


@pytest.mark.parametrize("name", FIRSTS)
@pytest.mark.long_cases("compared the other way", "doubling", "lane in place", "greater place")
def test_the_place_of_an_extremum_of_a_warp(name):
    change, numpy = FIRSTS[name]
    done = translated(WARP.format(**DOWN | change))
    assert not codes(done) and "while_loop" not in done.text
    space: dict = {}
    exec(done.text, space)
    x = np.random.default_rng(1).integers(0, 6, (4, 32)).astype(np.float32)
    got, value = space["kernel"](x.ravel(), np.zeros(4, np.int32), np.zeros(4, np.float32), grid=2, block=64)
    if numpy is not None:
        expected = numpy(x, axis=1)
    elif name == "greater place":
        expected = 31 - np.argmax(x[:, ::-1], axis=1)
    else:
        expected = by_halves(x, np.max)
    start = 0 if "lane" in name else 32 * np.arange(4)
    np.testing.assert_array_equal(got, np.asarray(expected) + start)
    np.testing.assert_array_equal(value, x.min(axis=1) if numpy is np.argmin else x.max(axis=1))


@pytest.mark.parametrize(
    "change",
    [
        {"choice": "if (other > best) best = other; at = there;"},  # the place of the last one
        {"choice": "if (other > best) at = there;"},
        {"places": "d / 2"},  # of another lane
        {"choice": "if (other > best || (other == best && there < i)) { best = other; at = there; }"},
        {"choice": "if (other > best && there < at) { best = other; at = there; }"},
        {"choice": "if (other > best || there < at) { best = other; at = there; }"},
        {"choice": FIRST, "exchange": "__shfl_up_sync"},
    ],
)
def test_its_twins_are_no_arg_reduction(change):
    done = translated(WARP.format(**DOWN | change))
    assert codes(done) or "argmax_" not in done.text


BLOCK = """
from numba import cuda, float32, int32


@cuda.jit
def kernel(place, x):
    value = cuda.shared.array(64, float32)
    index = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value[t] = x[i]
    index[t] = {own}
    cuda.syncthreads()
    w = 32
    while w > 0:
        if t < w:
            {choice}
        {barrier}
        w //= 2
    if t == 0:
        place[cuda.blockIdx.x] = index[0]
"""
TREE = {
    "own": "i",
    "barrier": "cuda.syncthreads()",
    "choice": "if value[t + w] > value[t]: value[t] = value[t + w]; index[t] = index[t + w]",
}


@pytest.mark.parametrize("tie", ["", " or (value[t + w] == value[t] and index[t + w] < index[t])"])
def test_the_place_of_an_extremum_of_a_block(tie):
    choice = TREE["choice"].replace("value[t]:", f"value[t]{tie}:")
    done = translated(BLOCK.format(**TREE | {"choice": choice}), "kernel.py")
    assert not codes(done) and ("argmax(axis=1)" in done.text) == bool(tie)
    space: dict = {}
    exec(done.text, space)
    x = np.random.default_rng(2).integers(0, 6, (5, 64)).astype(np.float32)
    expected = np.argmax(x, axis=1) if tie else by_halves(x, np.max)
    got = space["kernel"](np.zeros(5, np.int32), x.ravel(), grid=5, block=64)
    np.testing.assert_array_equal(got, np.asarray(expected) + 64 * np.arange(5))


@pytest.mark.parametrize(
    "change",
    [
        {"barrier": "pass"},
        {"choice": "if value[t + w] > value[t]: index[t] = index[t + w]; value[t] = value[t + w + 1]"},
        {"choice": "if value[t + w] > value[t]: value[t] = value[t + w]; index[t] = index[t + w + 1]"},
        {"choice": "index[t] = index[t + w] if value[t + w] > value[0] else index[t]"},
    ],
)
@pytest.mark.long_cases("change1", "change3")
def test_without_its_barrier_or_of_another_cell_it_is_refused_or_no_arg_reduction(change):
    done = translated(BLOCK.format(**TREE | change), "kernel.py")
    assert codes(done) or "argmax" not in done.text


ARMS = {
    "a tie in an arm of its own": (
        "if value[t + w] > value[t]: value[t] = value[t + w]; index[t] = index[t + w]",
        "elif value[t + w] == value[t] and index[t + w] < index[t]: index[t] = index[t + w]",
    ),
    "a tie under another branch": (
        "if value[t] < value[t + w]: index[t] = index[t + w]; value[t] = value[t + w]",
        "elif value[t] == value[t + w]:",
        "    if index[t + w] < index[t]: index[t] = index[t + w]",
    ),
    "both arms store": (
        "if value[t] >= value[t + w]: index[t] = index[t]; value[t] = value[t]",
        "else: value[t] = value[t + w]; index[t] = index[t + w]",
    ),
    "each arm stores something": (
        "top, low = value[t + w], value[t]",
        "if low >= top: value[t] = low",
        "else: value[t] = top; index[t] = index[t + w]",
    ),
}


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.long_cases("under another", "each arm")
def test_arms_that_together_are_the_choice_of_a_tree(name):
    done = translated(BLOCK.format(**TREE | {"choice": ("\n" + " " * 12).join(ARMS[name])}), "kernel.py")
    assert not codes(done) and ("argmax(axis=1)" in done.text) == ("tie" in name) and "at[:, " not in done.text
    space: dict = {}
    exec(done.text, space)
    x = np.random.default_rng(3).integers(0, 6, (5, 64)).astype(np.float32)
    expected = np.argmax(x, axis=1) if "tie" in name else by_halves(x, np.max)
    got = space["kernel"](np.zeros(5, np.int32), x.ravel(), grid=5, block=64)
    np.testing.assert_array_equal(got, np.asarray(expected) + 64 * np.arange(5))


@pytest.mark.parametrize(
    "arms",
    [
        (ARMS["a tie in an arm of its own"][0], "elif value[t + w] == value[t]: index[t] = index[t + w] + 1"),
        (
            ARMS["a tie in an arm of its own"][0],
            "elif value[t + w] == value[t] and index[t + w] < index[t]: index[t] = 0",
        ),
        ("if value[t + w] > value[t]: value[t] = value[t + w]", ARMS["a tie in an arm of its own"][1]),
        (ARMS["both arms store"][0], "else: value[t] = value[t + w]; index[t] = index[t] + 1"),
    ],
)
@pytest.mark.long_cases("arms1", "arms3")
def test_other_arms_are_no_arg_reduction(arms):
    done = translated(BLOCK.format(**TREE | {"choice": ("\n" + " " * 12).join(arms)}), "kernel.py")
    assert codes(done) or "argmax" not in done.text


GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void kernel(float *out, const float *x, int n) {{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ float part[32];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i] * x[i];
    float own = cg::reduce(warp, sum, cg::plus<float>{{}});
    part[{cell}] = {stored};
    {barrier}
    if (warp.meta_group_rank() == 0) {{
        float gathered = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0.0f;
        float total = cg::reduce(warp, gathered, cg::plus<float>{{}});
        if (warp.thread_rank() == 0) {last}
    }}
}}
"""
NORM = {
    "cell": "warp.meta_group_rank()",
    "stored": "own",
    "barrier": "block.sync();",
    "last": "atomicAdd(out, total);",
}


def test_all_lanes_store_what_their_warp_has():
    done = translated(GROUPS.format(**NORM))
    assert not codes(done)
    assert "out.at[0].add(jnp.sum(x[:n] * x[:n]))" in done.text


@pytest.mark.parametrize(
    "change",
    [
        {"barrier": ""},
        {"stored": "sum"},  # each lane another value
        {"cell": "warp.meta_group_rank() / 2"},  # two warps store to one cell
        {"last": "*out += total;"},  # every block
    ],
)
def test_its_racy_twins_are_refused(change):
    assert codes(translated(GROUPS.format(**NORM | change)))


CUT = """
__global__ void kernel(const float *x, int *place, float *value, int n) {
    extern __shared__ KIND smem[];
    float *v = (float *)smem;
    int *at = (int *)(v + blockDim.x);
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    v[t] = i < n ? x[i] : 1e30f;
    at[t] = i;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s && (v[t + s] < v[t] TIE)) { v[t] = v[t + s]; at[t] = at[OTHER]; }
        __syncthreads();
    }
    if (t == 0) { place[blockIdx.x] = END; value[blockIdx.x] = v[0]; }
}
"""
LESSER = "|| (v[t + s] == v[t] && at[t + s] < at[t])"


def cut(**change):
    text = CUT
    for word, by in ({"KIND": "char", "TIE": "", "OTHER": "t + s", "END": "at[0]"} | change).items():
        text = text.replace(word, by)
    return translated(text)


@pytest.mark.parametrize("tie", [pytest.param("", marks=pytest.mark.long), LESSER])
def test_values_and_places_in_one_dynamic_array(tie):
    done = cut(KIND="char" if tie else "float", TIE=tie)
    assert done.text, [d.reason for d in done.diagnostics]
    assert "loop" not in done.text and ("argmin" in done.text) == bool(tie)
    found: dict = {}
    exec(done.text, found)
    empty = np.zeros(3, np.int32), np.zeros(3, np.float32)
    for block in (2, 32):
        x = np.random.default_rng(2).integers(0, 4, 3 * block).astype(np.float32)  # with ties
        place, value = found["kernel"](x, *empty, x.size, grid=3, block=block)
        rows = x.reshape(3, block)
        chosen = np.argmin(rows, axis=1) if tie else by_halves(rows, np.min)
        np.testing.assert_array_equal(place, np.arange(3) * block + chosen)
        np.testing.assert_array_equal(value, rows.min(axis=1))
    with pytest.raises(ValueError, match="power of two"):
        found["kernel"](x, *empty, x.size, grid=3, block=6)


@pytest.mark.parametrize("change", [{"OTHER": "t + s / 2"}, {"END": "(int)v[1]"}])
@pytest.mark.long_cases("change1")
def test_other_cells_of_it_are_refused_or_no_arg_reduction(change):
    done = cut(**change)
    assert done.text is None or not ({"argmin", "bit_order"} & set(done.text.replace("[", " ").split()))


PAIRS = """struct Pair { float value; int index; };
__global__ void kernel(const float *x, Pair *out, int n) {
    __shared__ Pair s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    Pair own;
    own.value = i < n ? x[i] : 1e30f;
    own.index = i;
    s[t] = own;
    __syncthreads();
    for (int w = 16; w > 0; w /= 2) {
        if (t < w && s[t + w].value < s[t].value) s[t] = s[t + w];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
"""


@pytest.mark.long
def test_whole_structs_are_copied():
    """Copied member by member, with locals of the copy alone."""
    done = translated(PAIRS, "case.cu")
    agrees(done, pipeline.Request(grid=(3, 1, 1), block=(32, 1, 1), values={"n": 70}))
    assert ".min(axis=1)" in done.text and "16:" not in done.text, done.text


def test_a_local_of_the_copy_that_is_read_later_is_what_it_was():
    old = "        if (t < w && s[t + w].value < s[t].value) s[t] = s[t + w];\n"
    new = """        if (t < w && s[t + w].value < s[t].value) {
            last = s[t + w].index;
            s[t].value = s[t + w].value;
            s[t].index = last;
        }
"""
    text = PAIRS.replace(old, new).replace("    Pair own;", "    Pair own;\n    int last;", 1)
    text = text.replace("out[blockIdx.x] = s[0];", "{ s[0].index = last; out[blockIdx.x] = s[0]; }")
    assert text.count("last") == 4
    # its own value of thread 0 is never the least, so the local is one that was copied
    text = text.replace("own.value = i < n ? x[i] : 1e30f;", "own.value = t == 0 ? 1e30f : x[i];")
    done = translated(text, "case.cu")
    if not codes(done):
        agrees(done, pipeline.Request(grid=(3, 1, 1), block=(32, 1, 1), values={"n": 96}))
