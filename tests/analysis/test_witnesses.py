"""Points of earlier questions: what they answer, what is not understood, and that they change no answer."""

import islpy as isl
import pytest

from kraise.analysis import linear, sets, witnesses


@pytest.fixture(autouse=True)
def fresh():
    witnesses.forget()
    sets._empty.cache_clear()


def test_a_point_answers_a_later_question_without_isl(monkeypatch):
    assert not sets.empty(["v0 >= 3", "v0 < p0", "p0 <= 100"])
    monkeypatch.setattr(linear, "texts", lambda constraints, *_: pytest.fail(f"isl was asked {constraints}"))
    assert not sets.empty(["v0 >= 2", "v0 < p0", "p0 <= 100"])


def test_a_point_that_fails_is_no_answer():
    assert not sets.empty(["v0 >= 3", "v0 < p0"])
    assert sets.empty(["v0 >= 3", "v0 < p0", "p0 <= 2"])


MET = {
    "a sum": (["(2*v0) + (-14*1) >= 0", "(-1*v0) + (7*1) >= 0"], True),
    "a sum that is less": (["(1*v0) + (-8*1) >= 0"], False),
    "a sum that is zero": (["(2*v0) + (-1*v0) + (-7*1) = 0"], True),
    "a sum that is not zero": (["(2*v0) + (1*1) = 0"], False),
    "numbers": (["(1*1) >= 0", "(0*1) = 0"], True),
    "numbers that are less": (["(-1*1) >= 0"], False),
    "floor": (["floor((v0)/3) = 2"], True),
    "floor of a negative number": (["floor((v0 - 9)/2) = -1"], True),
    "mod": (["(v0 - 9) mod 5 = 3"], True),
    "or": (["v0 < 0 or v0 > 6"], True),
    "equal": (["v0 != 7"], False),
    "not equal": (["v0 != 6"], True),
    "a chain": (["0 <= v0 < 7"], False),
    "what Python does not know": (["exists e: v0 = 7e"], False),
    "a product by juxtaposition": (["2v0 = 14"], False),
    "a quotient outside floor": (["v0/7 = 1"], False),
}


@pytest.mark.parametrize("name", MET)
def test_the_point_seven(name):
    points = isl.Set("{ [v0] : v0 = 7 }")
    witnesses.keep(points.sample_point(), 1)
    constraints, expected = MET[name]
    assert witnesses.met(constraints, ("v0",)) is expected
    if expected:
        assert not isl.Set(f"{{ [v0] : v0 = 7 and ({' and '.join(constraints)}) }}").is_empty()


def test_parameters_keep_their_places():
    """The coordinates of what is no name come behind."""
    points = isl.Set("{ [v0, p1, v2, q] : v0 = 1 and p1 = 20 and v2 = 300 and q = 0 }")
    witnesses.keep(points.sample_point(), 3)
    assert witnesses.met(["v0 = 1", "p1 = 20", "v2 = 300"], ("v0", "p1", "v2"))
    assert not witnesses.met(["v0 = 20"], ("v0", "p1", "v2"))
