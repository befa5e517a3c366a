"""Several arrays of a block in one dynamic shared array."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.frontends import cuda_c
from kraise.ir.types import INT32
from kraise.raising.collective.integers import number
from kraise.raising.threads.sizes import suggested
from tests.checks import agrees

KERNEL = """
__global__ void f(const float *x, float *y, float *z, int n) {{
  extern __shared__ float s[];
  float *a = s, *b = s + {size};
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  a[t] = x[i];
  b[t] = x[i] * x[i];
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w /= 2) {{
    if (t < w) {{ a[t] += a[{other}]; b[t] = fmaxf(b[t], b[t + w]); }}
    __syncthreads();
  }}
  if (t == 0) {{ y[blockIdx.x] = a[0]; z[blockIdx.x] = {last}; }}
}}
"""


def translated(size="blockDim.x", other="t + w", last="b[0]"):
    return pipeline.translate(KERNEL.format(size=size, other=other, last=last), "f.cu")


def run(done, block, n=0):
    scope = {}
    exec(done.text, scope)
    x = np.arange(4 * block, dtype=np.float32)[::-1] - 5
    y, z = scope["f"](x, np.zeros(4, np.float32), np.zeros(4, np.float32), n, grid=4, block=block)
    return x.reshape(4, block), y, z


@pytest.mark.parametrize("size", ["blockDim.x", "2 * blockDim.x"])
def test_two_trees_are_two_reductions(size):
    done = translated(size)
    assert done.text is not None and "fori_loop" not in done.text, [d.reason for d in done.diagnostics]
    for block in (1, 2, 16):
        x, y, z = run(done, block)
        assert np.array_equal(y, x.sum(axis=1)) and np.array_equal(z, (x * x).max(axis=1))


@pytest.mark.parametrize(
    "twin",
    [
        {"other": "t + w + 1"},  # the last one reads the other part
        {"other": "t + 2 * w"},
        {"last": "b[1]"},  # half-combined
        {"size": "n"},  # n may be less than the block
        {"size": "blockDim.x / 2"},
    ],
)
def test_trees_that_leave_their_part_are_refused(twin):
    assert translated(**twin).text is None


def test_a_cell_beyond_a_part_is_the_next_part():
    source = """
__global__ void f(const float *x, float *y) {
  extern __shared__ float s[];
  float *a = s, *b = s + blockDim.x;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  a[t] = x[i];
  b[t] = 2 * x[i];
  __syncthreads();
  y[i] = a[t + 1];
}
"""
    done = pipeline.translate(source, "f.cu")
    scope = {}
    exec(done.text, scope)
    x = np.arange(12, dtype=np.float32) + 1
    both = np.concatenate([x.reshape(3, 4), 2 * x.reshape(3, 4)], axis=1)
    assert np.array_equal(scope["f"](x, np.zeros(12, np.float32), grid=3, block=4), both[:, 1:5].ravel())


def test_python_counts_the_threads_in_a_local():
    source = """
from numba import cuda, float32

@cuda.jit
def f(x, y, z):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    size = cuda.blockDim.x
    i = cuda.grid(1)
    s[t] = x[i]
    s[size + t] = x[i] * x[i]
    cuda.syncthreads()
    w = size // 2
    while w > 0:
        if t < w:
            s[t] += s[t + w]
            s[size + t] += s[size + t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]
        z[cuda.blockIdx.x] = s[size]
