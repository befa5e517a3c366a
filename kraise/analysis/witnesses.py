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

_KEPT = 12  # points for a number of names: more of them cost more than they answer
_SPELLED = re.compile(r"[vp]\d+|\d+|<=|>=|!=|=|<|>|[-+*(),]|\bmod\b|\bfloor\b|\band\b|\bor\b|\bnot\b|/|\s+")
_SAME = re.compile(r"(?<![<>=!])=(?!=)")

Point = tuple[int, ...]
_points: dict[int, OrderedDict[Point, None]] = {}


def forget() -> None:
    """Drop all points (the answers do not depend on them, the number of questions does)."""
    _points.clear()


def met(constraints: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a point that is known meets all ``constraints`` (in isl's syntax) over integers called ``names``."""
    kept = _points.get(len(names))
    if not kept:
        return False
    test = _compiled(" and ".join(f"({c})" for c in constraints), tuple(names))
    if test is None:
        return False
    for point in reversed(kept):
        if test(*point):
            kept.move_to_end(point)
            return True
    return False


def keep(points: isl.Set, point: isl.Point, names: Sequence[str]) -> None:
    """Keep a ``point`` of a set whose parameters and dimensions are ``names``, each kind in their order."""
    value = tuple(
        point.get_coordinate_val(kind, at).to_python()
        for kind in (isl.dim_type.param, isl.dim_type.set)
        for at in range(points.dim(kind))
    )
    order = [points.get_dim_name(isl.dim_type.param, at) for at in range(points.dim(isl.dim_type.param))]
    rest = [name for name in names if name not in order]
    by_name = dict(zip([*order, *rest], value, strict=True))
    kept = _points.setdefault(len(names), OrderedDict())
    kept[tuple(by_name[name] for name in names)] = None
    if len(kept) > _KEPT:
        kept.popitem(last=False)


@lru_cache(maxsize=20_000)
def _compiled(text: str, names: tuple[str, ...]) -> Callable[..., bool] | None:
    """The constraints as a Python function of the names, None where isl's syntax is not plain arithmetic."""
    if _SPELLED.sub("", text):
        return None
    if text.count("/") != text.count("floor("):
        return None
    python = _SAME.sub("==", text).replace("/", "//").replace("floor(", "(")
    python = re.sub(r"\bmod\b", "%", python)
    try:
        code = compile(f"lambda {', '.join(names)}: {python}", "<constraints>", "eval")
    except SyntaxError:
        return None
    test: Callable[..., bool] = eval(code, {"__builtins__": {}})  # only what _SPELLED lets through
    return test
