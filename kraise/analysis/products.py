"""What is known of an index times a size, which is no affine expression: an unknown number in questions to isl."""

from __future__ import annotations

from typing import Protocol

from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq

Product = tuple[str, str, tuple[eq.Expr, ...], eq.Index]  # the texts of the index and the size; the factors; the index


class Unknowns(Protocol):
    """The unknown numbers of a set: ``products`` are an index times a size, ``quotients`` one size divided by
    another."""

    products: dict[str, Product]
    quotients: dict[str, eq.Op]

    def poly(self, poly: Poly, rename: dict[str, str]) -> str | None:
        """A polynomial in isl's syntax."""


def multiplied(unknowns: Unknowns) -> list[str]:
    """What follows where the size is not negative: the product's sign; of two values of one index, that the products
    are as far apart as the size where the indices differ; that the product stays below ``n`` by the size where the
    index stays below ``n`` divided by the size."""
    found = []
    each = list(unknowns.products.items())
    for at, (g, (x, size, rest, index)) in enumerate(each):
        signs = f"({x} <= -1 and {g} <= -{size}) or ({x} = 0 and {g} = 0) or ({x} >= 1 and {g} >= {size})"
        found.append(f"({size} < 0 or {signs})")
        for h, (y, _, others, other) in each[at + 1 :]:
            if index is other and rest == others:
                found.append(
                    f"({size} < 0 or ({x} = {y} and {g} = {h}) or ({x} < {y} and {h} >= {g} + {size})"
                    f" or ({x} > {y} and {g} >= {h} + {size}))"
                )
        for q, quotient in list(unknowns.quotients.items()):
            dividend = unknowns.poly(to_poly(quotient.args[0]), {}) if rest == quotient.args[1:] else None
            if dividend is not None:
                found.append(f"({size} <= 0 or {dividend} < 0 or {x} >= {q} or {g} + {size} <= {dividend})")
    return found


__all__ = ["Product", "Unknowns", "multiplied"]
