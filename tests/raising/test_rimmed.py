"""Tiles with rims, filled by blocks whose size the source leaves to the launch: the cells of the tile fit one size."""

import pytest

from kraise.diagnostics import Refused
from tests.raising.agree import agree, raised, text

RIM = """
def f(x, y, n):
  s = cuda.shared.array(5, "float64")
  i = cuda.grid(1)
  t = cuda.threadIdx.x
  s[t + 1] = x[i] if i < n else 0.0
  if t < 1:
    s[t] = x[i - 1] if i >= 1 and i <= n else 0.0
    s[t + 1 + cuda.blockDim.x] = x[i + cuda.blockDim.x] if i + cuda.blockDim.x < n else 0.0
  cuda.syncthreads()
  if i < n:
    y[i] = s[t] - 2 * s[t + 1] + s[t + 2]
"""
LAST = RIM.replace("  if t < 1:", "  if t == 0:").replace(
    "    s[t + 1 + cuda.blockDim.x] = x[i + cuda.blockDim.x] if i + cuda.blockDim.x < n else 0.0\n",
    "  if t == cuda.blockDim.x - 1:\n    s[t + 2] = x[i + 1] if i + 1 < n else 0.0\n",
)


@pytest.mark.parametrize("source", (RIM, LAST), ids=("the first threads", "the last thread"))
def test_the_rim_is_found_whatever_the_size(source):
    """A block has a thread, which fills the rim: nothing need be said of how many there are."""
    kernel = agree(source, sizes=(1, 2, 4, 6))
    assert not kernel.launch and not kernel.assumptions, text(kernel)


@pytest.mark.parametrize(
    "change",
    (("  cuda.syncthreads()\n", ""), ("s[t] = x", "s[t + 1] = x"), ("shared.array(5", "shared.array(4")),
    ids=("no barrier", "one cell for two", "no room"),
)
def test_rims_of_another_kind(change):
    try:
        kernel = raised(RIM.replace(*change))
    except Refused as refused:
        assert {d.code for d in refused.diagnostics} <= {"KR201", "KR204", "KR207"}
    else:
        assert "3 threads" not in str(kernel.assumptions)
