"""What the fuzzer found where rows are begun, not whole: each kernel did not run until it was mended."""

import pytest

from tests.fuzz.check import check
from tests.fuzz.drawing import drawn


@pytest.mark.parametrize(("seed", "language", "kernel"), [(1764899, "cuda_c", "f0"), (1763768, "python", "f1")])
def test_a_masked_load_of_rows_that_are_begun_needs_no_whole_row(seed, language, kernel):
    """``i < n`` in rows of ``m`` (``x[i % m]`` beside it): the last row ends where n does, and the array with it."""
    found = check(drawn(seed, language), gradients=False, twice=False)
    assert {f.kind for f in found if f.kernel == kernel} == {"ok"}, found
