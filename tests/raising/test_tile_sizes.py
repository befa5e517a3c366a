"""Blocks of a template's size, votes of a block, trees that end in a warp; and their wrong twins."""

from pathlib import Path

import numpy as np
import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.frontends import cuda_c, python
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
from kraise.options import Options
from kraise.raising import raise_function
from kraise.verify.load import load_module
from tests.checks import agrees

SAMPLES = Path(__file__).parents[2] / "samples"
TILES = (SAMPLES / "cuda_tile_sizes" / "kernel.cu").read_text()
ANY = (SAMPLES / "cuda_template_size" / "kernel.cu").read_text()
VOTES = (SAMPLES / "block_votes" / "kernel.py").read_text()


def raised(text, name):
    reader, file = (python, "kernel.py") if "numba" in text else (cuda_c, "kernel.cu")
    module, _ = reader.read(text, file)
    return raise_function(module, module.function(name), Options())


def codes(text, name):
    with pytest.raises(Refused) as refused:
        raised(text, name)
    return {d.code for d in refused.value.diagnostics}


def messages(kernel):
    return {text for _, text in kernel.checks}


def operators(kernel):
    nodes = [n for s in kernel.body for n in topological(statement_expressions(s))]
    return [n.op for n in nodes if isinstance(n, eq.Reduce | eq.Scan)]


def test_a_template_size_is_the_block():
    assert "a block has T threads along x" in messages(raised(TILES, "project"))
    assert "a block has B threads along x" in messages(raised(TILES, "mirror_blocks"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    __syncthreads();\n        for", "    for"),
        ("row * cols + col] = sum", "row * cols + col / 2] = sum"),
        ("[threadIdx.y][threadIdx.x] = kb", "[threadIdx.y / 2][threadIdx.x] = kb"),
    ],
)
@pytest.mark.long_cases("threadIdx.y / 2", "__syncthreads();")
def test_wrong_tiles_of_any_size_are_refused(old, new):
    assert old in ANY
    assert codes(ANY.replace(old, new), "product") & {"KR201", "KR202"}


def test_the_cells_beyond_a_block_tell_its_size():
    text = """__global__ void smooth(const float *x, float *y, int n) {
        __shared__ float cell[8 + 3];
        __shared__ float weight[4];
        int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
        if (t < 4) weight[t] = 1.0f / (1 + t);
        cell[t] = i < n ? x[i] : 0.0f;
        if (t < 3) cell[t + 8] = i + 8 < n ? x[i + 8] : 0.0f;
        __syncthreads();
        float sum = 0.0f;
        for (int k = 0; k < 4; k++) sum += cell[t + k] * weight[k];
        if (i < n) y[i] = sum;
    }"""
    assert "a block has 8 threads along x" in raised(text, "smooth").assumptions


@pytest.mark.parametrize(
    ("difference", "kept"),
    [
        ("i + 3u - 3u", "y[i]"),
        ("(i + 3u) - (3u + i) + i", "y[i]"),
        ("i - 1u", "wraps"),
        ("i + (k - 1)", "wraps"),
        ("((unsigned)j + i) - i", "wraps"),
    ],
)
def test_unsigned_sums_are_indices_where_all_that_is_subtracted_cancels(difference, kept):
    text = f"""__global__ void shift(const float *x, float *y, int n, int k) {{
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        for (int j = -2; j < 3; j++) {{
            unsigned at = {difference};
            if (i < n && at < n) y[i] += x[at];
        }}
    }}"""
    kernel = raised(text, "shift")
    masked = any(
        isinstance(n, eq.Op) and n.type.kind == "uint" and n.name in ("sub", "add")
        for s in kernel.body
        for e in statement_expressions(s)
        for n in topological((e,))
    )
    assert masked == (kept == "wraps")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("mirror_blocks", "  __syncthreads();\n  y[", "  y["),
        ("mirror_blocks", "y[blockIdx.x * B + threadIdx.x]", "y[blockIdx.x * B + threadIdx.x / 2]"),
        ("mirror_blocks", "y[blockIdx.x * B + threadIdx.x]", "y[blockIdx.x * (B - 1) + threadIdx.x]"),
        ("project", "tile * T + threadIdx.x];", "tile * T + threadIdx.x];\n    left[0][0] = 1.0f;"),
        ("project", "    __syncthreads();\n    for", "    for"),
        ("project", "    __syncthreads();\n  }", "  }"),
    ],
)
@pytest.mark.long_cases("left[0][0]", "  }-  }")
def test_wrong_tiles_are_refused(name, old, new):
    assert old in TILES
    assert codes(TILES.replace(old, new), name) & {"KR201", "KR202"}


