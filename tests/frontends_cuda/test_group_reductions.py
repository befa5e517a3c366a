"""``cg::reduce`` of a tile with a function of the program's own: the steps of shuffles that compute it."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
"""
KERNEL = """__global__ void f(const float *x, float *y, int rows, int cols) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    float own = 0.0f;
    for (int c = warp.thread_rank(); c < cols; c += warp.size()) own += x[row * cols + c];
    float all = cg::reduce(warp, own, OPERATOR);
    if (warp.thread_rank() == 0) y[row] = all;
}
"""
TWO = "(float a, float b) { return a + b; }\n"
THREE = "(float a, float b) { return a > b ? a : b; }\n"
LARGEST = "struct Largest { __device__ float operator()(float a, float b) const { return a > b ? a : b; } };\n"
OPERATORS = {
    "a function": ("__device__ float both" + TWO, "both", "sum("),
    "a functor": (LARGEST, "Largest()", "max("),
    "a functor in braces": (LARGEST, "Largest{}", "max("),
    "a lambda": ("", "[](float a, float b) { float less = a + b; return less; }", "sum("),
    "a function with the name of another operation": ("__device__ float less" + THREE, "less", "max("),
    "a functor with the name of another operation": (LARGEST.replace("Largest", "plus"), "plus()", "max("),
    "that of the library": ("", "cg::less<float>{}", "min("),
}


@pytest.mark.long_cases("in braces", "with the name", "of the library", "a lambda")
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    before, operator, says = OPERATORS[name]
    done = pipeline.translate(HEAD + before + KERNEL.replace("OPERATOR", operator), "case.cu")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
    assert says in done.text and "fori_loop" not in done.text, done.text


PAIRS = """struct Pair { float top, sum; };
__device__ Pair both(Pair a, Pair b) {
    bool first = a.top > b.top;
    Pair more = first ? a : b, less = first ? b : a;
    Pair r;
    r.top = more.top;
    r.sum = more.sum + less.sum * expf(less.top - more.top);
    return r;
}
__global__ void f(float *y, const float *x, int rows, int cols) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) return;
    Pair own = {-INFINITY, 0.0f};
    for (int c = warp.thread_rank(); c < cols; c += warp.size()) own = both(own, {x[row * cols + c], 1.0f});
    Pair all = cg::reduce(warp, own, both);
    for (int c = warp.thread_rank(); c < cols; c += warp.size())
        y[row * cols + c] = expf(x[row * cols + c] - all.top) / all.sum;
}
"""
MAXIMA = (
    "bool first = a.top > b.top;\n    Pair more = first ? a : b, less = first ? b : a;\n    Pair r;",
    "Pair r, more = a, less = b;\n    more.top = fmaxf(a.top, b.top); more.sum *= expf(a.top - more.top);",
)


@pytest.mark.parametrize("change", [None, MAXIMA], ids=["the larger", "maxima"])
def test_softmax_in_one_pass(change):
    text = HEAD + PAIRS.replace(*(change or ("", "")))
    done = pipeline.translate(text, "case.cu")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text and "cols >= 32 must hold" in done.text, done.text


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("less.sum * expf(less.top - more.top)", "less.sum * expf(more.top - less.top)"),
        ("less.sum * expf(less.top - more.top)", "less.sum"),
        ("r.sum = more.sum +", "r.sum = less.sum +"),
        ("less = first ? b : a", "less = first ? a : b"),
        ("a.top > b.top", "a.sum > b.sum"),
    ],
)
def test_other_pairs_are_what_they_say(old, new):
    assert old in PAIRS
    text = HEAD + PAIRS.replace(old, new).replace("-INFINITY", "-1e2f")
    done = pipeline.translate(text, "case.cu")
    if done.text is not None:
        agrees(done, pipeline.Request(gradients=False, values={"cols": 7, "rows": 2}), done.text)
        assert "fori_loop" in done.text, done.text


def test_rows_of_a_struct_are_refused():
    pair = "struct Pair { float v[2]; };\n__device__ Pair both(Pair a, Pair b) { a.v[0] += b.v[0]; return a; }\n"
    before = "Pair p; p.v[0] = own; p.v[1] = 0.0f; Pair all"
    kernel = KERNEL.replace("float all", before).replace("= all;", "= all.v[0];")
    done = pipeline.translate(HEAD + pair + kernel.replace("own, OPERATOR", "p, both"), "case.cu")
    assert done.text is None and [d.code for d in done.diagnostics] == ["KR299"], done.diagnostics
