"""Questions to isl: asked by parts, bounded, and never twice."""

import pytest

from kraise.analysis import linear, sets, witnesses

PARTS = {
    "one part is empty": (["v0 >= 0", "v1 >= 3", "v1 <= 2"], True),
    "no part is empty": (["v0 >= 0", "v1 >= 3", "v1 <= 4"], False),
    "parts that a constraint ties": (["v0 >= 3", "v1 <= 2", "v0 = v1"], True),
    "parts that two constraints tie": (["v0 >= p7", "v1 <= 2", "v0 = v2", "v2 = v1", "p7 >= 3"], True),
    "no names": (["(-1) >= 0"], True),
    "nothing": ([], False),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_asked_apart(name):
    constraints, expected = PARTS[name]
    assert sets.empty(constraints) is expected


def test_a_part_is_asked_once_whatever_its_names_are():
    sets._empty.cache_clear()
    sets.empty(["v3 >= p1", "v3 < p1", "v8 >= 0"])
    assert sets._empty.cache_info().misses <= 2
    asked = sets._empty.cache_info().misses
    sets.empty(["v1 >= p0", "v1 < p0"])
    sets.empty(["v5 >= 0"])
    assert sets._empty.cache_info().misses <= max(asked, 2)


def test_a_question_that_takes_too_long_stays_open(monkeypatch):
    hard = ["v0 >= 1", "v0 <= 0", *(f"v0 != {k} + v{k}" for k in range(1, 6))]
    sets._empty.cache_clear()
    assert sets.empty(hard)
    monkeypatch.setattr(sets, "_OPERATIONS", 20)
    sets._empty.cache_clear()
    assert not sets.empty(hard)
    assert sets.parse("[p0] -> { [x] : 0 <= x < p0 and x != 3 and x != 5 and x != 7 }") is None
    monkeypatch.undo()
    sets._empty.cache_clear()
    assert sets.empty(hard)


def test_what_no_choice_decides_is_asked_without_the_choices(monkeypatch):
    """Each choice (`or`, `!=`) doubles isl's work: a contradiction of the other constraints needs none of them."""
    asked: list[str] = []
    right = linear.texts

    def noted(constraints, columns):
        asked.extend(constraints)
        return right(constraints, columns)

    monkeypatch.setattr(linear, "texts", noted)
    plain = ["v0 >= 0", "v1 >= v0 + 3", "v1 <= v0 + 2"]
    choices = ["(v0 >= 7 or v1 >= 9)", "v0 != v1", "(v0 != 4 or v1 != 4)"]
    sets._empty.cache_clear()
    assert sets.empty([*plain, *choices])
    assert asked and not any(" or " in text or "!=" in text for text in asked)
    witnesses.forget()
    assert sets.empty(["v0 >= 0", "v0 <= 1", "v0 != 0", "v0 != 1"])  # these decide
    assert not sets.empty(["v0 >= 0", "v0 <= 2", "v0 != 0", "v0 != 1"])


@pytest.mark.parametrize("name", PARTS)
def test_constraints_added_one_by_one(name):
    """What is added to a conjunction is no part of it, and all of them together say what they say at once."""
    constraints, expected = PARTS[name]
    whole, before = sets.Conjunction(), []
    for constraint in constraints:
        before.append((whole, whole.empty()))
        whole = whole.with_all((constraint, constraint))
    assert whole.empty() is expected
    assert all(one.empty() is was for one, was in before)
