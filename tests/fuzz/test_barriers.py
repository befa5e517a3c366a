"""A few mutants of samples with barriers: none that is accepted races; and the judge can tell one that does."""

import pytest

from tests.corpus import SAMPLES
from tests.fuzz.barriers import Mutant, judge, mutants

BY_NAME = {s.name: s for s in SAMPLES}
FEW = ("tiled_transpose", "cuda_two_launch_sum", "thread_arrays")


@pytest.mark.parametrize("name", FEW)
def test_mutants_of_barriers(name):
    found = list(mutants(BY_NAME[name]))
    assert len(found) > 4
    for mutant in found[::4]:
        assert not [f for f in judge(mutant) if f.is_bug], mutant.change


def test_every_sample_with_a_barrier_has_mutants():
    assert sum(1 for s in SAMPLES if next(mutants(s), None)) >= 30


def test_a_race_that_is_accepted_is_seen(monkeypatch):
    """The translation of the sound sample, given out as that of the racy one."""
    from kraise import pipeline

    sample = BY_NAME["tiled_transpose"]
    sound, right = sample.translate(), pipeline.translate
    racy = next(m for m in mutants(sample) if m.change.startswith("no barrier"))

    def accepting(source, file, options):
        done = right(source, file, options)
        for name, value in (("text", sound.text), ("raised", sound.raised)):
            object.__setattr__(done, name, value)
        return done

    monkeypatch.setattr(pipeline, "translate", accepting)
    assert {f.kind for f in judge(Mutant(sample, racy.change, racy.source))} & {"race", "wrong"}
