"""Helpers of blocks whose idle lanes hold a finite number, what one thread makes of a sum; and wrong twins."""

from functools import cache
from pathlib import Path

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.frontends import cuda_c
from kraise.ir.print_equations import equation_lines
from kraise.options import Options
from kraise.raising import raise_function
from tests.checks import verified
from tests.raising.agree import agree

TEXT = (Path(__file__).parents[2] / "samples" / "cuda_block_helpers" / "kernel.cu").read_text()


@cache
def equations(text, name):
    module, found = cuda_c.read(text, "kernel.cu")
    assert not [d for d in found if d.severity == "error"], [d.reason for d in found]
    return "\n".join(raise_function(module, module.function(name), Options()).equations)


def test_idle_lanes_count_where_there_are_some():
    assert "if block < 1024" in equations(TEXT, "largest")
    assert "1024" not in equations(TEXT, "absmax")  # each thread has started at that number


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("largest", "if (!lane) partial[warp] = v;\n  __syncthreads();", "if (!lane) partial[warp] = v;"),
        ("largest", "partial[lane] : -FLT_MAX", "partial[lane] : v"),
        ("rms_norm", "rsqrtf(ss / size + 1e-5f);\n  }\n  __syncthreads();", "rsqrtf(ss / size + 1e-5f);\n  }"),
        ("rms_norm", "if (lane == 0) factor", "factor"),
    ],
)
@pytest.mark.long_cases("-FLT_MAX", "if (lane == 0) factor")
def test_wrong_twins_are_not_taken(name, old, new):
    assert old in TEXT
    try:
        found = equations(TEXT.replace(old, new), name)
    except Refused:
        return
    assert found != equations(TEXT, name) or name == "rms_norm" and new == "factor"  # the same value by 32 lanes


def test_the_number_that_threads_start_with_is_taken_once():
    kernel = agree(
        """
def seeded(A, y):
    s = cuda.shared.array(8, "float32")
    t = cuda.threadIdx.x
    m = -1.0
    for c in range(t, A.shape[1], 8):
        m = max(m, A[cuda.blockIdx.x, c])
    s[t] = m
    cuda.syncthreads()
    d = 4
    while d > 0:
        if t < d:
            s[t] = max(s[t], s[t + d])
        cuda.syncthreads()
        d //= 2
    if t == 0:
        y[cuda.blockIdx.x] = s[0]
""",
        sizes=(),
        least=0,
    )
    assert "max(-1.0, max_c(A[block_x, c]))" in "\n".join(equation_lines(kernel))


CHANGED = """
__global__ void changed(const float *x, float *y) {
  __shared__ float s[64];
  __shared__ float r[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x];
  r[t] = 0.0f;
  float v = x[blockIdx.x] + t;
  if (s[t] > 0.0f) {
    s[t] = -1.0f;
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    r[t] = v * 2.0f + 1.0f;
  }
  __syncthreads();
  y[blockIdx.x * 64 + t] = r[t];
}
"""


def test_a_condition_that_its_own_body_changes_is_asked_once():
    done = pipeline.translate(CHANGED, "kernel.cu")
    reports, _ = verified(done, pipeline.Request(gradients=False))
    assert reports
    assert not any(r.failures for r in reports)


SCRATCH = (Path(__file__).parents[2] / "samples" / "cuda_shared_scratch" / "kernel.cu").read_text()


def test_calls_of_a_helper_share_its_scratch():
    assert "lane" not in equations(SCRATCH, "normalized")  # no warps left: both are sums over the row


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  __syncthreads();\n  return v;", "  return v;"),  # the second call fills what the first one still reads
        ("partial[lane] : 0.0f;", "partial[lane] : partial[31];"),  # what nobody has stored, or another call has
    ],
)
def test_scratch_that_calls_share_is_filled_anew(old, new):
    assert old in SCRATCH
    with pytest.raises(Refused):
        equations(SCRATCH.replace(old, new), "normalized")
