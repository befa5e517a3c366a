"""Points that met earlier questions, tried on later ones before isl is asked (the counterexample cache of KLEE,
Cadar, Dunbar and Engler, OSDI 2008, section 3.4).

Most questions of a kernel are near to each other: a point that one set contains often lies in the next. A point that
meets all constraints shows that they are not contradictory; a point proves nothing else. What is not understood of a
constraint is no answer.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache

import islpy as isl

from kraise.analysis import linear

_KEPT = 12  # points for a number of names: more of them cost more than they answer
_SPELLED = re.compile(r"[vp]\d+|\d+|<=|>=|!=|=|<|>|[-+*(),]|\bmod\b|\bfloor\b|\band\b|\bor\b|\bnot\b|/|\s+")
_SAME = re.compile(r"(?<![<>=!])=(?!=)")

_NAME, _PLACE = re.compile(r"\b[vp](\d+)\b"), r"q[\1]"

Point = tuple[int, ...]
_points: dict[int, OrderedDict[Point, None]] = {}


def forget() -> None:
    """Drop all points (the answers do not depend on them, the number of questions does)."""
    _points.clear()


def met(constraints: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a point that is known meets all ``constraints`` (in isl's syntax) over integers called ``names``, each of
    which ends in its place among them."""
    kept = _points.get(len(names))
    if not kept:
        return False
    tests = []
    for constraint in constraints:
        test = _compiled(constraint)
        if test is None:
            return False
        tests.append(test)
    for point in reversed(kept):
        for test in tests:
            if not test(point):
                break
        else:
            kept.move_to_end(point)
            return True
    return False


def keep(point: isl.Point, count: int) -> None:
    """Keep a point; its first ``count`` coordinates are those of the names."""
    value = tuple(point.get_coordinate_val(isl.dim_type.set, at).to_python() for at in range(count))
    kept = _points.setdefault(count, OrderedDict())
    kept[value] = None
    if len(kept) > _KEPT:
        kept.popitem(last=False)


@lru_cache(maxsize=20_000)
def _compiled(constraint: str) -> Callable[[Point], bool] | None:
    """A constraint as a Python function of a point, None where isl's syntax is not plain arithmetic.

    One by one: questions that are near to each other have most constraints in common, and to compile is what costs.
    """
    plain = linear.one_sum(constraint)
    if plain is not None and len(plain[0]) <= 3:
        return _of_sum(*plain)
    if _SPELLED.sub("", constraint):
        return None
    if constraint.count("/") != constraint.count("floor("):
        return None
    python = _SAME.sub("==", constraint).replace("/", "//").replace("floor(", "(").replace("mod", "%")
    try:
        code = compile(f"lambda q: ({_NAME.sub(_PLACE, python)})", "<constraint>", "eval")
    except SyntaxError:
        return None
    test: Callable[[Point], bool] = eval(code, {"__builtins__": {}})  # only what _SPELLED lets through
    return test


def _of_sum(terms: Sequence[tuple[str, int]], number: int, kind: int) -> Callable[[Point], bool]:
    """The test of a sum of a few names."""
    (i, a), (j, b), (k, c) = ([(int(name[1:]), by) for name, by in terms] + [(0, 0)] * 3)[:3]
    match len(terms):
        case 0:
            return lambda q: number == 0 if kind == linear.EQUAL else number >= 0
        case _ if kind == linear.EQUAL:
            return lambda q: a * q[i] + b * q[j] + c * q[k] + number == 0
        case 1:
            return lambda q: a * q[i] + number >= 0
        case 2:
            return lambda q: a * q[i] + b * q[j] + number >= 0
    return lambda q: a * q[i] + b * q[j] + c * q[k] + number >= 0
