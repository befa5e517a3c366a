"""Launches that leave something out are warned about, with both numbers; those that cover their guards are not."""

import re

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

PYTHON = """
import math
from numba import cuda

@cuda.jit
def twice(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] *= 2

@cuda.jit
def plane(a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] *= 2

@cuda.jit
def stride(a, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        a[i] *= 2

def run(x, n):
    t = 128
    {launch}
    return x
"""
CUDA = """
#define TILE 64
__global__ void centred(const float *x, float *y, int n) {{
    __shared__ float tile[TILE];
    int t = threadIdx.x, i = blockIdx.x * TILE + t;
    tile[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = TILE / 2; k > 0; k >>= 1) {{ if (t < k) tile[t] += tile[t + k]; __syncthreads(); }}
    if (i < n) y[i] = x[i] - tile[0];
}}
__global__ void twice(float *x, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }}
void run(float *x, float *y, int n) {{ int blocks = (n + 255) / 256; {launch} }}
"""
COVERING = {
    "rounded up": (PYTHON, "twice[(n + t - 1) // t, t](x, n)"),
    "math.ceil": (PYTHON, "twice[math.ceil(n / t), t](x, n)"),
    "negated": (PYTHON, "twice[-(-n // t), t](x, n)"),
    "one more": (PYTHON, "twice[n // t + 1, t](x, n)"),
    "plane": (PYTHON, "plane[((x.shape[0] + 15) // 16, (x.shape[1] + 7) // 8), (16, 8)](x)"),
    "a copy": (PYTHON, "d = cuda.to_device(x); twice[-(-d.size // t), t](d, x.size); d.copy_to_host(x)"),
    "a copy of its own name": (PYTHON, "x = cuda.to_device(x); twice[-(-x.size // t), t](x, x.size)"),
    "grid-stride": (PYTHON, "stride[2, 32](x, n)"),
    "unknown": (PYTHON, "twice[int(x[0]), t](x, n)"),
    "C": (CUDA, "twice<<<blocks, 256>>>(x, n);"),
    "C, ceil": (CUDA, "twice<<<ceil(n / 256.0), 256>>>(x, n);"),
    "C, tile": (CUDA, "centred<<<(n + TILE - 1) / TILE, TILE>>>(x, y, n);"),
    "one extent is known": (PYTHON, "plane[(-(-x.shape[0] // 16), -(-x.shape[0] // 8)), (16, 8)](x)"),
    "the larger extent": (PYTHON, "g = max(x.shape[0], x.shape[1]); plane[(g // 16 + 1, g // 8 + 1), (16, 8)](x)"),
    "C, rounds": (CUDA, "for (int k = 0; k < n; k++) twice<<<(n - k + 255) / 256, 256>>>(x + k, n - k);"),
}
LEAVING_OUT = {
    "C, later rounds": (
        CUDA,
        "for (int k = 0; k < n; k++) twice<<<(n - k + 255) / 256, 256>>>(x, n);",
        "through where n is 1000 and k is 499",
    ),
    "C, fours": (
        CUDA,
        "twice<<<n / 4, 4>>>(x, n);",
        "996 threads along x, and its guard lets 997 through",
    ),
    "rounded down": (PYTHON, "twice[n // t, t](x, n)", "896 threads along x, and its guard lets 1000 through where n"),
    "a copy": (
        PYTHON,
        "d = cuda.to_device(x); twice[x.size // t, t](d, d.size); d.copy_to_host(x)",
        "896 threads along x, and its guard lets 1000 through where x.shape[0]",
    ),
    "too few": (PYTHON, "twice[4, 64](x, 1000)", "256 threads along x, and its guard lets 1000 through"),
    "axes exchanged": (
        PYTHON,
        "plane[(x.shape[0] // 16 + 1, x.shape[1] // 16 + 1), (16, 8)](x)",
        "along y, and its guard lets 1000 through",
    ),
    "extents exchanged": (
        PYTHON,
        "plane[(-(-x.shape[1] // 16), -(-x.shape[0] // 8)), (16, 8)](x)",
        "1008 threads along x, and its guard lets 1333 through where x.shape[1] is 1000 and x.shape[0] is 1333",
    ),
    "C": (CUDA, "twice<<<dim3(3), 256>>>(x, 1000);", "768 threads along x, and its guard lets 1000 through"),
    "C, by name": (CUDA, "blocks = n / 256; int b = n / 256; twice<<<b, 256>>>(x, n);", "768 threads along x"),
    "C, tile": (CUDA, "centred<<<(n + 127) / 128, 128>>>(x, y, n);", "counts on 64 threads of a block along x"),
}


