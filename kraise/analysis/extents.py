"""Which coordinates an array certainly has: from its shape and from the accesses that the source surely makes.

A kernel is translated for launches on which it is well defined, so whatever coordinate it reads or writes without a
condition on data exists. What the raised form touches beyond that (the hull of a triangle, the lanes behind a mask)
must be proved to lie within, or be brought inside before the access.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis import sets
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_poly
from kraise.analysis.space import Space
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological


class Extents:
    """The coordinates that exist, per array and axis, as isl sets over the sizes."""

    def __init__(self, accesses: Iterable[Access]):
        self._params: dict[object, str] = {}
        self._by_axis: dict[tuple[str, int, int], list[tuple[tuple[eq.Expr, ...], Poly]]] = {}
        self._sets: dict[tuple[str, int, int], sets.Set] = {}
        seen = set()
        for a in accesses:
            for d, s in enumerate(a.whole or a.subscripts):
                key = (a.array, d, 0 if a.whole else len(a.view))
                item = (a.path, to_poly(s))
                if item[1].indices() - {n for c in a.path for n in free_indices(c)}:
                    continue  # any place at all: it says of none that it exists
                if (key, item) not in seen:
                    seen.add((key, item))
                    self._by_axis.setdefault(key, []).append(item)

    def holds(
        self, array: str, axis: int, view: tuple[eq.Expr, ...], subscript: eq.Expr, domain: tuple[eq.Expr, ...]
    ) -> bool:
        """Whether every value of ``subscript`` over ``domain`` is a coordinate of that axis; False where unknown."""
        wanted = self._image(domain, to_poly(subscript))
        if wanted is None:
            return False
        key = (array, axis, len(view))
        if key not in self._sets:
            self._sets[key] = self._known(array, axis, view)
        return sets.contains(self._sets[key], wanted)

    def _known(self, array: str, axis: int, view: tuple[eq.Expr, ...]) -> sets.Set:
        extent = view[axis] if view else eq.Shape(array, axis, INT)
        x = eq.Index("$x", INT)
        bounds = (
            eq.Op("ge", (x, eq.Const(0, INT)), BOOL),
            eq.Op("lt", (x, extent), BOOL),
        )
        own = self._image(bounds, to_poly(x))
        assert own is not None
        images = [self._image(path, poly, exact=True) for path, poly in self._by_axis.get((array, axis, len(view)), [])]
        return sets.union(own, [sets.downwards(image) for image in images if image is not None])

    def _image(self, path: tuple[eq.Expr, ...], poly: Poly, exact: bool = False) -> sets.Set | None:
        """The values of ``poly`` where ``path`` holds, or a superset; of ``exact`` ones those that there surely are.
        None if that cannot be said."""
        space = Space(self._params)
        text = space.poly(poly, {})
        if text is None:
            return None
        space.path(tuple(map(_surely, path)) if exact else path, {})
        if exact and space.dropped:
            return None
        inner = ", ".join(space.variables.values())
        exists = f"exists {inner} : " if inner else ""
        where = " and ".join([f"x = {text}", *space.constraints])
        return sets.parse(f"[{', '.join(self._params.values())}] -> {{ [x] : {exists}{where} }}")


def _surely(condition: eq.Expr) -> eq.Expr:
    """Of alternatives those that are known without data: an access under ``i == 0 or mask[i]`` is made at 0."""
    match condition:
        case eq.Op(name="or", args=(a, b)):
            one, two = _surely(a), _surely(b)
            known = [c for c in (one, two) if not any(isinstance(n, eq.Read) for n in topological((c,)))]
            return known[0] if len(known) == 1 else eq.Op("or", (one, two), BOOL)
    return condition
