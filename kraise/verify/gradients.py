"""Derivatives: ``jax.jvp``, ``jax.vjp`` and forward over reverse of emitted code against the interpreter's duals."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise.ir import kernel as k
from kraise.ir.activity import Activity
from kraise.verify import interpreter
from kraise.verify.cases import Case
from kraise.verify.errors import InterpreterError
from kraise.verify.form import function_text
from kraise.verify.hurting import Floats, check_hurting
from kraise.verify.interpreter import Outcome, flatten_arguments, nest_arguments
from kraise.verify.load import Emitted, load_module, x64
from kraise.verify.measure import compare, entries
from kraise.verify.report import Row, in_words

DIRECTIONS = 2  # the second derivative takes the first and the last
_VANISHING = 1e-6  # what is smaller, of directions and weights about one, may be rounding
_ROUNDS = {"jnp.bfloat16": 2e-2, "jnp.float16": 2e-3}
Matched = Callable[[k.Function, Outcome, Any], tuple[list[Any], list[Any]]]
_Both = Callable[[Floats, list[Any]], tuple[list[Any], Floats]]


def widen(value: Any) -> Any:
    """Floats at 64 bits, complex numbers at 128; the rest as it is."""
    if isinstance(value, Mapping):
        return {n: widen(v) for n, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        kind = value.dtype.kind
        target = np.complex128 if kind == "c" else np.float64 if kind in "fV" else value.dtype
        return value.astype(target)
    return value


def _inexact(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fcV"


class Derivatives:
    """One kernel at one point: the oracle's directional derivatives, the emitted function of its floats."""

    def __init__(
        self,
        source: k.Module,
        function: k.Function,
        emitted: Emitted,
        arguments: Mapping[str, Any],
        launch: Mapping[str, Any],
        case: Case,
        matched: Matched,
        wide: bool,
    ):
        self.source, self.function, self.emitted, self.launch = source, function, emitted, launch
        self.matched, self.wide = matched, wide
        self.arguments = {n: widen(v) if wide else v for n, v in arguments.items()}
        self.flat = flatten_arguments(function, self.arguments)
        chosen = [n for n, v in self.flat.items() if _inexact(v)]
        if case.wrt is not None:
            chosen = [n for n in chosen if n in case.wrt or n.split(".")[0] in case.wrt]
        self.wrt = chosen
        rng = np.random.default_rng(case.seed + 1)
        self.directions = {n: self.random(rng, np.shape(self.flat[n]), n) for n in self.wrt}
        self.rng = rng
        self.reference = self.oracle({})

    def keep(self, names: list[str]) -> None:
        """Differentiate with respect to these only."""
        self.wrt = names
        self.directions = {n: self.directions[n] for n in names}
        self.reference = self.oracle({})

    def random(self, rng: np.random.Generator, shape: tuple[int, ...], name: str) -> np.ndarray:
        """DIRECTIONS random tangents of an argument."""
        t = rng.uniform(-1, 1, (DIRECTIONS, *shape))
        return t + 1j * rng.uniform(-1, 1, t.shape) if np.iscomplexobj(self.flat[name]) else t

    def oracle(self, moved: Mapping[str, Any], directions: Mapping[str, Any] | None = None) -> Outcome:
        """The interpreter with duals, some arguments moved; along other directions if they are given."""
        given = {**self.flat, **moved}
        return interpreter.run(
            self.source,
            self.function.name,
            given,
            duals=self.directions if directions is None else directions,
            widen=self.wide,
            detect_races=False,
            **self.launch,
        )

    def primal(self) -> tuple[Callable[[dict[str, Any]], list[Any]], dict[str, Any]]:
        """The emitted function of its float arguments alone (by path), and their values: returns the float leaves."""
        named = self.emitted.arguments(nest_arguments(self.flat))
        floats = {n: _on_device(self.flat[n]) for n in self.wrt if self.emitted.takes(n)}

        def call(values: dict[str, Any]) -> list[Any]:
            result = self.emitted(self.emitted.replaced(named, values))
            leaves = jax.tree_util.tree_leaves(result)
            return [v for v in leaves if jnp.issubdtype(jnp.result_type(v), jnp.inexact)]

        return call, floats