@pytest.mark.parametrize("name", COVERING)
def test_launches_that_cover_their_guards(name):
    text, launch = COVERING[name]
    done = pipeline.translate(text.format(launch=launch), "k.cu" if text is CUDA else "k.py")
    assert not any(d.code == "KR215" for d in done.diagnostics)


@pytest.mark.parametrize("name", LEAVING_OUT)
def test_launches_that_leave_something_out(name):
    text, launch, said = LEAVING_OUT[name]
    done = pipeline.translate(text.format(launch=launch), "k.cu" if text is CUDA else "k.py")
    (found,) = [d for d in done.diagnostics if d.code == "KR215"]
    assert said in found.reason and found.severity == "warning" and "run" in done.raised
    if not any(word in name for word in ("tile", "rounds", "copy")):  # these are no numbers of the whole call
        assert "fewer threads along" in done.text


FLOORED = """
__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void total(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(y, x[i]);
}
__global__ void rows(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 4 && 4 * j + i < n) x[4 * j + i] += 3;
}
void run(float *x, float *y, int n) { twice<<<n / 32, 32>>>(x, n); total<<<n / 32, 32>>>(x, y, n); }
void plane(float *x, int n) { rows<<<dim3(1, n / 16), dim3(4, 4)>>>(x, n); }
"""


def test_the_host_checks_a_launch_that_may_leave_something_out():
    module = load_module(pipeline.translate(FLOORED, "k.cu").text)
    x, y = np.arange(70, dtype=np.float32), np.zeros(1, np.float32)
    assert module.run(x[:64], y, 64)[1].tolist() == [64 * 63]
    with pytest.raises(ValueError, match="twice is launched with fewer threads along x than its guard lets through"):
        module.run(x, y, 70)
    np.testing.assert_array_equal(module.plane(x[:64], 64), x[:64] + 3)  # whose x goes to 4 only


TREE = """
__global__ void total(const float *x, float *y, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
    if (t == 0) atomicAdd(y, s[0]);
}
"""


def test_what_a_kernel_without_a_launch_counts_on_is_asked_of_its_launches():
    """A sum over any blocks whose size is a power of two: of 96 threads the source drops some."""
    done = pipeline.translate(TREE + "void run(float *x, float *y, int n) { total<<<1, 96, 384>>>(x, y, n); }", "t.cu")
    assert done.raised == ("total",)
    (found,) = [d for d in done.diagnostics if d.severity == "error"]
    assert found.code == "KR211" and "block must be a power of two" in found.reason
    text = TREE + "void run(float *x, float *y, int n, int b) { total<<<(n + B - 1) / B, B, B * 4>>>(x, y, n); }"
    arguments = (np.arange(5, dtype=np.float32), np.zeros(1, np.float32), 5)
    known = pipeline.translate(re.sub(r"\bB\b", "64", text), "t.cu")
    assert "ValueError" not in known.text and load_module(known.text).run(*arguments, 0).tolist() == [10]
    given = load_module(pipeline.translate(re.sub(r"\bB\b", "b", text), "t.cu").text).run
    assert given(*arguments, 4).tolist() == [10]
    with pytest.raises(ValueError, match="total: block must be a power of two"):
        given(*arguments, 12)


ALONE = """
__global__ void planes(float *x, int n, int b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
    if (i < n && z < b) x[z * n + i] += z + 1;
}
__global__ void rows(float *x, int n, int b) {
    int r = blockIdx.x;
    if (r >= b) return;
    for (int c = threadIdx.x; c < n; c += blockDim.x) x[r * n + c] *= 2;
}
__global__ void cells(float *x, int n, int b) { int i = threadIdx.x; if (i < b) x[i] += 1; }
__global__ void sum(float *x, int n, int b) { int i = blockIdx.x; if (i < b) atomicAdd(&x[0], x[i + 1]); }
"""
LAUNCHES = {
    "planes<<<dim3((n + 31) / 32, 2), 32>>>(x, n, b);": ("blocks along y", 2),
    "rows<<<4, 32>>>(x, n, b);": ("blocks along x", 4),
    "cells<<<1, 3>>>(x, n, b);": ("threads of a block along x", 3),
    "sum<<<5, 1>>>(x, n, b);": ("blocks along x", 5),
    "planes<<<dim3((n + 31) / 32, b), 32>>>(x, n, b);": ("", 9),
    "rows<<<b, 32>>>(x, n, b);": ("", 9),
    "cells<<<1, b>>>(x, n, b);": ("", 9),
}


