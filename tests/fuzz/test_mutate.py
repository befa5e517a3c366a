"""A short fixed run of the byte-level fuzz: no traceback, no hang, nothing emitted that does not compile."""

import pytest

from tests.fuzz.mutate import judge, mutant, mutated, sources

FILES = sources()


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_mutated_files(first):
    for seed in range(first, first + 20):
        name, text = mutant(seed, FILES)
        assert judge(text, name) == "", f"seed {seed}"


def test_the_judge_can_fail(monkeypatch):
    from kraise import pipeline

    def broken(*_):
        raise KeyError("x")

    monkeypatch.setattr(pipeline, "translate", broken)
    assert judge("", "k.py").startswith("KeyError")


def test_mutants_differ():
    import random

    name, text = FILES[0]
    assert len({mutated(text, text, random.Random(s)) for s in range(10)}) > 5 and name
