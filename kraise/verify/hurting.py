"""Derivatives at points chosen to hurt: zeros, ties, the constants that branches compare with, other signs and sizes.

The scalar program decides what a point is worth. Where it has no finite value or derivative there, the point says
nothing. Where the two derivatives differ, its difference quotients from both sides decide: if these differ as well,
there is a kink or a jump and no one derivative, which the row says; the gradient must be finite all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise.ir import kernel as k
from kraise.verify.errors import InterpreterError
from kraise.verify.facts import walk
from kraise.verify.measure import compare, entries
from kraise.verify.report import Row

if TYPE_CHECKING:
    from kraise.verify.gradients import Derivatives

Floats = dict[str, Any]
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "min", "max"))
_STEP, _STEP_32 = 1e-6, 2e-3  # of difference quotients in 64 and in 32 bits
_SEARCHED = 64  # elements of an array that are looked at one by one when something is wrong


def points(function: k.Function, floats: Floats, rng: np.random.Generator) -> Iterator[tuple[str, Floats]]:
    """The points by name: each the float arrays anew, some of their elements as they hurt."""
    arrays = {n: np.asarray(v) for n, v in floats.items() if np.ndim(v) and not np.iscomplexobj(v)}
    if not arrays:
        return

    def some(array: np.ndarray, share: float) -> Any:
        return rng.random(array.shape) < share

    yield "zeros", {n: np.where(some(v, 0.4), 0.0, v) for n, v in arrays.items()}
    yield "ties", {n: np.round(2 * v) / 2 for n, v in arrays.items()}
    edges = [float(v) for v in constants(function)]
    edges += [float(v) for n, v in floats.items() if not np.ndim(v) and not np.iscomplexobj(v)]
    if edges:
        yield "branch edges", {n: np.where(some(v, 0.4), rng.choice(edges, v.shape), v) for n, v in arrays.items()}
    yield "other signs", {n: np.where(some(v, 0.5), -v, v) for n, v in arrays.items()}
    yield "large numbers", {n: np.where(some(v, 0.3), v * 1e4, v) for n, v in arrays.items()}


def constants(function: k.Function) -> list[float]:
    """The numbers with which the function compares something, in order, each once."""
    found: dict[float, None] = {}
    for node in walk(function.body):
        if isinstance(node, k.Op) and node.name in _COMPARISONS:
            for arg in node.args:
                if isinstance(arg, k.Const) and type(arg.value) is float and np.isfinite(arg.value):
                    found[arg.value] = None
    return list(found)


def check_hurting(
    point: Derivatives,
    call: Callable[[Floats], list[Any]],
    both: Callable[[Floats, list[Any]], tuple[list[Any], Floats]],
    at: Floats,
    shapes: Any,
    tolerance: float,
    assumes: bool,
) -> list[Row]:
    """One row a point of a kind at which something could be compared; ``both``: the values and the gradient of their
    weighted sum; ``assumes``: the docstring rules out some."""
    if any(isinstance(node, k.While) for node in walk(point.function.body)):
        return []  # what ends at generic points in two precisions need not end at a tie or at large numbers in both
    rng = np.random.default_rng(11)
    rows = []
    for name, moved in points(point.function, {n: point.flat[n] for n in at}, rng):
        row = _Hurting(point, at, shapes, moved, rng).compared(name, call, both, tolerance, assumes)
        rows += [row] if row is not None else []
    return rows


class _Hurting:
    """One point: the scalar program's derivatives there, and the weights of what it returns."""

    def __init__(self, point: Derivatives, at: Floats, shapes: Any, moved: Floats, rng: np.random.Generator) -> None:
        self.point, self.at, self.shapes, self.moved = point, at, shapes, moved
        self.weights: list[np.ndarray] = []
        self.here: list[Any] = []
        try:
            leaves = self.leaves(self.moved)
        except (InterpreterError, ValueError):
            return
        with np.errstate(all="ignore"):
            # beyond the root of the largest float32, which an array in between may hold, an intermediate overflows in
            # one order of evaluation and not in another: nothing can be compared there
            most = float(np.sqrt(np.finfo(np.float32).max))
            finite = all(
                (np.abs(leaf.value) < most).all() and (leaf.tangents is None or (np.abs(leaf.tangents) < most).all())
                for leaf in leaves
            )
        if finite:
            self.here = leaves
            self.weights = [rng.uniform(0.5, 1.5, np.shape(leaf.value)) for leaf in leaves]
            self.slopes = [self.along(leaves, d) for d in range(len(next(iter(point.directions.values()))))]

    def leaves(self, moved: Floats, directions: Floats | None = None) -> list[Any]:
        """What the scalar program returns, the floats of it, with tangents."""
        outcome = self.point.oracle(moved, directions)
        leaves, _ = self.point.matched(self.point.function, outcome, self.shapes)
        return [leaf for leaf in leaves if np.asarray(leaf.value).dtype.kind in "fcV"]

    def along(self, leaves: list[Any], d: int) -> float:
        pairs = zip(self.weights, leaves, strict=True)
        return sum(float(np.sum((w * leaf.tangents[d]).real)) for w, leaf in pairs if leaf.tangents is not None)

    def values(self, d: int, step: float) -> list[np.ndarray]:
        """What is returned ``step`` further along a direction."""
        moved = {n: self.moved.get(n, self.point.flat[n]) + step * self.point.directions[n][d] for n in self.at}
        return [np.asarray(leaf.value) for leaf in self.leaves(moved)]

    def quotients(self, d: int, step: float) -> tuple[float, float]:
        """The difference quotients of the weighted sum along a direction, from the right and from the left."""
        try:
            before, here, after = (self.values(d, h) for h in (-step, 0.0, step))
        except InterpreterError:
            return float("nan"), float("nan")

        def slope(lower: list[np.ndarray], upper: list[np.ndarray]) -> float:
            # element by element: a large one must not swallow the others' differences
            parts = zip(self.weights, lower, upper, strict=True)
            return sum(float(np.sum((w * (b - a)).real)) for w, a, b in parts) / step

        return slope(here, after), slope(before, here)

    def compared(
        self,
        name: str,
        call: Callable[[Floats], list[Any]],
        both: Callable[..., Any],
        tolerance: float,
        assumes: bool,
    ) -> Row | None:
        """The row of this point; None where the scalar program has no derivative there."""
        if not self.weights:
            return None
        values = {n: jnp.asarray(self.moved[n], v.dtype) if n in self.moved else v for n, v in self.at.items()}
        outputs = [leaf for leaf in jax.tree_util.tree_leaves(self.shapes) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
        got, found = both(values, [jnp.asarray(w, o.dtype) for w, o in zip(self.weights, outputs, strict=True)])
        what = f"at {name}"
        for number, (value, leaf) in enumerate(zip(got, self.here, strict=True)):
            row = compare("values", leaf.name, value, leaf.value, tolerance)
            if row.status == "failed" and assumes:
                return Row("values", what, "note", message="other values: outside of what the docstring assumes?")
            if row.status == "failed" and not self._rounded(call, values, number, tolerance):
                return Row("values", what, "failed", row.error, tolerance, row.message)
            if row.status == "failed":
                return Row(
                    "values", what, "skipped", row.error, tolerance, f"a jump, which rounding decides: {leaf.name}"
                )
        for n, g in found.items():
            if not np.isfinite(g).all():
                message = f"the gradient is not finite at {entries(n, ~np.isfinite(np.asarray(g)))}{self._value(n, g)}"
                return Row("vjp", what, "failed", float("inf"), tolerance, message)
        worst = 0.0
        for d, expected in enumerate(self.slopes):
            terms = [np.asarray(g) * self.point.directions[n][d] for n, g in found.items()]
            along = sum(float(np.sum(t).real) for t in terms)
            scale = max(abs(expected), sum(float(np.sum(np.abs(t))) for t in terms), 1e-6)
            error = abs(along - expected) / scale
            if not error <= tolerance:  # NaN is none that fits
                return self._differing(what, found, d, along, error, tolerance)
            worst = max(worst, error)
        return Row("vjp", what, "ok", worst, tolerance)

    def _rounded(self, call: Callable[[Floats], list[Any]], values: Floats, at: int, tolerance: float) -> bool:
        """Whether the element is right where the compiler contracts no product and sum: rounding decides a comparison
        then, and not the text."""
        with jax.disable_jit():
            plain = call(values)[at]
        leaf = self.here[at]
        return compare("values", leaf.name, plain, leaf.value, tolerance).status == "ok"

    def _value(self, name: str, gradient: Any) -> str:
        first = tuple(np.argwhere(~np.isfinite(np.asarray(gradient)))[0])
        return f" (which is {np.asarray(self.moved.get(name, self.point.flat[name]))[first]:.6g})"

    def _differing(self, what: str, found: Floats, d: int, got: float, error: float, tolerance: float) -> Row:
        """Two derivatives: of a kink or a jump both may be right, elsewhere the differences say which is."""
        step, near = (_STEP, 1e-3) if self.point.wide else (_STEP_32, 2e-2)
        right, left = self.quotients(d, step)
        size = max(abs(right), abs(left), 1e-9)
        if not abs(right - left) <= near * size:
            return Row("vjp", what, "skipped", error, tolerance, "a kink or a jump: no one derivative")
        if abs(got - (right + left) / 2) <= near * size:
            return Row("vjp", what, "ok", error, tolerance, "as the difference quotients have it")
        return Row(
            "vjp", what, "failed", error, tolerance, self._culprit(found) or f"{got:.9g} along direction {d + 1}"
        )

    def _culprit(self, found: Floats) -> str:
        """The element whose derivative is furthest off, in words."""
        worst, message = 0.0, ""
        for name, gradient in found.items():
            got = np.asarray(gradient)
            count = min(got.size, _SEARCHED)
            one_by_one = {n: np.zeros((count, *np.shape(self.point.flat[n]))) for n in found}
            one_by_one[name].reshape(count, -1)[np.arange(count), np.arange(count)] = 1.0
            leaves = self.leaves(self.moved, one_by_one)
            for place in range(count):
                expected = self.along(leaves, place)
                off = abs(got.ravel()[place].real - expected)
                if off > worst:
                    at = ", ".join(str(int(p)) for p in np.unravel_index(place, got.shape)) if got.ndim else ""
                    worst = off
                    value = np.asarray(self.moved.get(name, self.point.flat[name])).ravel()[place]
                    element = f"{name}[{at}]" if at else name
                    message = f"by {element} (which is {value:.6g}): {got.ravel()[place]:.9g} instead of {expected:.9g}"
        return message