def test_a_tree_that_ends_in_a_warp_takes_every_block_of_warps():
    found = messages(raised(TILES, "tail_by_warp"))
    assert "block must be a power of two" in found and "block must have 64 threads or more" in found


def test_a_tree_by_index_takes_every_power_of_two():
    text = """
    __global__ void k(const float *x, float *y) {
      __shared__ float s[128];
      int t = threadIdx.x;
      s[t] = x[blockIdx.x * blockDim.x + t];
      __syncthreads();
      for (int d = 1; d < blockDim.x; d *= 2) {
        int at = 2 * d * t;
        if (at + d < blockDim.x) s[at] += s[at + d];
        __syncthreads();
      }
      if (t == 0) y[blockIdx.x] = s[0];
    }
    """
    assert messages(raised(text, "k")) == {"block must be a power of two"}


@pytest.mark.parametrize(("old", "new"), [("s > 32; s", "s > 64; s"), ("if (t < s) part", "if (t < s - 1) part")])
def test_a_tree_that_skips_is_no_sum(old, new):
    assert old in TILES
    try:
        kernel = raised(TILES.replace(old, new), "tail_by_warp")
    except Refused:
        return
    assert "block must be a power of two" not in messages(kernel)


def test_votes_are_counted_over_the_block():
    assert operators(raised(VOTES, "hot_cells")) == ["add"]
    assert operators(raised(VOTES, "total_charge")) == ["add"]


def test_a_vote_that_not_all_threads_reach_is_refused():
    old = "    c = cuda.syncthreads_count(i < n and heat[i] > limit)\n    if"
    assert old in VOTES
    text = VOTES.replace(old, "    c = 0\n    if i < n:\n        c = cuda.syncthreads_count(heat[i] > limit)\n    if")
    assert codes(text, "hot_cells") == {"KR206"}


def test_a_vote_in_a_block_of_rows():
    text = """
    __global__ void k(const float *x, int *y, int w) {
      int c = threadIdx.x, r = threadIdx.y;
      int some = __syncthreads_or(x[(blockIdx.x * blockDim.y + r) * w + c] > 0.0f);
      if (c == 0 && r == 0) y[blockIdx.x] = some;
    }
    """
    assert operators(raised(text, "k")) in (["add"], ["add", "add"])


def test_axes_are_those_of_the_kernel():
    other = "__global__ void other(float *y, int w) { y[threadIdx.y * w + threadIdx.x] = 1.0f; }\n"
    text = """
    __global__ void k(const float *x, int *y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      int c = __syncthreads_count(i < n && x[i] > 0.0f);
      if (threadIdx.x == 0) y[blockIdx.x] = c;
    }
    """
    assert operators(raised(other + text, "k")) == ["add"]