@pytest.mark.parametrize("launch", LAUNCHES)
def test_blocks_or_threads_of_a_block_alone(launch):
    """What a guard on ``blockIdx.y`` or ``threadIdx.x`` lets through, too, is what a launch must have."""
    what, most = LAUNCHES[launch]
    done = pipeline.translate(ALONE + "void run(float *x, int n, int b) { " + launch + " }", "k.cu")
    assert any(d.code == "KR215" and what in d.reason for d in done.diagnostics) == bool(what)
    run = load_module(done.text).run
    x = np.arange(90, dtype=np.float32)
    run(x, 8, most)
    if what:
        with pytest.raises(ValueError, match=f"fewer {what}"):
            run(x, 8, most + 1)


SHARED_OUT = """
__global__ void scale(float *x, float *y, float a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] *= a;
}
__global__ void inner(float *x, float *y, float a, int n) {
    int stride = blockDim.x * gridDim.x, i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    while (i < n - 1) { x[i] += a; i += stride; }
}
__global__ void total(float *x, float *y, float a, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += a * x[i];
    atomicAdd(y, s);
}
__global__ void means(float *x, float *y, float a, int n) {
    __shared__ float t[32];
    for (int r = blockIdx.x; r < n; r += gridDim.x) {
        t[threadIdx.x] = x[r * 32 + threadIdx.x];
        __syncthreads();
        x[r * 32 + threadIdx.x] = a * t[31 - threadIdx.x];
        __syncthreads();
    }
}
"""
NONE = {
    "scale<<<n / 32, 32>>>(x, y, a, n);": ("blocks", 1, 31),
    "scale<<<3, n / 32>>>(x, y, a, n);": ("threads of a block", 1, 31),
    "inner<<<n / 32, 32>>>(x, y, a, n);": ("blocks", 3, 31),
    "total<<<min(n / 8, 64), 8>>>(x, y, a, n);": ("blocks", 1, 7),
    "means<<<n / 2, 32>>>(x, y, a, n);": ("blocks", 1, 1),
    "scale<<<(n + 31) / 32, 32>>>(x, y, a, n);": None,
    "inner<<<(n - 2 + 31) / 32, 32>>>(x, y, a, n);": None,
    "total<<<min(n / 8 + 1, 64), 8>>>(x, y, a, n);": None,
    "means<<<2, 32>>>(x, y, a, n);": None,
}


@pytest.mark.parametrize("launch", NONE)
def test_a_launch_without_blocks_shares_nothing_out(launch):
    """A loop in strides of the grid takes in everything with one block, too, and nothing with none."""
    done = pipeline.translate(SHARED_OUT + f"void run(float *x, float *y, float a, int n) {{ {launch} }}", "k.cu")
    run, kernel = (getattr(load_module(done.text), name) for name in ("run", launch[: launch.index("<")]))
    x, y, a = np.arange(1100, dtype=np.float32), np.zeros(1, np.float32), np.float32(3)
    none = NONE[launch]
    assert [d.code for d in done.diagnostics] == ["KR215"] * bool(none)
    for n in (0, 1, 3, 4) if none is None else (0, none[2] + 1):  # where nothing is left out, nothing is said
        np.testing.assert_array_equal(run(x, y, a, n), kernel(x, y, a, n))
    for n in none[1:] if none is not None else ():
        with pytest.raises(ValueError, match=f"is launched with no {none[0]} along x"):
            run(x, y, a, n)
    gradients = [jax.grad(lambda x, f=f: f(x, y, a, 4 if none is None else 32).sum())(x) for f in (run, kernel)]
    np.testing.assert_array_equal(*gradients)


