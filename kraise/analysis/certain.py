"""Whether a domain certainly has an instance in it: here nothing may be left out of the constraints."""

from __future__ import annotations

from functools import lru_cache

from kraise.analysis.conditions import classify, negate
from kraise.analysis.space import Space
from kraise.analysis.ties import SYMBOL
from kraise.ir import equations as eq

_MOST_CHOICES = 6  # their product is the number of sets to look at


@lru_cache(maxsize=20_000)
def sure(path: tuple[eq.Expr, ...]) -> bool:
    """Whether some instance certainly meets all of ``path``, for some sizes: nothing of it is left out of the set."""
    space = Space()
    some = {c: c.args[0].args for c in path if _denies_all(c)}  # type: ignore[union-attr]
    space.path([c for c in path if c not in some], {})
    for parts in some.values():
        facts = [classify(negate(part)) for part in parts]
        texts = [(space.poly(f.poly, {}), SYMBOL[f.kind]) for f in facts if f is not None]
        if len(texts) < len(facts) or any(text is None for text, _ in texts):
            return False
        space.constraints.append("(" + " or ".join(f"{text} {sign} 0" for text, sign in texts) + ")")
    return not space.dropped and not space.products and len(some) <= _MOST_CHOICES and not space.empty()


def _denies_all(c: eq.Expr) -> bool:
    return isinstance(c, eq.Op) and c.name == "not" and isinstance(c.args[0], eq.Op) and c.args[0].name == "and"


__all__ = ["sure"]
