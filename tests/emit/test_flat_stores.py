"""Guarded stores by block and thread: all that the threads have, cut off at the guard, whatever the sizes are."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

HEAD = "__global__ void k(const float *x, float *y, int n) { __shared__ float s[8]; int t = threadIdx.x; "
GUARDED = "int i = blockIdx.x * SIZE + t; s[t] = i < n ? x[i] : 0.0f; __syncthreads(); "
KERNELS = {
    "turned": ("if (i < n) y[i] = s[SIZE - 1 - t];", lambda s, t: s[::-1]),
    "rolled": ("if (i < n) y[i] = s[(t + 1) % SIZE];", lambda s, t: np.roll(s, -1)),
    "added": ("if (i < n) y[i] += s[SIZE - 1 - t];", lambda s, t: t + s[::-1]),
    "last cell spared": ("if (i < n - 1) y[i] = s[SIZE - 1 - t];", lambda s, t: s[::-1]),
    "up to the last": ("if (i <= n - 1) y[i] = 2.0f * s[SIZE - 1 - t];", lambda s, t: 2 * s[::-1]),
}


@pytest.mark.parametrize("size", ["8", "blockDim.x"])
@pytest.mark.parametrize("name", KERNELS)
def test_cells_of_all_threads_are_cut_off_at_the_guard(name, size):
    body, expected = KERNELS[name]
    done = pipeline.translate((HEAD + GUARDED + body + "}").replace("SIZE", size), "k.cu")
    if name != "added":  # what is added where the load is outside is zero: the load's mask goes to the store
        assert done.text and "arange" not in done.text and ".ravel()[:" in done.text, done.text
    module = load_module(done.text)
    spared = name == "last cell spared"
    for n, grid in ((0, 1), (1, 1), (7, 1), (8, 1), (9, 2), (20, 3), (20, 2), (20, 4)):
        if size == "8" and grid != -(-max(n, 1) // 8):
            continue  # the launch is taken to cover the guarded range
        x = np.random.default_rng(n).normal(size=n + 3).astype(np.float32)
        y = np.full(n + 2, 7, np.float32)
        launch = {} if size == "8" else {"grid": grid, "block": 8}
        got = module.k(jnp.asarray(x), jnp.asarray(y), n, **launch)
        rows = np.zeros(8 * grid, np.float32)
        end = min(n, 8 * grid)
        rows[:end] = x[:end]
        for b in range(grid):
            part = slice(8 * b, min(8 * b + 8, n - spared))
            if part.start < part.stop:
                y[part] = expected(rows[8 * b : 8 * b + 8], np.float32(7))[: part.stop - part.start]
        np.testing.assert_allclose(got, y, rtol=1e-6, err_msg=f"n = {n}, {grid} blocks")


LATER = {  # stores of blocks from the second one on, or from the second block's cells on, and what is added there
    "blocks but the first": ("if (b > 0 && i < n) y[i] += x[b - 1];", lambda i, b: b - 1),
    "left before": ("if (b == 0) return; if (i < n) y[i] += x[b - 1];", lambda i, b: b - 1),
    "a block further on": ("i += blockDim.x; if (i < n) y[i] += x[b];", lambda i, b: b - 1),
    "three cells further on": ("i += 3; if (i < n) y[i] += x[b];", lambda i, b: (i - 3) // 4),
}


@pytest.mark.parametrize("name", LATER)
def test_cells_from_a_later_one_on(name):
    body, block_of = LATER[name]
    head = "int b = blockIdx.x, i = b * blockDim.x + threadIdx.x; "
    done = pipeline.translate(f"__global__ void k(const float *x, float *y, int n) {{ {head}{body} }}", "k.cu")
    assert done.text and "arange" not in done.text and "jnp.where" not in done.text, done.text
    module, x = load_module(done.text), np.arange(1, 5, dtype=np.float32)
    first = 3 if name == "three cells further on" else 4
    for n in (0, 2, 4, 5, 9, 12):
        grid = max(-(-n // 4), 1)
        want = np.full(13, 7, np.float32)
        for i in range(first, n):
            want[i] += x[block_of(i, i // 4)]
        got = module.k(jnp.asarray(x), jnp.full(13, 7.0), n, grid=grid, block=4)
        np.testing.assert_array_equal(got, want, err_msg=f"n = {n}")


def test_a_guard_by_data_stays_a_mask():
    body = "if (i < n && x[i] > 0.0f) y[i] = s[7 - t];}"
    done = pipeline.translate((HEAD + GUARDED + body).replace("SIZE", "8"), "k.cu")
    assert done.text and ".ravel()[:" not in done.text


SCANNED = """
  int i = blockIdx.x * blockDim.x + t, b = blockDim.x;
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < b; d *= 2) {
    float v = t >= d ? s[t - d] : 0.0f;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  y[i] = s[7 - t] * 0.5f;
}"""


def test_the_first_store_to_part_of_a_tile_is_padded():
    """XLA 0.10.2 for CPUs ends the process where ``zeros(8).at[:n].set(v)``, n = 8, is read backwards."""
    done = pipeline.translate(HEAD + SCANNED, "k.cu")
    assert done.text and "jnp.pad(" in done.text and "zeros" not in done.text, done.text
    x = np.random.default_rng(1).normal(size=24).astype(np.float32)
    got = load_module(done.text).k(jnp.asarray(x), jnp.zeros(24), 24, grid=3, block=8)
    np.testing.assert_allclose(got, 0.5 * np.cumsum(x.reshape(3, 8), axis=1)[:, ::-1].ravel(), rtol=1e-5)


PARTS = """
__global__ void k(const float *x, float *y, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * (PARTS * blockDim.x) + t;
  float sum = i < n ? x[i] : 0.0f;
  if (i + blockDim.x < n) sum += x[i + blockDim.x];
  s[t] = sum;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
"""


@pytest.mark.parametrize("parts", [2, 3])  # with 3, a third of x is left out
@pytest.mark.parametrize("block", ["64", "blockDim.x"])
@pytest.mark.long_cases("64-3", "blockDim.x-2")
def test_a_thread_loads_from_several_parts_of_its_block(block, parts):
    source = PARTS.replace("PARTS", str(parts)).replace("extern __shared__ float s[]", "__shared__ float s[64]")
    done = pipeline.translate(source.replace("blockDim.x", block), "k.cu")
    assert done.text and "arange" not in done.text and "jnp.where" not in done.text, done.text
    module = load_module(done.text)
    for n, grid in ((1, 1), (70, 1), (128, 1), (130, 2), (383, 2), (384, 2), (384, 1)):
        x = np.random.default_rng(n).normal(size=n + 1).astype(np.float32)
        rows = np.zeros((grid, 64 * parts), np.float32)
        rows.ravel()[: min(n, rows.size)] = x[: min(n, rows.size)]
        got = module.k(jnp.asarray(x), jnp.zeros(grid), n, grid=grid, block=64)
        np.testing.assert_allclose(got, rows[:, :128].sum(axis=1), rtol=1e-4, atol=1e-4)


BESIDE = {  # what is stored beside one another, in lines of its own; whether it is rows
    "alike": ("y[3 * i] = x[3 * i] * s; y[3 * i + 1] = x[3 * i + 1] * s; y[3 * i + 2] = x[3 * i + 2] * s;", True),
    "in any order": (
        "y[3 * i + 2] = x[3 * i + 2] * s; y[3 * i] = x[3 * i] * s; y[3 * i + 1] = x[3 * i + 1] * s;",
        True,
    ),
    "but for a number": (
        "y[3 * i] = s > 0.5f ? x[3 * i] / s : 0.0f; y[3 * i + 1] = s > 0.5f ? x[3 * i + 1] / s : 1.0f;"
        "y[3 * i + 2] = s > 0.5f ? x[3 * i + 2] / s : 0.0f;",
        True,
    ),
    "two numbers": (
        "y[3 * i] = s > 0.5f ? x[3 * i] : 0.5f; y[3 * i + 1] = s > 0.5f ? x[3 * i + 1] : 1.0f;"
        "y[3 * i + 2] = s > 0.5f ? x[3 * i + 2] : 0.0f;",
        False,
    ),
    "turned": ("y[3 * i] = x[3 * i + 1] * s; y[3 * i + 1] = x[3 * i + 2] * s; y[3 * i + 2] = x[3 * i] * s;", False),
    "from the next": (
        "y[3 * i] = x[3 * i + 1] * s; y[3 * i + 1] = x[3 * i + 2] * s; y[3 * i + 2] = x[3 * i + 3] * s;",
        False,
    ),
    "unlike": ("y[3 * i] = x[3 * i] * s; y[3 * i + 1] = x[3 * i + 1] + s; y[3 * i + 2] = x[3 * i + 2] * s;", False),
}


@pytest.mark.parametrize("name", BESIDE)
def test_values_beside_one_another_that_are_made_alike(name):
    body, rows = BESIDE[name]
    source = (
        "__global__ void f(const float *x, float *y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if (i < n) {{ float s = x[3 * i] * x[3 * i] + x[3 * i + 2]; {body} }}\n}}\n"
    )
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None, done.diagnostics
    for n in (3, 0):
        request = pipeline.Request(shapes={"x": (3 * n + 1,), "y": (3 * n,)}, values={"n": n})
        agrees(done, request)
    assert ("stack" not in done.text) == rows, done.text


PICKED = {  # how a local array is filled whose elements a loop stores, and whether these are a stack
    "in full": ("c[0] = x[3 * i] * s; c[1] = sqrtf(1.0f + x[3 * i + 1] * x[3 * i + 1]); c[2] = s;", True),
    "one again": ("c[0] = x[3 * i]; c[1] = s; c[2] = x[3 * i];", False),
    "a number": ("c[0] = 1.0f; c[1] = x[3 * i]; c[2] = s * s;", True),
    "then one anew": ("for (int j = 0; j < 3; j++) c[j] = x[3 * i + j] * s; c[1] = s;", False),
    "by data": ("c[0] = s; c[1] = x[3 * i]; c[2] = 0.0f; if (s > 1.0f) c[1] = s * s; ", True),
    "at a place of data": ("c[0] = c[1] = c[2] = 0.0f; c[s > 1.0f ? 2 : 1] = x[3 * i + 1];", False),
}


@pytest.mark.parametrize("name", PICKED)
@pytest.mark.long_cases("one again")
def test_a_local_array_filled_at_numbers_is_a_stack(name):
    body, stack = PICKED[name]
    source = (
        "__global__ void f(const float *x, float *y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if (i < n) {{ float c[3]; float s = x[3 * i] * x[3 * i] + x[3 * i + 2]; {body}\n"
        "  float t = 0.0f; for (int k = 0; k < 3; k++) t += c[k];"
        "  for (int k = 0; k < 3; k++) y[3 * i + k] = c[k] - 0.5f * t * c[2 - k]; }\n}\n"
    )
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None, done.diagnostics
    for n in (3, 0):
        request = pipeline.Request(shapes={"x": (3 * n + 1,), "y": (3 * n,)}, values={"n": n})
        agrees(done, request)
    assert ("jnp.stack" in done.text) == stack, done.text


TO_ROWS = {  # what is added to rows of b, and how many updates and gathers of rows that is; a is data, at rows of q
    "in order": ("+0 s*q0, +1 s*q1, +2 s*q2", 1, 1),
    "to two rows by turns": ("+0 s*q0, -0 -s*q0, +1 s*q1, -1 -s*q1, +2 s*q2, -2 -s*q2", 2, 1),
    "not alike": ("+0 s, +1 s*q1, +2 q2", 1, 1),
    "apart": ("+0 s*q0, +2 s*q2", 2, 0),
    "twice at a place": ("+0 s*q0, +0 q1, +1 s*q2", 2, 1),
}


@pytest.mark.parametrize("name", TO_ROWS)
def test_additions_to_members_of_a_row(name, tmp_path):
    parts, updates, gathers = TO_ROWS[name]
    adds = "".join(
        f" atomicAdd(&b[e[i]{' + 1' if sign == '-' else ''}].{'xyz'[int(k)]},"
        f" {re.sub(r'q(.)', lambda m: 'q[e[i]].' + 'xyz'[int(m[1])], value)});"
        for sign, k, value in re.findall(r"([+-])(\d) ([^,]+)", parts)
    )
    source = (
        "__global__ void f(const int *e, const float3 *q, const float *w, float3 *b, int n) {\n"
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {{ float s = w[i];{adds} }}\n}}\n"
    )
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None, done.diagnostics
    case = tmp_path / "case.toml"
    floats = "".join(
        f'{k} = {{ shape = {v}, dtype = "float32" }}\n' for k, v in (("q", [3, 3]), ("w", [7]), ("b", [4, 3]))
    )
    case.write_text(f'[kernel.f.args]\nn = 7\ne = {{ shape = [7], dtype = "int32", range = [0, 3] }}\n{floats}')
    agrees(done, pipeline.Request(case=str(case)))
    assert done.text.count(".add(") == updates and done.text.count("= q[e[:n], ") == gathers, done.text


SUMS = {  # what is summed over all rows, and whether its terms are those of one sum over rows and members
    "squares": ("q[i].x * q[i].x + q[i].y * q[i].y + q[i].z * q[i].z", True),
    "in another order": ("fabsf(q[i].z) * w[i] + fabsf(q[i].x) * w[i] + fabsf(q[i].y) * w[i]", True),
    "unlike": ("q[i].x * q[i].x + q[i].y * q[i].y + q[i].z * q[i].y", False),
    "one twice": ("q[i].x * q[i].x + q[i].y * q[i].y + q[i].x * q[i].x", False),
    "and a number": ("q[i].x * q[i].x + q[i].y * q[i].y + 1.0f", False),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_members_that_are_made_alike(name):
    body, one = SUMS[name]
    source = (
        "__global__ void f(const float3 *q, const float *w, float *b, int n) {\n"
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) atomicAdd(&b[0], {body});\n}}\n"
    )
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None, done.diagnostics
    request = pipeline.Request(shapes={"q": (4, 3), "w": (4,), "b": (1,)}, values={"n": 4})
    agrees(done, request)
    assert ("q[:n, 0]" not in done.text) == one, done.text


PAIRS = """
from numba import cuda

@cuda.jit
def turned(q, c):
    r, i = cuda.grid(2)
    if r < q.shape[0] and i < q.shape[1] // 2:
        a, b = q[r, 2 * i], q[r, 2 * i + 1]
        q[r, 2 * i] = a * c[i] - b
        q[r, 2 * i + 1] = a + b * c[i]
"""


@pytest.mark.parametrize("shape", [(3, 8), (2, 5), (1, 1), (0, 4)])
def test_pairs_in_rows(shape):
    text = pipeline.translate(PAIRS, "k.py").text
    assert text.count(".at[") == 1 and "jnp.stack" in text
    q, c = np.random.default_rng(3).normal(size=shape).astype(np.float32), np.arange(4, dtype=np.float32)
    expected, half = q.copy(), shape[1] // 2
    a, b = q[:, : 2 * half : 2], q[:, 1 : 2 * half : 2]
    expected[:, : 2 * half : 2], expected[:, 1 : 2 * half : 2] = a * c[:half] - b, a + b * c[:half]
    np.testing.assert_allclose(load_module(text).turned(q, c), expected, rtol=1e-5, atol=1e-6)


FACTORS = {  # which cell a thread multiplies under a condition that names it, and whether it is its own
    "its own": ("i", True),
    "its own, further on": ("i + 1", True),
    "one of two": ("i / 2", False),
    "one of the block's": ("blockIdx.x", False),
}


@pytest.mark.parametrize("name", FACTORS)
def test_factors_by_block_and_thread(name):
    cell, own = FACTORS[name]
    head = "__global__ void f(const int *a, float *w, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
    done = pipeline.translate(f"{head}if (i < n && a[i] > (int)threadIdx.x) w[{cell}] *= 2.5f; }}", "k.cu")
    assert (done.text is not None) == own, done.diagnostics
    for n in (7, 1) if own else ():
        case = {"shapes": {"a": (n,), "w": (n + 1,)}, "values": {"n": n}, "grid": (3,), "block": (4,)}
        agrees(done, pipeline.Request(**case))


PAIR = (
    "int t = blockIdx.x, h = blockIdx.y, i = threadIdx.x, at = (t * H + h) * D + 2 * i; "
    "if ({guard}) {{ float a = q[at], b = q[at + 1]; q[at] = a - b; q[{second}] = a + b; }}"
)


@pytest.mark.parametrize(
    ("guard", "second", "apart"),
    [("2 * i + 1 < D", "at + 1", True), ("i < D / 2", "at + 1", True), ("2 * i < D", "at + 1", False)],
)
def test_pairs_in_rows_of_rows(guard, second, apart):
    """A launch has a block for each of H rows, which is asked for; pairs that reach into the next one are a race."""
    body = PAIR.format(guard=guard, second=second)
    done = pipeline.translate(f"__global__ void f(float *q, int H, int D) {{ {body} }}", "k.cu")
    assert (done.text is not None) == apart, done.diagnostics
    if done.text is not None:
        assert "must have H blocks along y" in done.text
        case = {"shapes": {"q": (30,)}, "values": {"H": 3, "D": 5}, "grid": (2, 3), "block": (4,)}
        agrees(done, pipeline.Request(**case), guard)


SCALED = """
def scaled(x, y, z):
    for j in range(len(x)):
        z[j] *= x[0]
    s = 0.0
    for i in range(len(x)):
        s += y[i] * z[len(x) - 1 - i]
    return s


def filled(y, z):
    for j in range(len(y)):
        z[j] = 0.5
    for i in range(len(y)):
        y[i] += z[len(y) - 1 - i]
"""


def test_what_one_number_was_stored_to_is_read_backwards():
    """XLA ends the process over ``z.at[:n].multiply(c)[::-1]``."""
    module = load_module(pipeline.translate(SCALED, "k.py").text)
    x = np.arange(1, 5, dtype=np.float32)
    s, z = module.scaled(2 * x, x, x * x)
    assert float(s) == 100 and z.tolist() == [2, 8, 18, 32]
    assert module.filled(x, 3 * x)[0].tolist() == [1.5, 2.5, 3.5, 4.5]
