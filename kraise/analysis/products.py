"""What is known of an index times a size, which is no affine expression: an unknown number in questions to isl."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq

Product = tuple[str, str, tuple[eq.Expr, ...], eq.Index]  # the texts of the index and the size; the factors; the index


class Unknowns(Protocol):
    """What a set states (``stated``: polynomials that are not negative) and its unknown numbers: ``products`` are an
    index times a size, ``quotients`` one size divided by another."""

    stated: set[Poly]
    products: dict[str, Product]
    quotients: dict[str, eq.Op]

    def poly(self, poly: Poly, rename: dict[str, str]) -> str | None:
        """A polynomial in isl's syntax."""


def multiplied(unknowns: Unknowns, impossible: Callable[[str], bool]) -> list[str]:
    """What follows where the size is 1 or more, as of a template's integer that is a block's extent, or of what a
    thread's index stays below: a product is not less than an index that is not negative; of two values of one index,
    the products are as far apart as the size where the indices differ; a product stays below ``n`` by the size where
    the index stays below ``n`` divided by the size.

    ``impossible`` says whether a further constraint leaves nothing of the set: what depends on one is stated only
    where the set decides it, since each ``or`` doubles isl's work.
    """
    found = []
    each = [
        (g, *p)
        for g, p in unknowns.products.items()
        if Poly({p[2]: 1}) - 1 in unknowns.stated or impossible(f"{p[1]} <= 0")
    ]
    for at, (g, x, size, rest, index) in enumerate(each):
        if impossible(f"{x} <= -1"):
            found.append(f"{g} >= {x}")
            if impossible(f"{x} <= 0"):
                found.append(f"{g} >= {size}")
        for h, y, _, others, other in each[at + 1 :]:
            if index is other and rest == others:
                apart = f"({x} < {y} and {h} >= {g} + {size}) or ({x} > {y} and {g} >= {h} + {size})"
                found.append(f"(({x} = {y} and {g} = {h}) or {apart})")
        for q, quotient in list(unknowns.quotients.items()):
            dividend = unknowns.poly(to_poly(quotient.args[0]), {}) if rest == quotient.args[1:] else None
            if dividend is not None and impossible(f"{x} >= {q}") and impossible(f"{dividend} < 0"):
                found.append(f"{g} + {size} <= {dividend}")
    return found


__all__ = ["Product", "Unknowns", "multiplied"]
