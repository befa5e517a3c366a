"""Unsigned counters over rows that ``int`` pointers bound: segments, as with a signed one."""

import pytest

from kraise import pipeline
from kraise.frontends.cuda_c import read
from kraise.ir.kernel import For
from kraise.ir.types import UINT32
from kraise.verify.facts import walk
from tests.checks import agrees

ROWS = """
__global__ void k(const int *ptr, const int *col, const float *v, const float *x, float *y, int n) {{
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float s = 0.0f;
  {before}for (unsigned k = ptr[row]; k < {stop}; ++k) {{ {body} }}
  y[row] = s;
}}"""
SUM = {"before": "", "stop": "ptr[row + 1]", "body": "unsigned c = col[k]; s += v[k] * x[c];"}
AGAIN = {"before": "for (unsigned k = 0; k < 3; ++k) s += k * x[row];\n  "}


@pytest.mark.parametrize("change", [{}, AGAIN, {"body": "s += v[k] * (k + 1u);"}])
def test_rows_of_int_pointers_are_segments(change):
    done = pipeline.translate(ROWS.format(**SUM | change), "a.cu")
    assert "segment_sum" in done.text and "while_loop" not in done.text
    agrees(done, pipeline.Request(values={"n": 5}, gradients=False))


@pytest.mark.parametrize(
    "change",
    [
        {"body": "s += 1.0f;"},  # a pointer of -1 is 2**32 - 1 rounds
        {"body": "if (v[k] > 0.0f) s += x[col[k]];"},
        {"body": "s += v[k]; if (s > 2.0f) break;"},
        {"stop": "col[row + 1]"},
    ],
)
def test_what_a_negative_pointer_may_do_stays_unsigned(change):
    module, found = read(ROWS.format(**SUM | change), "a.cu")
    assert not [d for d in found if d.severity == "error"]
    loops = [s for s in walk(module.function("k").body) if isinstance(s, For)]
    assert all(s.type == UINT32 for s in loops)
