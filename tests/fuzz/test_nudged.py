"""A few mutants of samples: what is still accepted is right; and the mutants differ from their samples."""

import random

import pytest

from tests.corpus import SAMPLES
from tests.fuzz.nudged import judge, mutants

BY_NAME = {s.name: s for s in SAMPLES}
FEW = [("bin_lookup", 1), ("cuda_histogram", 2), ("cuda_edge_tables", 3), ("row_softmax", 4)]


@pytest.mark.parametrize(("name", "seed"), FEW)
def test_mutants(name, seed):
    mutant = next(mutants(BY_NAME[name], random.Random(seed)))
    assert mutant.source != mutant.sample.source.read_text(encoding="utf-8")
    assert [f for f in judge(mutant) if f.is_bug] == []
