"""A launch that is given counts as it is, also where it covers less than the guards of the kernel."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hostile.judge import judge

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
STRIDE = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
KERNELS = {
    "first blocks": (
        f"{INDEX} if (blockIdx.x < 2 && i < n) atomicAdd(out, x[i]);",
        lambda grid, block, i, n: i < min(2, grid) * block,
    ),
    "stride of the first blocks": (
        f"if (blockIdx.x < 2) {{ float s = 0.0f; {STRIDE} s += x[i]; atomicAdd(out, s); }}",
        lambda grid, block, i, n: i // block % grid < 2,
    ),
    "stride of all but the first": (
        f"float s = 0.0f; {STRIDE} if (blockIdx.x > 0) s += x[i]; atomicAdd(out, s);",
        lambda grid, block, i, n: i // block % grid > 0,
    ),
    "first threads": (
        f"{INDEX} if (threadIdx.x < 3 && i < n) atomicAdd(out, x[i]);",
        lambda grid, block, i, n: i % block < 3 and i < grid * block,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_threads_that_are_not_launched_add_nothing(name):
    body, runs = KERNELS[name]
    done = pipeline.translate(f"__global__ void k(const float *x, float *out, int n) {{ {body} }}", "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    module = load_module(done.text)
    for n, grid, block in ((20, 5, 4), (20, 1, 4), (20, 2, 4), (20, 3, 2), (20, 6, 4), (3, 1, 2), (0, 1, 4)):
        x = np.arange(1, n + 1, dtype=np.float32)
        expected = 1 + sum(x[i] for i in range(n) if runs(grid, block, i, n))
        got = module.k(jnp.asarray(x), jnp.ones(1, jnp.float32), n, grid=grid, block=block)
        assert got[0] == expected, (n, grid, block)


COLUMN = "int j = blockIdx.y * blockDim.y + threadIdx.y;"
ALL = {  # what each launch adds to one cell: (grid, block, threads)
    "no index": ("atomicAdd(out, 1.0f);", 3, 4, 12),
    "an index that nothing reads": (f"{INDEX} atomicAdd(out, 1.0f);", 3, 4, 12),
    "sizes alone": ("atomicAdd(out, gridDim.x * blockDim.x / 12.0f);", 3, 4, 12),
    "rows alone": (f"{COLUMN} if (j < 10) atomicAdd(out, 1.0f);", (3, 2), (4, 5), 120),
    "a column that nothing reads": (f"{INDEX} {COLUMN} if (i < n) atomicAdd(&out[i], 1.0f);", (3, 2), (4, 5), 10),
    "blocks that nothing counts": (
        f"{INDEX} int b = blockIdx.y; if (i < n) atomicAdd(&out[i], 1.0f);",
        (3, 2),
        (4, 5),
        10,
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_every_thread_of_the_launch_adds(name):
    body, grid, block, threads = ALL[name]
    done = pipeline.translate(f"__global__ void k(float *out, int n) {{ {body} }}", "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    got = load_module(done.text).k(jnp.ones(12, jnp.float32), 7, grid=grid, block=block)
    assert float(got[0]) == 1 + threads


def test_rows_of_threads_that_only_a_launch_names_add_too():
    source = f"""__global__ void one(float *out, int n) {{ {INDEX} if (i < n) atomicAdd(&out[i], 1.0f); }}
    __global__ void all(float *out) {{ atomicAdd(out, 1.0f); }}
    void f(float *out, int n) {{ dim3 block(32, 2); one<<<(n + 31) / 32, block>>>(out, n); }}
    void g(float *out) {{ dim3 grid(3, 2), block(4, 5); all<<<grid, block>>>(out); }}
    void h(float *out) {{ all<<<2, 8>>>(out); }}"""
    done = pipeline.translate(source, "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    module = load_module(done.text)
    zeros = jnp.zeros(4, jnp.float32)
    assert module.f(zeros, 3).tolist() == [2, 2, 2, 0]
    assert module.g(zeros).tolist() == [120, 0, 0, 0] and module.h(zeros).tolist() == [16, 0, 0, 0]


@pytest.mark.parametrize("launch", [(3, 4), ((3,), (4,)), ((3, 1, 1), (4, 1, 1))])
def test_extents_are_numbers_or_tuples(launch):
    done = pipeline.translate(f"__global__ void k(int *out) {{ {INDEX} out[i] = blockDim.x; }}", "k.cu")
    got = load_module(done.text).k(jnp.zeros(16, jnp.int32), grid=launch[0], block=launch[1])
    assert got.tolist() == [4] * 12 + [0] * 4


def test_a_column_that_nothing_reads_counts_in_the_blocks_own_array():
    body = f"__shared__ int s; {COLUMN} int t = threadIdx.x; if (t == 0) s = 0; __syncthreads(); atomicAdd(&s, 1);"
    done = pipeline.translate(
        f"__global__ void k(int *out) {{ {body} __syncthreads(); if (t == 0) out[blockIdx.x] = s; }}", "k.cu"
    )
    assert done.text and not done.diagnostics, done.diagnostics
    module = load_module(done.text)  # every row of threads stores 0 to `s` before the barrier, and its sum after it
    assert module.k(jnp.zeros(3, jnp.int32), grid=3, block=(4, 5)).tolist() == [20, 20, 20]
    racy = body.replace("s = 0; __syncthreads();", "s = 0;")
    assert not pipeline.translate(f"__global__ void k(int *out) {{ {racy} if (t == 0) out[0] = s; }}", "k.cu").text


def test_an_index_that_nothing_reads_is_no_race():
    done = pipeline.translate(
        f"__global__ void k(float *x, int n) {{ {INDEX} {COLUMN} if (i < n) x[i] += 1; }}", "k.cu"
    )
    assert done.text and "grid" not in done.text


@pytest.mark.parametrize(("test", "stored"), [("t >= 5", [0, 1]), ("t > 0 && t < n", [1, 1]), ("t >= n", [1, 1])])
@pytest.mark.parametrize("value", ["1.0f", "x[blockIdx.x]"])
def test_a_block_without_the_threads_that_store_stores_nothing(test, stored, value):
    body = f"int t = threadIdx.x; if ({test}) y[blockIdx.x] = {value};"
    done = pipeline.translate(f"__global__ void k(const float *x, float *y, int n) {{ {body} }}", "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    module = load_module(done.text)
    for block, expected in zip((5, 8), stored, strict=True):
        got = module.k(jnp.ones(3, jnp.float32), jnp.zeros(3, jnp.float32), 3, grid=3, block=block)
        assert got.tolist() == [expected] * 3


HEADS = {
    "row and thread": "int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.y;",
    "block and thread": "int i = blockIdx.x, t = threadIdx.x;",
}
BLOCKS = {"row and thread": (4, 3), "block and thread": (3,)}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize(
    "body", ["atomicMax(o, x[i + t] * t);", "atomicMax(&o[i], x[i + t]);", "atomicAdd(&o[i], x[i + t]);"]
)
def test_a_guard_on_a_sum_does_not_say_how_many_threads_there_are(head, body):
    """``i + t < n``: no block has as many threads as the array has elements; it was taken to."""
    source = f"__global__ void k(const int *x, int *o, int n) {{ {HEADS[head]} if (i + t < n) {body} }}"
    assert "*, grid, block):" in (pipeline.translate(source, "k.cu").text or "")
    launch = [((5 if head == "row and thread" else 20, 1)[: len(BLOCKS[head])], BLOCKS[head])]
    assert judge(source, "cu", "x=i[20]<0:50 o=i[20]<0:3 n=20", launch) == "right"


@pytest.mark.parametrize("where", ["grid", "block"])
@pytest.mark.parametrize("body", ["atomicAdd(out, 1.0f);", f"{INDEX} atomicAdd(&out[i & 1], x[i]);"])
def test_a_launch_along_an_axis_that_nothing_names_is_asked_about(body, where):
    done = pipeline.translate(f"__global__ void k(const float *x, float *out) {{ {body} }}", "k.cu")
    kernel, x, out = load_module(done.text).k, jnp.ones(12), jnp.ones(2, jnp.float32)
    expected = kernel(x, out, grid=3, block=4)
    for more in ((), (1,), (1, 1)):
        launch = {"grid": (3, *more), "block": (4, *more)}
        np.testing.assert_array_equal(kernel(x, out, **launch), expected)
    for more in ((2,), (1, 3)):
        launch = {"grid": 3, "block": 4} | {where: ({"grid": 3, "block": 4}[where], *more)}
        with pytest.raises(ValueError, match="more threads along y or z would add again"):
            kernel(x, out, **launch)


def test_blocks_that_only_store_again_what_they_count_may_be_more():
    """What each block counts for itself, twins count, too; more threads of a block would not."""
    body = f"{INDEX} int c = __syncthreads_count(x[i] > 0); if (threadIdx.x == 0) out[blockIdx.x] = c;"
    done = pipeline.translate(f"__global__ void k(const float *x, int *out) {{ {body} }}", "k.cu")
    kernel, x, out = load_module(done.text).k, jnp.ones(12), jnp.zeros(3, jnp.int32)
    np.testing.assert_array_equal(kernel(x, out, grid=(3, 2), block=4), [4, 4, 4])
    with pytest.raises(ValueError, match="would add again"):
        kernel(x, out, grid=3, block=(4, 2))