def _on_device(value: Any) -> Any:
    """An array of JAX's, made without a computation; a number of Python's keeps its weak type."""
    return jnp.asarray(value) if isinstance(value, float | complex) else jax.device_put(np.asarray(value))


def check_derivatives(
    source: k.Module,
    function: k.Function,
    text: str,
    emitted: Emitted,
    arguments: Mapping[str, Any],
    launch: Mapping[str, Any],
    case: Case,
    matched: Matched,
    thorough: bool,
    activities: tuple[Activity, ...] = (),
) -> list[Row]:
    """Rows for jvp, vjp and second order; nothing where no float goes in or none comes out."""
    failure = ""
    for wide in (True, False):  # bit tricks on float32 have no meaning in 64 bits: then as given
        try:
            point = Derivatives(source, function, emitted, arguments, launch, case, matched, wide)
            break
        except InterpreterError as error:
            failure = failure or str(error)
    else:
        return [Row("vjp", function.name, "skipped", message=failure)]
    if not point.wrt:
        return []
    with x64(True):
        named: list[Row] = []
        try:
            point.emitted = Emitted(load_module(text), function, emitted.keywords)
            scalars = [n for n in point.wrt if not np.ndim(point.flat[n])]
            if activities:
                from kraise.verify.named import check_named

                named = check_named(point, activities)
                if any(row.status == "failed" for row in named):
                    return named
            try:
                return named + _rows(point, text, case, thorough)
            except Exception as error:
                if not scalars or len(scalars) == len(point.wrt) or case.wrt is not None:
                    raise
                # a float scalar may be static (it decides a shape): then only the arrays are differentiated
                point.keep([n for n in point.wrt if n not in scalars])
                note = f"not differentiated ({in_words(error)})"
                notes = [Row("vjp", name, "note", message=note) for name in scalars]
                return named + _rows(point, text, case, thorough) + notes
        except Exception as error:  # whatever the emitted code does
            return [Row("vjp", function.name, "failed", message=in_words(error))]


