"""Warp primitives and what blocks compute together; the twins that are wrong are refused."""

import textwrap

import numpy as np
import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.frontends import cuda_c
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
from kraise.options import Options
from kraise.raising import raise_function
from kraise.verify.load import load_module


def raised(body, parameters="const float *x, float *y, int n"):
    """The equations of a CUDA kernel with this body; ``i`` and ``lane`` are there."""
    head = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nint lane = threadIdx.x % 32;\n"
    text = f"__global__ void kernel({parameters}) {{\n{head}{textwrap.dedent(body)}\n}}\n"
    module, found = cuda_c.read(text, "kernel.cu")
    assert not found, [d.reason for d in found]
    return raise_function(module, module.function("kernel"), Options())


def refusal(body, **more):
    """The codes with which a kernel is refused."""
    with pytest.raises(Refused) as refused:
        raised(body, **more)
    return {d.code for d in refused.value.diagnostics}


def sums(kernel):
    """The operators of the reductions and scans in the equations."""
    nodes = [n for s in kernel.body for n in topological(statement_expressions(s))]
    return [n.op for n in nodes if isinstance(n, eq.Reduce | eq.Scan)]


SUM = """
    float v = i < n ? x[i] : 0.0f;
    for (int d = {first}; d {relation}; d {step}) {{ {body} }}
    if (lane == 0) atomicAdd(y, v);
"""
DOWN = {"first": "16", "relation": "> 0", "step": "/= 2", "body": "v += __shfl_down_sync(~0u, v, d);"}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"body": "v += __shfl_xor_sync(~0u, v, d);"},
        {"first": "1", "relation": "< 32", "step": "<<= 1"},
        {"body": "float w = __shfl_down_sync(~0u, v, d); if (lane < d) v += w;"},
        {"body": "v = __shfl_down_sync(~0u, v, d) + v;", "step": ">>= 1"},
        {"body": "v += __shfl_sync(~0u, v, (lane + d) % 32);"},
    ],
)
def test_a_sum_over_a_warp_in_any_spelling(change):
    kernel = raised(SUM.format(**DOWN | change))
    assert sums(kernel) == ["add"]
    assert not kernel.launch


@pytest.mark.parametrize(
    "change",
    [
        {"first": "8"},  # half of the warp is left out
        {"step": "-= 5"},
        {"relation": "> 1"},
        {"first": "32"},  # every lane adds itself
        {"body": "v += __shfl_up_sync(~0u, v, d);"},  # lane 0 adds itself
        {"body": "v *= __shfl_down_sync(~0u, v, d); v += 1.0f;"},
    ],
)
def test_its_twins_are_no_sum(change):
    try:
        kernel = raised(SUM.format(**DOWN | change))
    except Refused:
        return
    nodes = [n for s in kernel.body for n in topological(statement_expressions(s))]
    assert not any(isinstance(n, eq.Reduce) and n.axes[0].hi is eq.Const(32, n.axes[0].hi.type) for n in nodes)


BLOCK = """
    __shared__ float part[32];
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if ({writer}) part[threadIdx.x / 32] = v;
    {barrier}
    v = threadIdx.x < {warps} ? part[{cell}] : {other};
    if (threadIdx.x < 32)
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
"""
WHOLE = {
    "writer": "lane == 0",
    "barrier": "__syncthreads();",
    "warps": "blockDim.x / 32",
    "cell": "lane",
    "other": "0.0f",
}


def test_a_sum_over_a_block_of_warps():
    kernel = raised(BLOCK.format(**WHOLE))
    assert "add" in sums(kernel)
    assert any("multiple of 32" in text for _, text in kernel.checks)


@pytest.mark.parametrize(
    "change",
    [
        {"barrier": ""},
        {"barrier": "__syncwarp();"},
        {"writer": "lane == 1"},
    ],
)
def test_its_racy_and_wrong_twins_are_refused(change):
    assert refusal(BLOCK.format(**WHOLE | change))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"warps": "blockDim.x / 64"}, [32, 32, 0]),  # a half of the warps
        ({"other": "1.0f"}, [64 + 30, 36 + 30, 30]),
        ({"cell": "0"}, [64, 64, 0]),  # the first warp's, as often as there are warps
    ],
)
@pytest.mark.long_cases("change1", "change2")
def test_what_else_a_block_of_warps_may_sum(change, wanted):
    head = "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
    text = pipeline.translate(head + "int lane = threadIdx.x % 32;" + BLOCK.format(**WHOLE | change) + "}", "k.cu").text
    found: dict = {}
    exec(text, found)
    got = found["f"](np.ones(100, np.float32), np.zeros(3, np.float32), 100, grid=3, block=64)
    np.testing.assert_array_equal(got, wanted)


