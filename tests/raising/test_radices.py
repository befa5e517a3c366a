"""Threads as digits of numbers that divide the block (raising/threads/radices.py)."""

import pytest

from kraise import pipeline
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
    reports, _ = pipeline.verify(done, pipeline.Request(grid=(3,), block=(40,)))
    assert reports and all(r.ok for r in reports)


REGISTERS = (ROOT / "samples" / "cuda_register_tiles" / "kernel.cu").read_text()


@pytest.mark.parametrize(
    "old, new",
    [
        ("    __syncthreads();\n    a += DEPTH", "    a += DEPTH"),  # tiles are read before they are filled
        ("+ r) * DEPTH + threadIdx.x % DEPTH]", "+ r) * DEPTH + threadIdx.x % DEPTH / 2]"),  # two threads a cell
    ],
)
def test_tiles_that_are_loaded_in_rounds(old, new):
    assert old in REGISTERS
    assert codes(REGISTERS.replace(old, new, 1)) & {"KR201", "KR202", "KR206"}
