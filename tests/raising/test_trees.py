"""Trees over exponents of two and within warps: what is a sum over an axis, and the twins that are not."""

import textwrap
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified
from tests.hostile.judge import judge

HEAD = "import math\n\nfrom numba import cuda, float32\n\nTPB = 8\n\n\n@cuda.jit\ndef kernel(out, a, size):\n"
TREE = """
    s = cuda.shared.array(TPB, float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    t = cuda.threadIdx.x
    if i < size:
        s[t] = a[i]
    else:
        s[t] = {fill}
    cuda.syncthreads()
    for k in range({rounds}):
        p = 2**k
        if t % (2 * p) == 0{guard}:
            s[t] = {combined}
        {barrier}
    if t == 0:
        out[{place}] = s[0]
"""
GIVEN = {
    "fill": "0",
    "rounds": "3",
    "guard": "",
    "combined": "s[t] + s[t + p]",
    "barrier": "cuda.syncthreads()",
    "place": "cuda.blockIdx.x",
}


@cache
def translated(**changes):
    body = textwrap.indent(textwrap.dedent(TREE.format(**GIVEN | changes)).strip("\n"), "    ")
    return pipeline.translate(HEAD + body + "\n", "kernel.py")


def codes(done):
    return {d.code for d in done.diagnostics if d.severity == "error"}


def agrees(done, shapes, values, grid, block):
    """Whether values and gradients are the reference interpreter's."""
    request = pipeline.Request(shapes=shapes, values=values, grid=grid, block=block)
    (report,), problems = verified(done, request)
    return report.ok and not problems


SPELLINGS = [
    {},
    {"combined": "s[t + p] + s[t]"},
    {"guard": " and i + p < size"},
    {"guard": " and t + p < TPB"},
    {"rounds": "int(math.log2(TPB))"},
    {"combined": "s[t] + s[t + 2**k]"},
    {"combined": "s[t] + s[t + (1 << k)]"},
]


@pytest.mark.parametrize("change", SPELLINGS)
@pytest.mark.long_cases("change1", "change4", "change6")
def test_a_tree_over_exponents_is_a_sum(change):
    done = translated(**change)
    assert not codes(done)
    assert "sum(axis=1)" in done.text and "for " not in done.text.split('"""')[-1] and "arange" not in done.text


@pytest.mark.parametrize("change", [{}, {"guard": " and i + p < size"}])
@pytest.mark.parametrize(("size", "blocks"), [(21, 3), (21, 4), (8, 1)])
@pytest.mark.long_cases("21-3-change1", "8-1-change0")
def test_it_sums_what_the_blocks_have(change, size, blocks):
    """Also a block that has no element at all."""
    done = translated(**change)
    assert agrees(done, {"out": (blocks,), "a": (size,)}, {"size": size}, (blocks,), (8,))


def test_a_block_beyond_the_guard_keeps_what_it_was_filled_with():
    done = translated(fill="5", guard=" and i + p < size")
    assert "sum(axis=1)" not in done.text
    assert agrees(done, {"out": (3,), "a": (13,)}, {"size": 13}, (3,), (8,))


@pytest.mark.parametrize(
    "change",
    [
        {"barrier": "pass"},
        {"combined": "s[t] + s[t + p + 1]"},
        {"place": "0"},
    ],
)
def test_racy_twins_are_refused(change):
    assert codes(translated(**change)) & {"KR201", "KR202", "KR306"}


def test_rounds_that_no_block_has_stay_a_loop():
    """Three rounds of blocks of eight: what is defined for more would leave the shared array."""
    done = translated(rounds="size")
    assert "def step(k, s)" in done.text
    assert agrees(done, {"out": (1,), "a": (3,)}, {"size": 3}, (1,), (8,))


def test_fewer_rounds_are_the_sum_of_smaller_blocks():
    done = translated(rounds="2")
    assert "a block has 4 threads along x" in done.text
    assert agrees(done, {"out": (2,), "a": (8,)}, {"size": 7}, (2,), (4,))


@pytest.mark.parametrize("change", [{"combined": "s[t] + s[t + k]"}, {"rounds": "0, 3, 2"}])
def test_other_rounds_are_no_sum_of_the_block(change):
    done = translated(**change)
    if done.text:
        assert "sum(axis=1)" not in done.text
        assert agrees(done, {"out": (2,), "a": (16,)}, {"size": 16}, (2,), (8,))
    else:
        assert codes(done) & {"KR201", "KR202"}