"""
    done = pipeline.translate(source, "f.py")
    assert done.text is not None and done.text.count("axis=1") == 2, [d.reason for d in done.diagnostics]


TWO_TREES = """
__global__ void f(const float *x, float *y, int n) {
  __shared__ float s[16];
  int t = threadIdx.x, i = blockIdx.x * 8 + t;
  float v = i < n ? x[n - 1 - i] : 0.0f;
  s[t] = v;
  s[8 + t] = v * v;
  __syncthreads();
  for (int w = 4; w > 0; w /= 2) {
    if (t < w) { s[t] += s[t + w]; s[8 + t] += s[8 + t + w]; }
    __syncthreads();
  }
  if (i < n) y[i] = s[0] - s[8];
}
"""


def test_demands_that_contradict_each_other_prove_nothing():
    """A block of 16 threads, as many as there are cells, would ask for n <= 8 and for n >= 16."""
    done = pipeline.translate(TWO_TREES, "f.cu")
    scope = {}
    exec(done.text, scope)
    x = np.arange(10, dtype=np.float32) % 7
    got = scope["f"](x, np.zeros(10, np.float32), 10, grid=2, block=8)
    rows = np.pad(x[::-1], (0, 6)).reshape(2, 8)
    expected = np.repeat(rows.sum(axis=1) - (rows * rows).sum(axis=1), 8)[:10]
    np.testing.assert_allclose(got, expected)


VECTORS = """
__global__ void f(const float4 *x, float4 *y, int n) {
  extern __shared__ float4 s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : make_float4(0, 0, 0, 0);
  %s
  if (i < n) y[i] = %s;
}
"""


@pytest.mark.parametrize("last", ["s[blockDim.x - 1 - t]", "make_float4(s[0].x, s[t].y, s[blockDim.x - 1].z, 1.f)"])
@pytest.mark.long_cases("make_float4")
def test_a_dynamic_array_of_vectors_has_rows_of_their_members(last):
    done = pipeline.translate(VECTORS % ("__syncthreads();", last), "f.cu")
    for n in (5, 8):
        agrees(done, pipeline.Request(shapes={"x": (n, 4), "y": (n, 4)}, values={"n": n}, grid=2, block=4), n)


def test_vectors_without_the_barrier_are_a_race():
    done = pipeline.translate(VECTORS % ("", "s[blockDim.x - 1 - t]"), "f.cu")
    assert {d.code for d in done.diagnostics} == {"KR201"}


def test_a_tree_of_vectors():
    body = """__syncthreads();
  for (int w = blockDim.x / 2; w > 0; w /= 2) {
    if (t < w) { s[t].x += s[t + w].x; s[t].y += s[t + w].y; }
    __syncthreads();
  }"""
    done = pipeline.translate(VECTORS % (body, "s[0]"), "f.cu")
    agrees(done, pipeline.Request(shapes={"x": (8, 4), "y": (8, 4)}, values={"n": 7}, grid=2, block=4))


STRUCTS = """
struct P {{ {members} }};
__global__ void f(const int *x, float *y, int m) {{
  extern __shared__ {declared};
  {seen}
  for (int j = threadIdx.x; j < m; j += blockDim.x) {{ s[j].v = 0; s[j].k = j; }}
  __syncthreads();
  atomicAdd(&s[x[threadIdx.x]].v, 0.5f);
  {more}
  __syncthreads();
  if (threadIdx.x == 0) for (int j = 0; j < m; j++) y[j] = s[j].v * s[j].k;
}}
void launch(const int *x, float *y, int m) {{ f<<<1, 8, m * sizeof(P)>>>(x, y, m); }}
"""


@pytest.mark.parametrize("declared, seen", [("P s[]", ""), ("char room[]", "P *s = (P *)room;")])
def test_a_struct_has_an_array_for_each_member(declared, seen):
    """The bytes of the launch are those of whole structs, padding included."""
    source = STRUCTS.format(members="char c; float v; short k;", declared=declared, seen=seen, more="")
    done = pipeline.translate(source, "f.cu")
    assert done.text and "shared=m)" in done.text, [d.reason for d in done.diagnostics]
    scope = {}
    exec(done.text, scope)
    x = np.array([0, 3, 3, 1, 4, 4, 4, 3], np.int32)
    wanted = np.bincount(x) * 0.5 * np.arange(5)
    assert np.array_equal(scope["launch"](x, np.zeros(5, np.float32), 5), wanted)


@pytest.mark.parametrize(
    "twin",
    [
        {"more": "float *w = (float *)room; w[threadIdx.x] = 1;"},  # the same bytes as numbers
        {"members": "float v; int k; int more[2];"},
    ],
)
def test_structs_that_are_seen_as_numbers_or_hold_arrays_are_refused(twin):
    given = {"members": "float v; int k;", "declared": "char room[]", "seen": "P *s = (P *)room;", "more": "", **twin}
    assert "KR299" in {d.code for d in pipeline.translate(STRUCTS.format(**given), "f.cu").diagnostics}


LONGER = """
__global__ void f(float2 *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 *p = reinterpret_cast<float4 *>(x);
  if (i < n) { float4 v = p[i]; y[i] = v.x + ((float *)(p + i))[3] * v.z; v.y *= v.w; *(p + i) = v; }
}
"""


def test_vectors_are_seen_as_longer_ones():
    done = pipeline.translate(LONGER, "f.cu")
    assert done.text, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(shapes={"x": (8, 2), "y": (3,)}, values={"n": 3}))
    shorter = pipeline.translate(LONGER.replace("float2 *x", "float3 *x"), "f.cu")
    assert [d.code for d in shorter.diagnostics] == ["KR299"]


HEAD = "__global__ void f(const float *x, float *y, int n) { "
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; "


def test_a_number_shifted_by_more_than_itself_is_nothing():
    """``i >> 4 + i``: the padding of scans that lacks its brackets. Below zero nothing is known."""
    done = pipeline.translate(HEAD + INDEX + "if (i < n) y[i] = x[i + (i >> 4 + i >> 8)]; }", "f.cu")
    assert "y.at[:n].set(x[:n])" in done.text
    half = "if (i < n / 2) y[i] = x[n / 2 + i + (n / 2 + i >> 4 + (n / 2 + i))]; }"  # a size is not below zero
    assert "x[n // 2 : 2 * (n // 2)]" in pipeline.translate(HEAD + INDEX + half, "f.cu").text
    below = pipeline.translate(HEAD + INDEX + "if (i < n) y[i] = (i - 3) >> 4 + (i - 3); }", "f.cu")
    assert ">>" in below.text
    bits = number("shr", [np.array([5, 40]), np.array([9, 44])], INT32)
    assert isinstance(bits, np.ndarray) and bits.tolist() == [0, 0]


@pytest.mark.parametrize("begins, found", [("2", [{0: -2}]), ("2 * blockDim.x", [])])
def test_two_elements_for_each_thread_say_nothing_of_a_block(begins, found):
    body = f"int i = blockIdx.x * {begins} + threadIdx.x; __shared__ float s[64]; y[i] = x[i]; }}"
    assert suggested(cuda_c.read(HEAD + body, "f.cu")[0].function("f").body, {}) == found


def test_rows_of_vectors_are_filled_up_behind_the_last_vector():
    source = """
