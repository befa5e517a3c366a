"""Constraints as rows of numbers are what isl reads in its own syntax."""

import itertools
import random

import islpy as isl
import pytest

from kraise.analysis import linear

BOX = [f"{sign}{name} + 5 >= 0" for name in ("v0", "p1", "v2") for sign in ("", "-1*")]
PARTS = (
    "(2*v0) + (-3*p1) + (1*1) >= 0",
    "(1*v0) + (-1*v2) = 0",
    "(1*p1) + (-1*1) != 0",
    "v0 <= 2*(v2 - p1)",
    "0 <= v0 - v2 < 3",
    "(1*(((1*v0) + (1*p1)) mod 3)) = 2",
    "(1*floor(((1*v2))/2)) + (-1*p1) >= 0",
    "floor((v0 - p1)/3) = -floor((p1)/2)",
    "((0 <= v0 - p1 < 2 and v2 = v0 - p1) or (v0 - p1 >= 2 and v2 = (v0 mod 2)) or (2*1) <= 0)",
    "((v0 >= 3) or (p1 < v2 mod 2))",
    "(1*1) >= 0",
    "(v0 = max((1*p1) + (1*1), (2*v2)))",
    "(v2 = min((1*p1) + (-1*v0), (1*v0)))",
)


def holds(constraint: str, v0: int, p1: int, v2: int) -> bool:
    text = constraint.replace("/", "//").replace("floor", "").replace("mod", "%").replace("!=", "~")
    for old, new in ((" = ", " == "), ("~", "!=")):
        text = text.replace(old, new)
    return bool(eval(text, {"v0": v0, "p1": p1, "v2": v2, "max": max, "min": min}))


@pytest.mark.parametrize("seed", range(8))
def test_there_is_a_point_where_there_was_one(seed):
    rng = random.Random(seed)
    names = ("v0", "p1", "v2")
    for _ in range(12):
        chosen = rng.sample(PARTS, rng.randint(1, 4))
        rows = linear.texts([*BOX, *chosen], names)
        assert rows is not None
        found = [isl.BasicSet(text) for text in rows]
        some = [p for p in itertools.product(range(-5, 6), repeat=3) if all(holds(c, *p) for c in chosen)]
        assert all(points.is_empty() for points in found) == (not some), chosen
        for points in found:
            point = points.sample_point()
            if not point.is_void():
                values = [point.get_coordinate_val(isl.dim_type.set, at).to_python() for at in range(3)]
                assert all(holds(c, **dict(zip(names, values, strict=True))) for c in chosen), (chosen, values)


def test_what_contradicts_itself_has_no_rows():
    assert list(linear.texts(["(2*1) <= 0"], ())) == [] == list(linear.texts(["(-1*1) >= 0"], ("v0",)))
    assert isl.Set(linear.union([], ("v0",), ("p0", "p1"))).is_empty()


@pytest.mark.parametrize(
    "constraint",
    ["v0*p1 >= 0", "v0 mod p1 = 0", "exists e: v0 = 7e", "2v0 = 14", "v0/7 = 1", "floor(v0/0) = 1", "max(v0, p1) = 1"],
)
def test_what_is_not_linear_is_isl_s_own(constraint):
    assert linear.texts(["v0 >= 0", constraint], ("v0", "p1")) is None


def test_many_choices_are_isl_s_own():
    apart = [f"v{2 * n} != v{2 * n + 1}" for n in range(8)]
    names = [f"v{n}" for n in range(16)]
    assert linear.texts(apart, names) is None and len(list(linear.texts(apart[:3], names))) == 8


def test_sets_with_parameters_are_those_of_the_text():
    where = ["(v0 mod 3) = 1", "v0 < p0", "(v0 >= 2 or p0 <= 9)", "at = (2*v0) + (1*p0)"]
    texts = linear.texts(where, ("v0", "at"), ("p0",))
    found = isl.Set(linear.union(texts, ("v0", "at"), ("p0",))).set_dim_name(isl.dim_type.param, 0, "p0")
    assert found.is_equal(isl.Set(f"[p0] -> {{ [v0, at] : {' and '.join(where)} }}"))
