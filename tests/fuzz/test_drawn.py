"""Programs that hypothesis draws: one that shows a bug is shrunk by it to a small one."""

import random

from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from tests.fuzz.check import check
from tests.fuzz.cuda_c import spelled
from tests.fuzz.generate import Program, generate

FEW = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


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
    """The smallest program with a loop and a load, say.

    How small is not said: what hypothesis draws also depends on the constants of the modules that other tests loaded.
    """
    shown = []

    def shows(drawn: Program) -> bool:
        if found := "for " in drawn.source and "x[" in drawn.source:
            shown.append(len(drawn.source))
        return found

    small = find(PROGRAMS, shows, settings=settings(FEW, max_examples=20), random=random.Random(0))
    assert shows(small) and len(small.source) < max(shown), small.source