template <int T> __global__ void f(int *y, const float2 *x, int n) {
  int i = blockIdx.x * 32 * T + threadIdx.x;
  if (i < n) {
    float2 p[T];
    for (int t = 0; t < T; t++) if (i + 32 * t < n) p[t] = x[i + 32 * t];
    for (int t = 0; t < T; t++) if (i + 32 * t < n) y[i + 32 * t] = p[t].x > 0.2f && p[t].y < 0.9f;
  }
}
void launch(int *y, const float2 *x, int n) { f<1><<<3, 32>>>(y, x, n); f<2><<<2, 32>>>(y, x, n); }
"""
    done = pipeline.translate(source, "f.cu")
    assert done.text and "(0, 0))" in done.text, [d.reason for d in done.diagnostics]
    scope = {}
    exec(done.text, scope)
    x = np.linspace(0, 1, 140, dtype=np.float32).reshape(70, 2)
    assert np.array_equal(scope["f"](np.zeros(70, np.int32), x, 70, T=2), (x[:, 0] > 0.2) & (x[:, 1] < 0.9))


WARPS = """__global__ void f(const float *x, float *y, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
  float *tops = s, *sums = &s[PART];
  float m = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, x[blockIdx.x * n + i]);
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_down_sync(~0u, m, o));
  if (lane == 0) tops[warp] = m;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < warps; i++) m = fmaxf(m, tops[i]);
    tops[0] = m;
  }
  __syncthreads();
  float top = tops[0], d = 0.0f;
  for (int i = t; i < n; i += blockDim.x) d += expf(x[blockIdx.x * n + i] - top);
  for (int o = 16; o > 0; o /= 2) d += __shfl_down_sync(~0u, d, o);
  if (lane == 0) sums[warp] = d;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < warps; i++) d += sums[i];
    y[blockIdx.x] = top + logf(d);
  }
}
"""


@pytest.mark.parametrize("part", ["warps", "blockDim.x / 32", "(blockDim.x >> 5)"])
@pytest.mark.long_cases("32", "5")
def test_a_part_for_each_warp(part):
    done = pipeline.translate(WARPS.replace("PART", part), "f.cu")
    assert done.text is not None and "jnp.arange" not in done.text, done.text
    agrees(done, pipeline.Request(grid=(2, 1, 1), block=(64, 1, 1), values={"n": 34}))


@pytest.mark.parametrize("part", ["warps - 1", "blockDim.x / 64", "0"])
@pytest.mark.long_cases("warps", "64")
def test_parts_that_overlap_are_a_race(part):
    """``tops[0]`` is read where ``sums[0]`` is stored, with no barrier between."""
    done = pipeline.translate(WARPS.replace("PART", part), "f.cu")
    assert done.text is None and {d.code for d in done.diagnostics} <= {"KR201", "KR299"}