APART = """
__global__ void turned(const float *x, float *y, int h, int w) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < h * w) y[k % w * h + k / w] = 2 * x[k];
}
__global__ void pooled(const float *x, float *y, int h, int w) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, c = w / 2;
    if (k >= h * c) return;
    y[k] = x[k / c * w + 2 * (k % c)] + x[k / c * w + 2 * (k % c) + 1];
}
__global__ void strided(const float *x, float *y, int h, int w) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < h * w; k += blockDim.x * gridDim.x)
        y[k % w * h + k / w] = 2 * x[k];
}
"""
DIGITS = {
    "turned<<<h * w / 4, 4>>>(x, y, h, w);": True,
    "turned<<<h, w / 2>>>(x, y, h, w);": True,
    "pooled<<<h * (w / 2) / 4, 4>>>(x, y, h, w);": True,
    "turned<<<(h * w + 3) / 4, 4>>>(x, y, h, w);": False,
    "turned<<<h, w>>>(x, y, h, w);": False,
    "pooled<<<(h * w + 3) / 4, 4>>>(x, y, h, w);": False,
    "strided<<<2, 4>>>(x, y, h, w);": False,
}


@pytest.mark.parametrize("launch", DIGITS)
def test_an_index_that_is_taken_apart(launch):
    """``k < h * w`` is a row and a column: the launch must have as many threads as there are of both."""
    done = pipeline.translate(APART + f"void run(const float *x, float *y, int h, int w) {{ {launch} }}", "k.cu")
    run, kernel = (getattr(load_module(done.text), name) for name in ("run", launch[: launch.index("<")]))
    assert [d.code for d in done.diagnostics] == ["KR215"] * DIGITS[launch]
    x, y = np.arange(1.0, 65.0, dtype=np.float32), np.zeros(64, np.float32)
    np.testing.assert_array_equal(run(x, y, 0, 4), y)
    if DIGITS[launch]:
        with pytest.raises(ValueError, match="fewer threads along x"):
            run(x, y, 5, 3)
    h, w = (4, 8) if "w / 2>>>" not in launch else (0, 8)
    np.testing.assert_array_equal(run(x, y, h, w), kernel(x, y, h, w))
    gradients = [jax.grad(lambda x, f=f: f(x, y, h, w).sum())(x) for f in (run, kernel)]
    np.testing.assert_array_equal(*gradients)


TWINS = {
    "two blocks, a thread's own index": ("j = threadIdx.x; if (j < d) w[j] += 1.f;", "2, 32", "blocks along x"),
    "rows of blocks": (
        "j = blockIdx.x * blockDim.x + threadIdx.x; if (j < d) w[j] += 1.f;",
        "dim3(1, 2), 32",
        "blocks along y",
    ),
    "rows of threads": (
        "j = blockIdx.x * blockDim.x + threadIdx.x; if (j < d) w[j] += 1.f;",
        "1, dim3(32, 4)",
        "threads of a block along y",
    ),
    "threads of a block": ("j = blockIdx.x; if (j < d) w[j] += 1.f;", "d, 32", "threads of a block along x"),
    "one thread's loop": ("j; for (j = 1; j < d; j++) w[j] += w[j - 1];", "2, 1", "blocks along x"),
    "a helper": ("j = threadIdx.x; if (j < d) add(w, j);", "2, 32", "blocks along x"),
    "a round before": (
        "j = threadIdx.x; if (j < d) for (int r = 0; r < 2; r++) { w[j] = r + x[j]; x[j] = w[j]; }",
        "2, 32",
        "blocks along x",
    ),
    "a shared array": (
        "t = threadIdx.x; __shared__ float s[32]; s[t] = x[t]; __syncthreads();\n"
        "for (int k = 16; k > 0; k /= 2) { if (t < k) s[t] += s[t + k]; __syncthreads(); } if (t == 0) w[0] = s[0];",
        "1, dim3(32, 2)",
        "threads of a block along y",
    ),
}
ALIKE = {
    "one block": ("j = threadIdx.x; if (j < d) w[j] += 1.f;", "1, 32"),
    "one block of each axis": ("j = threadIdx.x; if (j < d) w[j] += 1.f;", "dim3(1, 1, 1), dim3(32, 1)"),
    "stored only": ("j = threadIdx.x; if (j < d) w[j] = 2.f * x[j];", "3, 32"),
    "stored, then loaded": ("j = threadIdx.x; if (j < d) { w[j] = x[j]; c[j] = w[j] > 0.f; }", "2, 32"),
    "a barrier between": (
        "j = threadIdx.x; float v = w[31 - j]; __syncthreads(); w[j] = v + 1.f;",
        "1, dim3(32, 2)",
    ),
    "a maximum": ("j = threadIdx.x; if (j < d) atomicMax(&c[j], j);", "2, 32"),
    "a shared array of each block": (
        "t = threadIdx.x; __shared__ float s[32]; s[t] = x[t]; __syncthreads();\n"
        "for (int k = 16; k > 0; k /= 2) { if (t < k) s[t] += s[t + k]; __syncthreads(); } if (t == 0) w[0] = s[0];",
        "dim3(1, 2), 32",
    ),
}
STEP = """
__device__ void add(float *w, int j) {{ w[j] += 1.f; }}
__global__ void step(float *w, float *x, int *c, int d) {{ int {body} }}
void run(float *w, float *x, int *c, int d) {{ step<<<{launch}>>>(w, x, c, d); }}
"""