def _rows(point: Derivatives, text: str, case: Case, thorough: bool) -> list[Row]:
    numbers, at = point.primal()

    def call(values: Any) -> Any:  # a function that is not traced may return numbers of Python
        return jax.tree.map(jnp.asarray, numbers(values))

    shapes = jax.eval_shape(_whole(point), at)
    leaves, _ = point.matched(point.function, point.reference, shapes)
    leaves = [leaf for leaf in leaves if _inexact(leaf.value)]
    if not leaves or not at:
        return []
    rows: list[Row] = []
    reverse_only = "equinox" in text  # its checkpointed loops have no forward mode
    tangents = [leaf.tangents for leaf in leaves]
    outputs = [leaf for leaf in jax.tree_util.tree_leaves(shapes) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    weights = [_weight(point.rng, output) for output in outputs]
    forward = Pushed(call, at, weights, point.directions)
    both = _reverse(call)
    if thorough:  # compiled once for all points
        both = (None if reverse_only else forward.beside(both)) or jax.jit(both)
    values, gradients = both(at, weights)
    tolerance = case.gradient_tolerance
    if tolerance is None:
        exact = point.wide and all(v.dtype in (jnp.float64, jnp.complex128) for v in values)
        exact = exact and "jnp.float32" not in function_text(text, point.function.name)  # (float)n rounds
        tolerance = 1e-7 if exact else 1e-3
    own = function_text(text, point.function.name)
    rounded = max((eps for name, eps in _ROUNDS.items() if name in own), default=0.0)  # what the text rounds to
    tolerance = max(tolerance, rounded)
    for leaf, value in zip(leaves, values, strict=True):
        rows.append(compare("values (64 bits)", leaf.name, value, leaf.value, max(tolerance * 1e-2, 1e-9, rounded)))
    if not all(t is None or np.isfinite(t).all() for t in tangents):
        message = "the scalar program's own derivative is not finite at this point"
        return [*rows, Row("vjp", point.function.name, "skipped", message=message)]
    rows += [bad for name, g in gradients.items() if (bad := _not_finite(name, g)) is not None]
    if not reverse_only:
        rows += _forward(point, forward, leaves, tolerance)
    for d in range(DIRECTIONS):
        pushed = [t[d] if t is not None else np.zeros(np.shape(w)) for t, w in zip(tangents, weights, strict=True)]
        expected = sum(float(np.sum(w * t).real) for w, t in zip(weights, pushed, strict=True))
        terms = [np.asarray(g) * point.directions[n][d] for n, g in gradients.items()]
        got = sum(float(np.sum(t).real) for t in terms)
        parts = [w * t for w, t in zip(weights, pushed, strict=True)]
        scale = sum(float(np.sum(np.abs(p))) for p in parts) + sum(float(np.sum(np.abs(t))) for t in terms)
        # a derivative that vanishes is compared with the size of the direction's
        rows.append(compare("vjp", f"direction {d + 1}", got, expected, tolerance, max(scale, _VANISHING)))
    if thorough:
        rows += check_hurting(point, call, both, at, shapes, tolerance, _assumes(text, point))
    if thorough and not reverse_only:
        rows.append(_second_order(point, forward, shapes, leaves))
    if point.reference.ties:
        rows = [_excused(row) for row in rows]
    return rows


def _reverse(call: Callable[[Floats], list[Any]]) -> _Both:
    """The values of ``call`` and the gradient of their weighted sum."""

    def both(values: Floats, weights: list[Any]) -> tuple[list[Any], Floats]:
        out, pull = jax.vjp(call, values)
        return out, pull(weights)[0]

    return both


def _assumes(text: str, point: Derivatives) -> bool:
    """Does the docstring, or that of a function that it calls, end in a condition on the data (after the equations)?"""
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    waiting, seen = [point.function.name], set[str]()
    while waiting:
        found = functions.get(name := waiting.pop())
        if found is None or name in seen:
            continue
        seen.add(name)
        paragraphs = (ast.get_docstring(found) or "").split("\n\n")
        if len(paragraphs) > 1 and "=" not in re.sub("[<>!=]=", "", paragraphs[-1]):
            return True
        waiting += [n.id for n in ast.walk(found) if isinstance(n, ast.Name)]
    return False


def _whole(point: Derivatives) -> Callable[[dict[str, Any]], Any]:
    named = point.emitted.arguments(nest_arguments(point.flat))
    return lambda values: point.emitted(point.emitted.replaced(named, values))


def _weight(rng: np.random.Generator, value: Any) -> np.ndarray:
    w = rng.uniform(-1, 1, value.shape)
    w = w + 1j * rng.uniform(-1, 1, value.shape) if jnp.issubdtype(value.dtype, jnp.complexfloating) else w
    return w.astype(value.dtype)


def _not_finite(name: str, gradient: Any) -> Row | None:
    bad = ~np.isfinite(np.asarray(gradient))
    if not bad.any():
        return None
    return Row("vjp", name, "failed", float("inf"), message=f"the gradient is not finite at {entries(name, bad)}")


class Pushed:
    """Tangents pushed forward: of the emitted function along each direction, and of the gradient of the weighted sum
    (forward over reverse) along the first."""

    def __init__(
        self, call: Callable[..., Any], at: Floats, weights: list[np.ndarray], directions: Mapping[str, np.ndarray]
    ) -> None:
        self.call, self.at, self.weights = call, at, weights
        self.along = [
            {n: jax.device_put(np.asarray(directions[n][d], v.dtype)) for n, v in at.items()} for d in range(DIRECTIONS)
        ]
        self.known: list[tuple[list[Any], Floats]] = []  # along each direction, where all were compiled as one

    def beside(self, reverse: _Both) -> _Both | None:
        """``reverse`` compiled as one with both, which takes less time; None where something fails: asked one by
        one, they say what."""

        def every(values: Floats, weights: list[Any], tangent: Floats) -> Any:
            pushed = self._tangents(values, tangent), self._curvature(values, weights, tangent)
            return reverse(values, weights), pushed

        compiled = jax.jit(every)
        with contextlib.suppress(Exception):  # whatever the emitted code does
            self.known = [compiled(self.at, self.weights, tangent)[1] for tangent in self.along]
            return lambda values, weights: compiled(values, weights, self.along[0])[0]
        return None

    def tangents(self) -> list[list[Any]]:
        """The tangents of what is returned, by direction."""
        if self.known:
            return [tangents for tangents, _ in self.known]
        compiled = jax.jit(self._tangents)
        return [compiled(self.at, tangent) for tangent in self.along]

    def curvature(self) -> Floats:
        """The gradient's tangents along the first direction."""
        return self.known[0][1] if self.known else jax.jit(self._curvature)(self.at, self.weights, self.along[0])

    def _tangents(self, values: Floats, tangent: Floats) -> list[Any]:
        return jax.jvp(self.call, (values,), (tangent,))[1]

    def _curvature(self, values: Floats, weights: list[Any], tangent: Floats) -> Floats:
        def total(moved: Floats) -> Any:
            return sum(jnp.sum(w * v).real for w, v in zip(weights, self.call(moved), strict=True))

        return jax.jvp(jax.grad(total), (values,), (tangent,))[1]


def _forward(point: Derivatives, pushed: Pushed, leaves: list[Any], tolerance: float) -> list[Row]:
    rows: dict[str, Row] = {}
    for d, tangents in enumerate(pushed.tangents()):
        for leaf, got in zip(leaves, tangents, strict=True):
            expected = leaf.tangents[d] if leaf.tangents is not None else np.zeros(np.shape(leaf.value))
            finite = np.isfinite(np.asarray(leaf.value))  # the mean of nothing has no derivative
            got, expected = np.where(finite, np.asarray(got), 0), np.where(finite, expected, 0)
            row = compare("jvp", leaf.name, got, expected, tolerance, _VANISHING)
            if leaf.name not in rows or row.status == "failed":
                rows[leaf.name] = row
    return list(rows.values())


def _second_order(point: Derivatives, pushed: Pushed, shapes: Any, leaves: list[Any]) -> Row:
    """Forward over reverse of the weighted sum, against differences of the oracle's first derivatives."""
    at, weights = pushed.at, pushed.weights
    try:
        curved = pushed.curvature()
    except Exception as error:  # whatever the emitted code does
        return Row("second order", "forward over reverse", "failed", message=in_words(error))
    wild = [n for n, v in curved.items() if not np.isfinite(np.asarray(v)).all()]
    if wild:
        return Row("second order", ", ".join(wild), "failed", float("inf"), message="not finite")
    if any(np.iscomplexobj(v) for v in point.flat.values()):
        return Row("second order", "forward over reverse", "ok", message="finite")
    got = sum(float(np.sum(np.asarray(v) * point.directions[n][-1])) for n, v in curved.items())

    def slope_of(floats: list[Any]) -> float:
        return sum(
            float(np.sum(w * leaf.tangents[-1])) if leaf.tangents is not None else 0.0
            for w, leaf in zip(weights, floats, strict=True)
        )

    second = {n: tangents[1:] for n, tangents in point.directions.items()}

    def slope(step: float) -> float:
        outcome = point.oracle({n: point.flat[n] + step * point.directions[n][0] for n in at}, second)
        moved, _ = point.matched(point.function, outcome, shapes)
        return slope_of([leaf for leaf in moved if _inexact(leaf.value)])

    try:
        estimates = [(slope(h) - slope(-h)) / (2 * h) for h in (1e-4, 2e-5)]
    except InterpreterError as error:
        return Row("second order", "forward over reverse", "ok", message=f"finite (not compared: {error})")
    scale = max(abs(estimates[0]), abs(slope_of(leaves)), _VANISHING)
    if abs(estimates[0] - estimates[1]) > 1e-4 * scale:  # a branch flips nearby
        return Row("second order", "forward over reverse", "ok", message="finite (not smooth here, not compared)")
    return compare("second order", "forward over reverse", got, estimates[1], 1e-3, scale)


def _excused(row: Row) -> Row:
    if row.status != "failed" or row.check not in ("jvp", "vjp", "second order") or "not finite" in row.message:
        return row
    return Row(row.check, row.what, "skipped", row.error, row.tolerance, "min or max at a tie: no one derivative")
