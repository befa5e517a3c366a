"""Programs that hypothesis draws: one that shows a bug is shrunk by it to a small one."""

import random

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from tests.fuzz.check import check
from tests.fuzz.cuda_c import spelled
from tests.fuzz.generate import Program, generate

FEW = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True, scope="module")
def _own_draws():
    """Hypothesis looks through all modules that are loaded for constants to draw: seconds, and other programs each
    time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", lambda: providers._local_constants, raising=False)
        yield


def program(draws: random.Random, c: bool) -> Program:
    made = generate(1, c=c, small=True, draws=draws)
    return spelled(made) if c else made


PROGRAMS = st.builds(program, st.randoms(use_true_random=False), st.booleans())


@given(PROGRAMS)
@settings(FEW, max_examples=10)
def test_programs_are_right_or_refused(drawn):
    found = check(drawn, gradients=False, twice=False, variants=(0,))
    assert [f for f in found if f.is_bug] == [], drawn.source


def test_what_shows_a_bug_is_shrunk():
    """The smallest program with a loop and a load, say."""
    shown = []

    def shows(drawn: Program) -> bool:
        if found := "for " in drawn.source and "x[" in drawn.source:
            shown.append(len(drawn.source))
        return found

    small = find(PROGRAMS, shows, settings=settings(FEW, max_examples=20), random=random.Random(0))
    assert shows(small) and len(small.source) < max(shown), small.source