SERIAL = """
    __shared__ float part[8];
    float v = 0;
    for (int k = i; k < n; k += gridDim.x * blockDim.x) v += x[k];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0) part[threadIdx.x / 32] = v;
    {barrier}
    if (threadIdx.x == 0) {{
        float s = 0;
        for (int w = 0; w < {warps}; ++w) s += part[w];
        {end}
    }}
"""


@pytest.mark.parametrize("warps", ["8", "blockDim.x / 32", "(blockDim.x + 31) / 32"])
@pytest.mark.long_cases("+ 31")
def test_a_thread_that_adds_up_what_the_warps_have(warps):
    kernel = raised(SERIAL.format(barrier="__syncthreads();", warps=warps, end="atomicAdd(y, s);"))
    # that eight warps are meant is a guess, which is checked where a block is given
    assert sums(kernel) == ["add"] and kernel.launch == ("optional" if warps == "8" else "")
    assert not any(isinstance(n, eq.Reduce) and len(n.axes) > 1 for s in kernel.body for n in topological((s.value,)))
    assert any(("256 threads" if warps == "8" else "multiple of 32") in text for text in kernel.assumptions)


def test_its_twins_are_refused_or_tell_what_is_left_out():
    given = {"barrier": "__syncthreads();", "warps": "7", "end": "atomicAdd(y, s);"}
    assert "256 threads" not in " ".join(raised(SERIAL.format(**given)).assumptions)  # of 224 threads, or of more
    assert refusal(SERIAL.format(**given | {"barrier": "__syncwarp();"}))
    assert refusal(SERIAL.format(**given | {"end": "y[0] = s;"}))


def test_lanes_that_do_not_take_part_are_not_read():
    body = "if (i < n) { float v = x[i]; y[i] = v + __shfl_down_sync(~0u, v, 1); }"
    for uneven in ("i < n - 1", "i > n", "x[i] > n", "i < n && x[i] > 0"):
        assert refusal(body.replace("i < n", uneven)) == {"KR206"}
    whole = raised(body)  # of whole warps, or lanes are asked that have left
    assert "n must be a multiple of 32" in {text for _, text in whole.checks} and not whole.launch
    assert refusal("if (lane < 16) y[i] = __shfl_xor_sync(~0u, x[i], 16);") == {"KR206"}


def test_what_only_the_first_lane_has_is_not_read_by_others():
    assert refusal(SUM.format(**DOWN).replace("if (lane == 0) atomicAdd(y, v)", "y[i] = v")) == {"KR299"}
    assert refusal(SUM.format(**DOWN).replace("lane == 0", "lane < 2")) == {"KR299"}


def down(v, by, width=32):
    """What the lane that is ``by`` further holds, within each ``width``; the lane's own beyond them."""
    at = np.arange(v.size)
    return np.where(at % width + by < width, v[np.minimum(at + by, v.size - 1)], v)


def within(v, width):
    return np.arange(v.size) % width


BROADCAST = """
    float s = v;
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    s = __shfl_sync(~0u, s, 0);
    for (int o = 1; o < 32; o <<= 1) { float u = __shfl_up_sync(~0u, s, o); if (lane >= o) s += u; }
    v -= s;
"""
LANES = {
    "v += __shfl_down_sync(~0u, v, 1);": lambda v: v + down(v, 1),
    "v *= __shfl_down_sync(~0u, v, 1, 8); if (lane % 4 == 1) v *= 2;": (
        lambda v: v * down(v, 1, 8) * np.where(within(v, 4) == 1, 2, 1)
    ),
    "v = fmaxf(v, __shfl_down_sync(~0u, v, 1)); v += __shfl_down_sync(~0u, v, 2);": (
        lambda v: (top := np.maximum(v, down(v, 1))) + down(top, 2)
    ),
    "float u = __shfl_down_sync(~0u, v, 1); if (lane == 31) u = 0; v = u + v;": (
        lambda v: v + np.where(within(v, 32) == 31, 0, down(v, 1))
    ),
    BROADCAST: lambda v: v - v.reshape(-1, 32).sum(1).repeat(32) * (within(v, 32) + 1),
}


