"""What the fuzzer found where two windows meet in one kernel: a rim as wide as the other one's, silently, and windows
that end before an array of one element."""

import pytest

from tests.fuzz.check import check
from tests.fuzz.kinds import KINDS

FOUND = [(1022, "python"), (1128, "python"), (1261, "cuda_c"), (1715, "cuda_c"), (5838, "cuda_c"), (6153, "python")]


@pytest.mark.parametrize(("seed", "language"), FOUND)
def test_each_window_has_rims_of_its_own(seed, language):
    found = check(KINDS["windows"](seed, language), gradients=False, twice=False)
    assert {f.kind for f in found} == {"ok"}, found
