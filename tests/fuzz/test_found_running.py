"""What the fuzzer found in states that a row carries: an integer that takes an index, or a number alone, beside 64-bit
indices, products of nothing but numbers; bits of a row's first integers; rows without columns."""

import pytest

from tests.fuzz.check import check
from tests.fuzz.kinds import KINDS


@pytest.mark.parametrize(
    ("seed", "language", "gradients"),
    [
        (1009, "cuda_c", True),
        (1037, "cuda_c", False),
        (1264, "python", False),
        (5620, "python", False),
        (3100160, "python", False),
        (4100078, "python", False),
    ],
)
def test_a_round_keeps_the_types_of_what_it_carries(seed, language, gradients):
    found = check(KINDS["running"](seed, language), gradients=gradients, twice=False)
    assert {f.kind for f in found} == {"ok"}, found