@pytest.mark.parametrize("body, launch, what", TWINS.values(), ids=TWINS)
def test_threads_that_a_kernel_does_not_tell_apart_race_where_it_changes_in_place(body, launch, what):
    done = pipeline.translate(STEP.format(body=body, launch=launch), "case.cu")
    assert "step" in done.raised and "run" not in done.raised
    assert [(d.code, d.kernel) for d in done.diagnostics if d.severity == "error"] == [("KR201", "run")]
    assert what in done.diagnostics[-1].reason


@pytest.mark.parametrize("body, launch", ALIKE.values(), ids=ALIKE)
def test_threads_that_all_store_the_same_are_as_many_as_they_like(body, launch):
    done = pipeline.translate(STEP.format(body=body, launch=launch), "case.cu")
    assert done.raised == ("step", "run"), done.diagnostics
    assert "apart" not in done.text


def test_how_many_threads_there_are_along_such_an_axis_is_checked_where_it_is_the_hosts():
    body = "j = threadIdx.x; if (j < d) w[j] += 1.f;"
    done = pipeline.translate(STEP.format(body=body, launch="(d + 31) / 32, 32"), "case.cu")
    module = load_module(done.text)
    w = np.arange(40, dtype=np.float32)
    got = module.run(w, w, np.zeros(40, np.int32), 32)
    np.testing.assert_array_equal(got[:32], w[:32] + 1)
    np.testing.assert_array_equal(got[32:], w[32:])
    assert jax.grad(lambda w: module.run(w, w, np.zeros(40, np.int32), 5)[3])(w)[3] == 1
    with pytest.raises(ValueError, match="does not tell the blocks along x apart"):
        module.run(w, w, np.zeros(40, np.int32), 33)
    rounds = "1, 32>>>(w, x, c, d); for (int q = 1; q < d; q++) step<<<q, 32"
    done = pipeline.translate(STEP.format(body=body, launch=rounds), "case.cu")
    assert [d.code for d in done.diagnostics if d.severity == "error"] == ["KR201"] and "run" not in done.raised


COUNTERS = """
__global__ void count(const int *x, int *o, int n) {{
  __shared__ int s[4];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < 4) s[t] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[x[i]], 1);
  __syncthreads();
  if (t < 4) atomicAdd(&o[t], s[t]);
}}
void run(const int *x, int *o, int n) {{ count<<<(n + {block} - 1) / {block}, {block}>>>(x, o, n); }}
"""


@pytest.mark.parametrize("block", [2, 4, 64])
def test_a_guard_on_a_blocks_threads_alone_says_how_many_it_has(block):
    """A block of two would zero two counters, and give back these."""
    done = pipeline.translate(COUNTERS.format(block=block), "case.cu")
    assert [d.code for d in done.diagnostics] == ["KR215"] * (block < 4)
    module, x = load_module(done.text), np.arange(9) % 4
    if block < 4:
        with pytest.raises(ValueError, match="fewer threads of a block along x than its guard"):
            module.run(x, np.zeros(4, np.int32), 9)
    else:
        np.testing.assert_array_equal(module.run(x, np.zeros(4, np.int32), 9), np.bincount(x))