STRIDES = """
template <unsigned int size> __global__ void k(const float *x, float *out, unsigned int n) {{
  extern __shared__ float s[];
  unsigned int t = threadIdx.x;
  unsigned int step = size * gridDim.x{double};
  float sum = 0;
  unsigned int i = blockIdx.x * size{times} + t;
  while (i < n) {{ sum += x[i]; {second} i += step; }}
  s[t] = sum;
  __syncthreads();
  if (size >= 256 && t < 128) s[t] = sum = sum + s[t + 128];
  __syncthreads();
  if (size >= 128 && t < 64) s[t] = sum = sum + s[t + 64];
  {barrier}
  if (t < 32) {{
    if (size >= 64) sum += s[t + 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  }}
  if (t == 0) out[blockIdx.x] = sum;
}}
"""
ONE = {"double": "", "times": "", "second": "", "barrier": "__syncthreads();"}
TWO = ONE | {"double": " << 1", "times": " * 2", "second": "if (i + size < n) sum += x[i + size];"}


@pytest.mark.long  # test_trees.py has ladders
@pytest.mark.parametrize("form", [ONE, TWO])
def test_strides_of_the_grid_then_a_ladder_that_ends_in_a_warp(form):
    """Of any size that the template may be instantiated with; what the blocks leave out nobody sums."""
    done = pipeline.translate(STRIDES.format(**form), "k.cu")
    assert done.text is not None and "_loop" not in done.text, [d.reason for d in done.diagnostics]
    scope = {}
    exec(done.text, scope)
    x = np.arange(700, dtype=np.float32) % 13
    for size in (64, 128):
        width = size * 3 * (1 if form is ONE else 2)
        rows = np.pad(x, (0, -x.size % width)).reshape(-1, 3, width // 3).sum(axis=(0, 2))
        got = scope["k"](x, np.zeros(3, np.float32), x.size, size=size, grid=3, block=size)
        assert np.array_equal(got, rows)
    with pytest.raises(ValueError, match="block has"):
        scope["k"](x, np.zeros(3, np.float32), x.size, size=64, grid=3, block=128)


@pytest.mark.long
def test_its_twin_without_the_barrier_is_refused():
    assert pipeline.translate(STRIDES.format(**ONE | {"barrier": ""}), "k.cu").text is None


TURNED = (SAMPLES / "cuda_turned_tiles" / "kernel.cu").read_text()


def test_rows_are_those_that_the_array_has_where_a_tile_divides_them_too():
    (store,) = raised(TURNED, "turned").body
    assert [a.name for a in store.axes] == ["y", "x"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (x < h && y < w)", "if (y < w)"),  # the next row begins within the tile
        ("if (x < h && y < w)", "if (x < w && y < w)"),
        ("  __syncthreads();\n", ""),
        ("y = blockIdx.x * SIDE + threadIdx.y;\n  if (x < h", "y = blockIdx.x * SIDE + threadIdx.y / 2;\n  if (x < h"),
    ],
)
@pytest.mark.long_cases("if (x < w")
def test_wrong_turned_tiles_are_refused(old, new):
    assert old in TURNED
    assert codes(TURNED.replace(old, new), "turned") & {"KR201", "KR202"}


def test_blocks_are_not_narrower_than_they_are_placed():
    """Blocks of three threads, as many as fill the rim, would have no race: those 32 apart have more."""
    source = """
__global__ void f(const float *x, float *y, int n) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  __shared__ float s[38];
  s[t + 3] = i < n ? x[i] : 9.0f;
  if (t < 3) { s[t] = i >= 3 && i - 3 < n ? x[i - 3] : 0.0f; s[t + 35] = i + 32 < n ? x[i + 32] : 0.0f; }
  %s
  if (i < n) y[i] = s[t] - s[t + 3];
}"""
    racing, done = (pipeline.translate(source % barrier, "f.cu") for barrier in ("", "__syncthreads();"))
    assert {d.code for d in racing.diagnostics} == {"KR201"} and not racing.text
    assert done.text and not done.diagnostics


def test_a_block_has_more_threads_than_a_guard_of_its_only_one_lets_through():
    """Blocks of two threads, as many as the sums are, would have no race: ``if (i < 2)`` speaks of others."""
    source = """
__global__ void f(const float *x, float *y, int n) {
  __shared__ float sums[2];
  int i = threadIdx.x;
  if (i < 2) sums[i] = 0.0f;
  __syncthreads();
  if (i < n) atomicAdd(&sums[i & 1], x[i]);
  %s
  if (i < n) y[i] = sums[i & 1];
}"""
    racing, done = (pipeline.translate(source % barrier, "f.cu") for barrier in ("", "__syncthreads();"))
    assert {d.code for d in racing.diagnostics} == {"KR201"} and not racing.text
    assert done.text and not done.diagnostics


