"""Threads as digits of numbers that divide the block (raising/threads/radices.py)."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified
from tests.corpus import ROOT

KERNEL = (ROOT / "samples" / "cuda_column_tiles" / "kernel.cu").read_text()


def codes(source: str) -> set[str]:
    return {d.code for d in pipeline.translate(source, "kernel.cu").diagnostics if d.severity == "error"}


@pytest.mark.parametrize(
    "old, new",
    [
        ("    __syncthreads();\n    a += DEPTH", "    a += DEPTH"),  # tiles are read before they are filled
        ("    }\n    __syncthreads();", "    }"),  # and filled before all have read
        ("c[(band * EACH + r) * cols + col] =", "c[(band * EACH + r) * cols + col / 2] ="),  # two threads a cell
        ("TILE * TILE / EACH>", "TILE * TILE / EACH * 2>"),  # a block that leaves its tile
    ],
)
@pytest.mark.long_cases("c[(band", "EACH * 2>")  # test_tiles_that_are_loaded_in_rounds, test_tile_sizes.py
def test_races_are_refused(old, new):
    assert old in KERNEL
    assert codes(KERNEL.replace(old, new, 1)) & {"KR201", "KR202", "KR206"}


def test_divisors_that_are_no_chain():
    """10 and 4 are no digits of one number of 40 threads: nothing is taken apart, and what comes out agrees."""
    source = """
    __global__ void spread(const float *x, float *y) {
      __shared__ float s[40];
      s[threadIdx.x] = x[blockIdx.x * 40 + threadIdx.x];
      __syncthreads();
      y[blockIdx.x * 40 + threadIdx.x] = s[threadIdx.x / 10] + s[threadIdx.x % 4];
    }
    """
    done = pipeline.translate(source, "kernel.cu")
    assert done.text
    reports, _ = verified(done, pipeline.Request(grid=(3,), block=(40,)))
    assert reports and all(r.ok for r in reports)


REGISTERS = (ROOT / "samples" / "cuda_register_tiles" / "kernel.cu").read_text()


@pytest.mark.parametrize(
    "old, new",
    [
        ("    __syncthreads();\n    a += DEPTH", "    a += DEPTH"),  # tiles are read before they are filled
        ("+ r) * DEPTH + threadIdx.x % DEPTH]", "+ r) * DEPTH + threadIdx.x % DEPTH / 2]"),  # two threads a cell
    ],
)
@pytest.mark.long_cases("__syncthreads")
def test_tiles_that_are_loaded_in_rounds(old, new):
    assert old in REGISTERS
    assert codes(REGISTERS.replace(old, new, 1)) & {"KR201", "KR202", "KR206"}


ROUNDS = """    for (int r = 0; r < TILE; r += THREADS / DEPTH)
      left[(threadIdx.x / DEPTH + r) * DEPTH + threadIdx.x % DEPTH] =
          a[(threadIdx.x / DEPTH + r) * depth + threadIdx.x % DEPTH];
"""
VECTORS = """    const float4 v = *reinterpret_cast<const float4 *>(a + threadIdx.x / 2 * depth + threadIdx.x % 2 * 4);
    left[(threadIdx.x % 2 * 4 + 0) * TILE + threadIdx.x / 2] = v.x;
    left[(threadIdx.x % 2 * 4 + 1) * TILE + threadIdx.x / 2] = v.y;
    left[(threadIdx.x % 2 * 4 + 2) * TILE + threadIdx.x / 2] = v.z;
    left[(threadIdx.x % 2 * 4 + 3) * TILE + threadIdx.x / 2] = v.w;
"""


def test_members_of_a_vector_that_lie_in_rows():
    """A tile that is loaded by vectors and turned over while it is stored is the slice that it holds."""
    source = REGISTERS.replace(ROUNDS, VECTORS).replace("DEPTH = 4", "DEPTH = 8")
    source = source.replace("left[(band * DOWN + i) * DEPTH + d]", "left[d * TILE + band * DOWN + i]")
    done = pipeline.translate(source, "kernel.cu")
    assert done.text and "a2 @ b2" in done.text
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(shape, np.float32) for shape in ((16, 24), (24, 32), (16, 32)))
    found = load_module(done.text).multiply(16, 32, 24, 2.0, a.ravel(), b.ravel(), 0.5, c.ravel())
    np.testing.assert_allclose(found.reshape(16, 32), 2 * (a @ b) + c / 2, rtol=1e-4, atol=1e-4)
