"""The emitted ``f_grad``, ``f_vjp`` and ``f_jvp`` beside the interpreter's dual numbers.

The oracle moves the active arguments along random directions; what the emitted functions return, summed along the same
directions, must agree. Nothing is asked of JAX here but to run what was emitted.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise.ir.activity import Activity, Term
from kraise.verify.errors import InterpreterError
from kraise.verify.gradients import DIRECTIONS, Derivatives, _inexact, _whole
from kraise.verify.interpreter import nest_arguments
from kraise.verify.load import Emitted
from kraise.verify.measure import compare
from kraise.verify.report import Row, in_words

TOLERANCE = 1e-7


def check_named(point: Derivatives, activities: tuple[Activity, ...]) -> list[Row]:
    """Rows for each derivative function that the module has."""
    rows: list[Row] = []
    for activity in activities:
        for way in activity.ways:
            function = getattr(point.emitted.module, f"{point.emitted.call.__name__}_{way}", None)
            label = f"{point.function.name}_{way}"
            if function is None:
                rows.append(Row(way, label, "failed", message="the module has no such function"))
                continue
            try:
                rows += _Check(point, activity, function, label).rows(way)
            except InterpreterError as error:
                rows.append(Row(way, label, "skipped", message=str(error)))
            except Exception as error:  # whatever the emitted code does
                rows.append(Row(way, label, "failed", message=in_words(error)))
    return rows


class _Check:
    def __init__(self, point: Derivatives, activity: Activity, function: Any, label: str):
        self.point, self.activity, self.function, self.label = point, activity, function, label
        self.emitted: Emitted = point.emitted
        self.named = self.emitted.arguments(nest_arguments(point.flat))
        self.rng = np.random.default_rng(7)
        signature = inspect.signature(function)
        given = set(self.emitted.parameters)
        self.extra = [
            n for n, p in signature.parameters.items() if n not in given and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        self.active = self._active()
        self.directions = {n: point.random(self.rng, np.shape(point.flat[n]), n) for n in self.active}
        kept, point.directions = point.directions, self.directions
        try:
            self.outcome = point.oracle({})
        finally:
            point.directions = kept
        shapes = jax.eval_shape(_whole(point), {n: jnp.asarray(point.flat[n]) for n in self.active})
        leaves, _ = point.matched(point.function, self.outcome, shapes)
        self.leaves = [leaf for leaf in leaves if _inexact(leaf.value)]
        returned = [x.dtype for x in jax.tree_util.tree_leaves(shapes) if jnp.issubdtype(x.dtype, jnp.inexact)]
        self.dtypes = {leaf.name: dtype for leaf, dtype in zip(self.leaves, returned, strict=False)}
        exact = point.wide and all(np.asarray(leaf.value).dtype.itemsize >= 8 for leaf in self.leaves)
        self.tolerance = TOLERANCE if exact else 1e-3

    def _active(self) -> list[str]:
        """The float arguments by path that the function differentiates: those whose gradient it returns."""
        wanted = self.activity.wrt
        if wanted:
            return [n for n in self.point.flat if _inexact(self.point.flat[n]) and _among(n, wanted)]
        said = inspect.getdoc(self.function) or ""
        said = said.replace("along tangents of", "with respect to").rstrip(".")
        listed = said.partition("with respect to ")[2].partition(", given")[0]
        names = tuple(x.strip() for x in listed.replace(" and ", ", ").split(","))
        return [n for n in self.point.flat if _inexact(self.point.flat[n]) and _among(n, names)]

    def _call(self, extra: Mapping[str, Any]) -> Any:
        return self.function(**self.named, **extra, **self.emitted.keywords)

    def rows(self, way: str) -> list[Row]:
        tangents = [leaf.tangents for leaf in self.leaves]
        if not all(t is None or np.isfinite(t).all() for t in tangents):
            message = "the scalar program's own derivative is not finite at this point"
            return [Row(way, self.label, "skipped", message=message)]
        rows = {"grad": self._grad, "vjp": self._vjp, "jvp": self._jvp}[way]()
        if not self.outcome.ties:
            return rows
        tie = "min or max at a tie: no one derivative"
        return [r if r.status != "failed" else Row(r.check, r.what, "skipped", r.error, r.tolerance, tie) for r in rows]

    # --- grad --------------------------------------------------------------------------------------

    def _leaf(self, name: str) -> Any:
        for leaf in self.leaves:
            if leaf.name == name:
                return leaf
        vjp = getattr(self.emitted.module, f"{self.emitted.call.__name__}_vjp", None)
        named = [n.removesuffix("_bar") for n in inspect.signature(vjp).parameters if n.endswith("_bar")] if vjp else []
        if name in named and len(named) == len(self.leaves):
            return self.leaves[named.index(name)]  # a value by the name of the source's variable
        unnamed = [leaf for leaf in self.leaves if leaf.name.startswith("result ")]
        if name == "result" or len(unnamed) == 1:
            return unnamed[0]
        return unnamed[int(name.rpartition("_")[2])]

    def _grad(self) -> list[Row]:
        weights: dict[str, Any] = {}
        for term in self.activity.terms:
            if term.weights:
                shape = np.shape(self._leaf(term.output).value)
                given = self.point.flat.get(term.weights)
                weights[term.weights] = self.rng.uniform(-1, 1, shape) if given is None else np.asarray(given)
        result = self._call({n: jnp.asarray(weights[n.rstrip("_")]) for n in self.extra})
        rows = []
        quiet = {t.output for t in self.activity.terms} <= set(self.activity.noneed)
        gradients = result if quiet else result[1]
        if not quiet:
            values = [(t, np.asarray(self._leaf(t.output).value)) for t in self.activity.terms]
            expected = sum(self._value(t, value, weights) for t, value in values)
            size = sum(self._value(t, value, weights, True) for t, value in values)
            rows.append(compare("grad", f"{self.label}: value", result[0], expected, self.tolerance, size))
        terms = self.activity.terms
        slopes = [sum(self._slope(t, weights, d) for t in terms) for d in range(DIRECTIONS)]
        sizes = [sum(self._slope(t, weights, d, True) for t in terms) for d in range(DIRECTIONS)]
        return rows + self._along("grad", gradients, slopes, sizes)

    def _value(self, term: Term, value: np.ndarray, weights: Mapping[str, Any], size: bool = False) -> float:
        """A term of the loss; with ``size`` the sum of its parts' sizes, which rounding is measured by."""
        factor = float(term.factor) if term.factor else 1.0
        parts = factor * value * (np.asarray(weights[term.weights]) if term.how == "dot" else 1.0)
        parts = np.abs(parts) if size else parts
        return float(parts.mean() if term.how == "mean" else parts.sum())

    def _slope(self, term: Term, weights: Mapping[str, Any], d: int, size: bool = False) -> float:
        leaf = self._leaf(term.output)
        tangent = np.zeros(np.shape(leaf.value)) if leaf.tangents is None else leaf.tangents[d]
        slope = self._value(term, tangent, weights, size)
        if term.weights in self.directions:  # the weights are active arguments themselves
            moved = {term.weights: self.directions[term.weights][d]}
            slope += self._value(term, np.asarray(leaf.value), moved, size)
        return slope

    def _along(self, way: str, gradients: Any, expected: list[float], sizes: list[float]) -> list[Row]:
        leaves = [v for v in jax.tree_util.tree_leaves(gradients) if v.dtype != jax.dtypes.float0]
        wild = [v for v in leaves if not np.isfinite(np.asarray(v)).all()]
        if wild:
            return [Row(way, self.label, "failed", float("inf"), message="not finite")]
        if len(leaves) != len(self.active):
            message = f"{len(leaves)} gradients for {', '.join(self.active)}"
            return [Row(way, self.label, "failed", message=message)]
        rows = []
        for d, slope in enumerate(expected):
            order = self._ordered()
            terms = [np.asarray(g) * self.directions[n][d] for g, n in zip(leaves, order, strict=True)]
            got = float(sum(t.sum().real for t in terms))
            scale = sizes[d] + float(sum(np.abs(t).sum() for t in terms))
            rows.append(compare(way, f"{self.label}: direction {d + 1}", got, slope, self.tolerance, scale))
        return rows

    def _ordered(self) -> list[str]:
        """The active paths in the order of the gradients: the sentence's, a struct's members in theirs."""
        if not self.activity.wrt:
            return self.active
        return [n for w in self.activity.wrt for n in self.active if _among(n, (w,))]

    # --- vjp and jvp ---------------------------------------------------------------------------------

    def _vjp(self) -> list[Row]:
        weights = {leaf.name: self.rng.uniform(-1, 1, np.shape(leaf.value)) for leaf in self.leaves}
        bars: dict[str, Any] = {}
        names = list(dict.fromkeys(leaf.name.partition(".")[0] for leaf in self.leaves))
        names = [n for n in names if n not in self.activity.const]
        for name, extra in zip(names, self.extra, strict=True):
            own = [leaf for leaf in self.leaves if leaf.name.partition(".")[0] == name]
            if name not in {leaf.name for leaf in own}:
                whole = jax.eval_shape(lambda: self.emitted(self.named))
                struct = next(s for s in _structs(whole) if hasattr(s, own[0].name.partition(".")[2]))
                members = {leaf.name.partition(".")[2]: jnp.asarray(weights[leaf.name]) for leaf in own}
                bars[extra] = struct._replace(**{f: members.get(f) for f in struct._fields})
            else:
                (leaf,) = own
                bars[extra] = jnp.asarray(weights[leaf.name], self.dtypes[leaf.name])
        kept = [leaf for leaf in self.leaves if leaf.name.partition(".")[0] not in self.activity.const]
        parts = [
            [weights[leaf.name] * leaf.tangents[d] for leaf in kept if leaf.tangents is not None]
            for d in range(DIRECTIONS)
        ]
        slopes = [float(sum(p.sum().real for p in along)) for along in parts]
        sizes = [float(sum(np.abs(p).sum() for p in along)) for along in parts]
        return self._along("vjp", self._call(bars), slopes, sizes)

    def _jvp(self) -> list[Row]:
        rows = []
        order = self._ordered()
        for d in range(DIRECTIONS):
            dots = {e: jnp.asarray(self.directions[n][d]) for e, n in zip(self.extra, order, strict=True)}
            result = self._call(dots)
            tangents = jax.tree_util.tree_leaves(result)[-len(self.leaves) :]
            for leaf, got in zip(self.leaves, tangents, strict=True):
                wanted = np.zeros(np.shape(leaf.value)) if leaf.tangents is None else leaf.tangents[d]
                rows.append(compare("jvp", f"{self.label}: {leaf.name}", got, wanted, self.tolerance, 1e-6))
        return rows


def _among(path: str, names: tuple[str, ...]) -> bool:
    return any(path == n or path.startswith(f"{n}.") for n in names)


def _structs(result: Any) -> list[Any]:
    return [x for x in (result if type(result) is tuple else (result,)) if hasattr(x, "_fields")]