ROWS = """
__global__ void k(float *out, const float *a, int size) {{
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < size ? a[blockIdx.y * size + i] : 0.f;
  __syncthreads();
  for (int w = 32; w > 0; w >>= 1) {{
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }}
  if (t == 0) {};
}}
"""


def test_a_row_that_one_block_holds():
    done = pipeline.translate(ROWS.format("out[blockIdx.y] = s[0]"), "k.cu")
    assert not codes(done) and "the launch has one block along x" in done.text
    assert agrees(done, {"out": (3,), "a": (3 * 50,)}, {"size": 50}, (1, 3), (64,))


@pytest.mark.parametrize("store", ["out[0] = s[0]", "out[blockIdx.y / 2] = s[0]"])
def test_blocks_that_share_a_cell_race(store):
    assert codes(pipeline.translate(ROWS.format(store), "k.cu")) & {"KR201", "KR202"}


WARPS = """
__global__ void k(const float *x, float *out, int n) {{
  __shared__ {} float s[128];
  int t = threadIdx.x, lane = t & 31, row = (blockIdx.x * blockDim.x + t) / 32;
  if (row < n) {{
    s[t] = x[row * 32 + lane];
    {}
    if (lane < 16) s[t] += s[t + 16];
    {}
    if (lane < 8) s[t] += s[t + 8];
    {}
    if (lane < 4) s[t] += s[t + 4];
    {}
    if (lane < 2) s[t] += s[t + 2];
    {}
    if (lane < 1) s[t] += s[t + 1];
    if (lane == {}) out[row] = s[t];
  }}
}}
"""
SYNC = "__syncwarp();"


@pytest.mark.parametrize(("word", "syncs"), [("volatile", [""] * 5), ("", [SYNC] * 5)])
def test_a_tree_within_each_warp(word, syncs):
    done = pipeline.translate(WARPS.format(word, *syncs, 0), "k.cu")
    assert not codes(done) and ".sum(axis=1)" in done.text and "arange" not in done.text
    assert agrees(done, {"x": (5 * 32,), "out": (5,)}, {"n": 5}, (2,), (96,))


@pytest.mark.parametrize(
    ("word", "syncs", "lane"),
    [("", [""] * 5, 0), ("", [SYNC, SYNC, "", SYNC, SYNC], 0), ("volatile", [""] * 5, 1)],
)
@pytest.mark.long_cases("syncs1")
def test_its_twins_without_order_or_of_another_lane_are_refused(word, syncs, lane):
    done = pipeline.translate(WARPS.format(word, *syncs, lane), "k.cu")
    assert done.text is None and codes(done)


LADDER = """
template <unsigned int B> __global__ void k(const int *x, int *out) {
  extern __shared__ int s[];
  unsigned int t = threadIdx.x;
  s[t] = x[blockIdx.x * B + t];
  __syncthreads();
  if (B >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
  if (B >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
  if (t < 32) {
    volatile int *v = s;
    if (B >= 64) v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
"""