def test_blocks_leave_no_gaps_between_them():
    """Blocks of 12 threads, as the loop suggests them, would store to a quarter of the array."""
    source = """
__global__ void f(const float *x, float *y) {
  __shared__ float s[48];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 48 + t];
  __syncthreads();
  float v = 0.0f;
  for (int k = t / 12; k < 4; k++) v += s[k * 12 + t % 12];
  y[blockIdx.x * 48 + t] = v + t % 5;
}"""
    done = pipeline.translate(source, "f.cu")
    assert done.text is None or "12 threads" not in done.text
    told = pipeline.translate(source + "\nvoid run(float *x, float *y, int n) { f<<<n, 12>>>(x, y); }", "f.cu")
    assert told.text is None and "KR207" in {d.code for d in told.diagnostics}  # nobody fills the other cells


ROW_SUM = """
__global__ void k(const int *x, int *w, int nx, int ny) {
  int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * blockDim.y + ty, a = 0;
  __shared__ int s%s;
  if (r < ny) for (int c = tx; c < nx; c += blockDim.x) a += x[r * nx + c];
  s[ty][tx] = a;
  __syncthreads();
  %s
  if (tx == 0 && r < ny) w[r] = s[ty][0];
}
"""
HALVED = "for (int d = 4; d > 0; d >>= 1) { if (tx < d) s[ty][tx] += s[ty][tx + d]; __syncthreads(); }"
SERIAL = "if (tx == 0) for (int i = 1; i < 8; i++) s[ty][0] += s[ty][i];"


@pytest.mark.parametrize(("cells", "tree"), [("[4][9]", HALVED), ("[4][8 + 1]", SERIAL), ("[4][16]", HALVED)])
def test_a_block_has_as_many_threads_as_its_sum_takes_in_and_that_is_checked(cells, tree):
    """A column more keeps the rows in different banks, and an array may be roomy: what a tree adds up counts."""
    done = pipeline.translate(ROW_SUM % (cells, tree), "k.cu")
    assert done.text and "a block has 8 threads along x" in done.text and "along y" not in done.text, done.text
    shapes = {"x": (39,), "w": (3,)}
    agrees(done, pipeline.Request(shapes=shapes, values={"nx": 13, "ny": 3}, grid=(1, 1), block=(8, 4)))
    x, w = np.arange(39, dtype=np.int32), np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="a block has 8 threads along x"):
        load_module(done.text).k(x, w, 13, 3, block=(9, 4))
    full = pipeline.translate(
        ROW_SUM % ("[5][8]", tree), "k.cu"
    )  # other blocks leave the array, or cells that are read
    assert full.text and "a block has 8 threads along x" in full.text and "block=" not in full.text


ROUND = """__global__ void f(const float *x, float *y, int k) {
  __shared__ float s[37];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[(t + k) %% %d] = x[i];
  __syncthreads();
  y[i] = s[t] - s[(t + 37 - k) %% 37];
}"""


def test_a_tile_that_goes_round_in_an_odd_number_has_a_thread_for_each_cell():
    done = pipeline.translate(ROUND % 37, "f.cu")
    assert "a block has 37 threads" in done.text
    values = {"k": 5}
    agrees(done, pipeline.Request(shapes={"x": (74,), "y": (74,)}, values=values, grid=(2,), block=(37,)))


def test_a_tile_that_goes_round_in_fewer_cells_than_it_has_threads_is_refused_or_smaller():
    done = pipeline.translate(ROUND % 36, "f.cu")
    assert done.text is None or "a block has 37 threads" not in done.text