@pytest.mark.parametrize("body", LANES)
@pytest.mark.long_cases("body4")
def test_what_each_lane_holds_after_a_step_or_two(body):
    """They are no tree whose sum the first lane alone would have: each lane's value is asked for."""
    head = "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
    head += "int lane = threadIdx.x % 32; float v = i < n ? x[i] : 0.f; "
    found: dict = {}
    exec(pipeline.translate(f"{head}{body} if (i < n) y[i] = v; }}", "k.cu").text, found)
    x = np.arange(40, dtype=np.float32) % 7 - 3
    got = found["f"](x, np.zeros(40, np.float32), 40)
    np.testing.assert_array_equal(got, LANES[body](np.pad(x, (0, 24)))[:40])


def test_the_same_in_numba():
    text = """
        def f(x, y):
            i = cuda.grid(1)
            v = x[i]
            v += cuda.shfl_down_sync(0xffffffff, v, 1)
            y[i] = v
    """
    source = "from numba import cuda\n@cuda.jit" + textwrap.dedent(text)
    found: dict = {}
    exec(pipeline.translate(source, "k.py").text, found)
    x = np.arange(64, dtype=np.float32) % 5
    np.testing.assert_array_equal(found["f"](x, x * 0), x + down(x, 1))


def test_a_plain_store_in_place_of_the_atomic_is_a_race():
    assert "KR201" in refusal(SUM.format(**DOWN).replace("atomicAdd(y, v)", "y[0] = v"))


LADDER = """
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < {half}) s[t] += s[t + 64];
    {barrier}
    if (t < 32) s[t] += s[t + 32];
    __syncthreads();
    if (t < 32) {{
        float v = s[t];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
        if (t == 0) y[blockIdx.x] = v;
    }}
"""
STEPS = {"half": "64", "barrier": "__syncthreads();"}


def test_a_ladder_of_halves_counts_on_its_block():
    kernel = raised(LADDER.format(**STEPS).replace("int i", "int unused"))
    assert sums(kernel) == ["add"]
    assert any("128 threads" in text for _, text in kernel.checks)


@pytest.mark.parametrize("change", [{"barrier": ""}, {"barrier": "__syncwarp();"}])
def test_its_racy_twins_are_refused(change):
    assert refusal(LADDER.format(**STEPS | change))


SWEEPS = """
    __shared__ float s[128];
    int t = threadIdx.x, gap = 1;
    s[2 * t] = x[blockIdx.x * 128 + 2 * t];
    s[2 * t + 1] = x[blockIdx.x * 128 + 2 * t + 1];
    for (int d = 64; d > 0; d >>= 1) {{
        {up}
        if (t < d) s[gap * (2 * t + 2) - 1] += s[gap * (2 * t + 1) - 1];
        gap *= 2;
    }}
    if (t == 0) s[127] = {start};
    for (int d = 1; d < 128; d *= 2) {{
        gap >>= 1;
        {down}
        if (t < d) {{
            float left = s[gap * (2 * t + 1) - 1];
            s[gap * (2 * t + 1) - 1] = s[gap * (2 * t + 2) - 1];
            s[gap * (2 * t + 2) - 1] += left;
        }}
    }}
    __syncthreads();
    y[blockIdx.x * 128 + 2 * t] = s[2 * t];
    y[blockIdx.x * 128 + 2 * t + 1] = s[2 * t + 1];
"""
TREE = {"up": "__syncthreads();", "down": "__syncthreads();", "start": "0.0f"}


@pytest.mark.long
def test_up_and_down_sweep_are_running_sums():
    assert sums(raised(SWEEPS.format(**TREE))) == ["add"]


@pytest.mark.long
def test_sweeps_from_elsewhere_are_no_running_sums_from_zero():
    assert sums(raised(SWEEPS.format(**TREE | {"start": "1.0f"}))) == []


@pytest.mark.long  # test_outlets.py has one of fewer cells
@pytest.mark.parametrize("change", [{"up": ""}, {"down": ""}])
def test_sweeps_without_barrier_are_refused(change):
    assert refusal(SWEEPS.format(**TREE | change))


def test_the_last_lane_of_the_last_warp_is_one_thread():
    head = "__global__ void last(const int *x, int *sums) { int v = x[blockIdx.x * blockDim.x + threadIdx.x]; "
    rounds = "for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o); "
    for condition, is_one in (("threadIdx.x == blockDim.x - 1", True), ("threadIdx.x >= blockDim.x - 2", False)):
        text = head + rounds + f"if ({condition}) sums[blockIdx.x] = v + threadIdx.x; }}"
        done = pipeline.translate(text, "last.cu")
        assert bool(done.text) is is_one
        if done.text:
            x = np.arange(128, dtype=np.int32)
            got = load_module(done.text).last(x, np.zeros(2, np.int32), grid=2, block=64)
            assert got.tolist() == [x[32:64].sum() + 63, x[96:].sum() + 63]