def test_a_ladder_of_a_template_size_takes_up_to_its_first_step():
    done = pipeline.translate(LADDER, "k.cu")
    assert not codes(done) and "block has 256 threads at most" in done.text
    scope = {}
    exec(compile(done.text, "k.py", "exec"), scope)
    import numpy as np

    x = np.arange(1024, dtype=np.int32)
    for size in (64, 128, 256):
        out = scope["k"](x, np.zeros(1024 // size, np.int32), B=size, grid=1024 // size, block=size)
        assert np.array_equal(out, x.reshape(-1, size).sum(axis=1))
    with pytest.raises(ValueError, match="at most"):
        scope["k"](x, np.zeros(2, np.int32), B=512, grid=2, block=512)


FIRST = """
__global__ void k(const float *x, float *y, int n, int rounds) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  bool done;
  for (int r = 0; r < rounds; r++) {{
    {}
    v = v * v + 0.5f;
    if (v > 4.0f) {{ done = true; break; }}
  }}
  if (done) y[i] = v;
}}
"""


def test_a_local_that_the_first_round_sets():
    done = pipeline.translate(FIRST.format("done = false;"), "k.cu")
    assert not codes(done)
    assert agrees(done, {"x": (7,), "y": (7,)}, {"n": 7, "rounds": 5}, (1,), (8,))


def test_a_local_that_only_some_round_sets_is_refused():
    assert codes(pipeline.translate(FIRST.format(""), "k.cu")) == {"KR207"}


def test_a_neutral_number_behind_the_end_is_a_pad():
    done = translated(fill="-math.inf", combined="max(s[t], s[t + p])")
    assert "constant_values=-jnp.inf" in done.text and "where(" not in done.text, done.text
    assert agrees(done, {"a": (11,), "out": (2,)}, {"size": 11}, (2,), (8,))
    kernel = load_module(done.text).kernel
    out = kernel(jnp.zeros(3), jnp.array([-7, -3], jnp.int32), 2, grid=3, block=8)
    assert out.tolist() == [-3.0, -jnp.inf, -jnp.inf]  # integers hold no infinity
    other = translated(fill="-1.0", combined="max(s[t], s[t + p])")
    assert "constant_values=-1.0" in other.text and agrees(other, {"a": (11,), "out": (2,)}, {"size": 11}, (2,), (8,))


@pytest.mark.parametrize(("first", "launch"), [("-math.inf", False), ("-1.0", True)])
def test_an_extremum_of_what_the_guard_lets_through_needs_no_launch(first, launch):
    body = f"""
    i = cuda.grid(1)
    v = {first}
    if i < size:
        v = a[i]
    for d in (16, 8, 4, 2, 1):
        v = max(v, cuda.shfl_down_sync(0xffffffff, v, d))
    if cuda.laneid == 0:
        cuda.atomic.max(out, 0, v)
"""
    done = pipeline.translate(HEAD + body, "kernel.py")
    assert ("grid" in done.text) == launch, done.text
    assert agrees(done, {"a": (40,), "out": (1,)}, {"size": 40}, (2,), (32,))


OF_BITS = """__global__ void f(const int *x, int *y, int n) {{
  __shared__ int s[16];
  int t = threadIdx.x, i = blockIdx.x * 16 + t;
  s[t] = i < n ? x[i] : {neutral};
  __syncthreads();
  {before}
  for (int w = 8; w > 0; w >>= 1) {{
    {step}
    {after}
  }}
  if (t == 0) y[blockIdx.x] = s[0];
}}"""


@pytest.mark.parametrize(
    ("neutral", "before", "step", "function"),
    [
        ("0", "", "if (t < w) s[t] ^= s[t + w];", "xor"),
        ("0", "int a = s[t];", "if (t < w) s[t] = a = a | s[t + w];", "or"),
        ("-1", "", "if (t < w) { int p = s[t], q = s[t + w]; s[t] = q & p; }", "and"),
    ],
)
def test_bits_of_a_block(neutral, before, step, function):
    parts = {"neutral": neutral, "before": before, "step": step}
    done = pipeline.translate(OF_BITS.format(after="__syncthreads();", **parts), "f.cu")
    assert f"jnp.bitwise_{function}.reduce(" in (done.text or ""), done.diagnostics
    assert agrees(done, {"x": (40,), "y": (3,)}, {"n": 39}, (3,), (16,))
    assert codes(pipeline.translate(OF_BITS.format(after="", **parts), "f.cu")) == {"KR201"}


def test_bits_of_a_warp():
    source = (
        "__global__ void f(const unsigned *x, unsigned *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  unsigned v = i < n ? x[i] : 0u, all = __reduce_and_sync(~0u, v | 1);\n"
        "  for (int o = 16; o > 0; o /= 2) v ^= __shfl_down_sync(~0u, v, o);\n"
        "  if (threadIdx.x % 32 == 0) y[i / 32] = v + all; }"
    )
    done = pipeline.translate(source, "f.cu")
    assert "bitwise_xor.reduce(" in (done.text or "") and "loop" not in done.text, done.diagnostics
    assert agrees(done, {"x": (70,), "y": (4,)}, {"n": 70}, (2,), (64,))
    half = pipeline.translate(source.replace("o = 16", "o = 8"), "f.cu")
    assert "bitwise_xor.reduce(x2[:, :-16]," in (half.text or ""), half.diagnostics  # what comes to the first lane
    assert agrees(half, {"x": (70,), "y": (4,)}, {"n": 70}, (2,), (64,))


def test_bits_of_a_loop():
    source = (
        "__global__ void f(const int *x, int *p, unsigned *q, unsigned char *r, int n, int m) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
        "  int a = 21; unsigned b = ~0u; unsigned char c = 1;\n"
        "  for (int j = 0; j < m; j++) { a ^= x[i * m + j]; if (x[i * m + j] > 2) b &= x[i * m + j]; }\n"
        "  for (int j = 0; j < i; j++) c |= 1 << (x[j] & 7);\n"
        "  for (int j = 0; j < m; j++) a ^= x[i];\n"
        "  p[i] = a; q[i] = b; r[i] = c; }"
    )
    done = pipeline.translate(source, "f.cu")
    assert done.text and done.text.count(".reduce(") == 4 and "scan" not in done.text, done.text
    for n, m in ((5, 3), (4, 0)):
        shapes = {"x": (n * m + n,), "p": (n,), "q": (n,), "r": (n,)}
        assert agrees(done, shapes, {"n": n, "m": m}, (2,), (4,))
    mixed = pipeline.translate(source.replace("a ^= x[i * m + j];", "a = 3 * a ^ x[i * m + j];"), "f.cu")
    assert mixed.text and mixed.text.count(".reduce(") < 4


LEFT = """__global__ void k(float *out, const float *a, int size) {{
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < size ? a[i] : 0.f;
  __syncthreads();
  for (int m = blockDim.x; {on}; m = {less}) {{
    if ({who}) s[t] += s[t + {far}];
    __syncthreads();
  }}
  if (t == 0) out[blockIdx.x] = s[0];
}}
"""
HALVED = {"on": "m > 1", "less": "(m + 1) / 2", "who": "t < m / 2", "far": "(m + 1) / 2"}
ODD = [((3,), (7,)), ((2,), (13,)), ((1,), (32,)), ((5,), (1,))]


@pytest.mark.parametrize(
    "change", [{}, {"who": "t + (m + 1) / 2 < m", "on": "m != 1"}, {"less": "m - m / 2", "far": "(m - m / 2)"}]
)
@pytest.mark.long_cases("change2", "change1")
def test_halves_that_are_rounded_up_take_all(change):
    source = LEFT.format(**HALVED | change)
    assert "power of two" not in pipeline.translate(source, "k.cu").text
    assert judge(source, "cu", "out=f[5] a=f[40] size=20", ODD) == "right"


@pytest.mark.parametrize(
    "change",
    [{"far": "m / 2"}, {"less": "m / 2"}, {"on": "m > 2"}, {"who": "t < (m + 1) / 2"}, {"far": "(int)(m / 2)"}],
)
@pytest.mark.long_cases("change1", "change4")
def test_halves_that_drop_one_take_powers_of_two(change):
    source = LEFT.format(**HALVED | change)
    done = pipeline.translate(source, "k.cu")
    assert codes(done) or "power of two" in done.text or "fori_loop" in done.text
    if not codes(done):
        assert judge(source, "cu", "out=f[5] a=f[40] size=20", ODD[2:]) == "right"


def test_whole_numbers_of_cells_are_no_sum_of_them():
    source = LEFT.format(on="m > 0", less="m / 2", who="t < m", far="m").replace("blockDim.x; m", "blockDim.x / 2; m")
    assert judge(source.replace("+= s", "+= (int)s"), "cu", "out=f[5] a=f[40] size=20", [((1,), (32,))]) == "right"


DEALT = """__global__ void k(float *out, const float *a, int size) {
  __shared__ float s[64];
  int t = threadIdx.x;
  for (int i = t; i < 64; i += blockDim.x) s[i] = a[i];
  __syncthreads();
  for (int w = 32; w > 0; w /= 2) { if (t < w) s[t] += s[t + w]; __syncthreads(); }
  if (t == 0) out[0] = s[0];
}
"""


def test_a_tree_has_a_thread_for_each_pair():
    """Sixteen threads filled all cells, and combined the half of them: the sum was of all."""
    assert judge(DEALT, "cu", "out=f[1] a=f[64] size=64", [((1,), (32,)), ((1,), (48,))]) == "right"
    with pytest.raises(ValueError, match="32 threads or more"):
        judge(DEALT, "cu", "out=f[1] a=f[64] size=64", [((1,), (16,))])


def test_what_a_tree_leaves_is_not_added_to():
    source = (
        "__global__ void f(const float *x, float *y, int rows, int n) { __shared__ float s[64]; int t = threadIdx.x;\n"
        "  s[t] = 0; __syncthreads();\n"
        "  for (int r = 0; r < rows; r++) { s[t] += t < n ? x[r * n + t] : 0.0f; __syncthreads();\n"
        "    for (int o = 32; o > 0; o /= 2) { if (t < o) s[t] += s[t + o]; __syncthreads(); }\n"
        "    if (t == 0) y[r] = s[0]; __syncthreads(); } }"
    )
    refused = pipeline.translate(source, "f.cu")
    assert refused.text is None and refused.diagnostics[0].code == "KR299", refused.diagnostics
    anew = pipeline.translate(source.replace("s[t] += t < n", "s[t] = t < n"), "f.cu")
    assert agrees(anew, {"x": (60,), "y": (5,)}, {"rows": 5, "n": 12}, (1,), (64,))


IN_PLACE = """__global__ void k(int *x, int *y, unsigned n) {{
  unsigned t = threadIdx.x, i = blockIdx.x * {threads} + t;
  int *own = x + blockIdx.x * {threads};
  if (i >= n) return;
  for ({rounds}) {{ {step} __syncthreads(); }}
  if (t == 0) y[blockIdx.x] = own[0];
}}"""
HALVING = {"rounds": "int s = {threads} / 2; s > 0; s >>= 1", "step": "if (t < s) own[t] += own[t + s];"}
DOUBLING = {
    "rounds": "int s = 1; s < {threads}; s *= 2",
    "step": "int at = 2 * s * t; if (at < {threads}) own[at] += own[at + s];",
}


@pytest.mark.parametrize("form", [HALVING, DOUBLING])
@pytest.mark.long_cases("form0")
def test_a_tree_in_place_in_memory_of_the_device(form):
    """What it leaves of its array is returned: each step stays. The threads of a block must be known."""
    rounds, step = (form[part].format(threads="16") for part in ("rounds", "step"))
    source = IN_PLACE.format(threads="16", rounds=rounds, step=step)
    assert judge(source, "cu", "x=i[48]<-9:9 y=i[3] n=48", [((3,), (16,))]) == "right"
    assert judge(source.replace("__syncthreads();", ""), "cu", "", []) == "refused KR201"
    assert judge(source.replace("blockIdx.x * 16;", "blockIdx.x * 8;"), "cu", "", []).startswith("refused KR20")


def test_a_launch_tells_the_rounds_of_a_tree_in_place():
    rounds, step = (HALVING[part].format(threads="blockDim.x") for part in ("rounds", "step"))
    source = IN_PLACE.format(threads="blockDim.x", rounds=rounds, step=step).replace("if (i >= n) return;", "")
    (found,) = pipeline.translate(source, "k.cu").diagnostics
    assert "how many threads a block has" in found.hint
    source += "void run(int *x, int *y, int n) { k<<<n / 16, 16>>>(x, y, n); }"
    assert judge(source, "cu", "x=i[48]<-9:9 y=i[3] n=48", [((3,), (16,))]) == "right"


SHORT = """
__global__ void largest(const float *x, float *y, int n) {
    __shared__ float s[16];
    int t = threadIdx.x;
    s[t] = t < n ? x[PLACE] : -1e30f;
    __syncthreads();
    for (int k = 8; k > 0; k >>= 1) { if (t < k) s[t] = fmaxf(s[t], s[t + k]); __syncthreads(); }
    if (t == 0) y[BLOCK] = s[0];
}
"""


@pytest.mark.parametrize(("place", "block"), [("t", "0"), ("blockIdx.x * n + t", "blockIdx.x")])
@pytest.mark.parametrize("size", [1, 5, 16])
def test_rows_shorter_than_the_block(place, block, size):
    """The guard keeps threads from what lies beyond: a maximum over all of the block must not need it either."""
    done = pipeline.translate(SHORT.replace("PLACE", place).replace("BLOCK", block), "k.cu")
    largest = load_module(done.text).largest
    x = np.random.default_rng(size).normal(size=(2, size)).astype(np.float32)
    rows = 1 if block == "0" else 2
    got = largest(x[:rows].ravel(), np.zeros(rows, np.float32), size)
    np.testing.assert_array_equal(got, x[:rows].max(axis=1))
    gradient = jax.grad(lambda x: largest(x, np.zeros(rows, np.float32), size).sum())(x[:rows].ravel())
    np.testing.assert_array_equal(gradient.reshape(rows, size) != 0, x[:rows] == x[:rows].max(axis=1, keepdims=True))


def test_a_guard_that_lets_the_cell_before_through():
    done = pipeline.translate(SHORT.replace("PLACE", "t - 1").replace("BLOCK", "0"), "k.cu")
    assert done.text is None and any(d.code == "KR204" for d in done.diagnostics)
