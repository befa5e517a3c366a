"""``verify``: the emitted module against the reference interpreter: values, derivatives, form.

A failure of the emitted code, of whatever kind, is a row of the report and never a traceback.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from kraise.ir import kernel as k
from kraise.ir.activity import Activity
from kraise.ir.types import StructType
from kraise.verify import interpreter
from kraise.verify.cases import Case
from kraise.verify.errors import InterpreterError
from kraise.verify.facts import flat_params, slots
from kraise.verify.form import count_loops, function_text
from kraise.verify.gradients import check_derivatives
from kraise.verify.inputs import launch_for
from kraise.verify.interpreter import Outcome, flatten_arguments
from kraise.verify.load import Emitted, load_module, x64
from kraise.verify.measure import compare, tolerance_of
from kraise.verify.original import Original, Unavailable
from kraise.verify.report import Report, Row, in_words
from kraise.verify.rounding import lenient


@dataclass(frozen=True)
class Expected:
    """One returned leaf: its name, value, tangents (k, *shape) and whether its dtype is a parameter's."""

    name: str
    value: Any
    tangents: np.ndarray | None
    strict: bool


def expected_leaves(function: k.Function, outcome: Outcome, whole_structs: bool) -> list[Expected]:
    """What the emitted function returns, in order (contract, section 1)."""
    leaves: list[Expected] = []
    if outcome.returned:
        tangents = outcome.returned_tangents or (None,) * len(outcome.returned)
        for n, (value, t, name) in enumerate(zip(outcome.returned, tangents, outcome.returned_names, strict=True)):
            leaves.append(Expected(name or f"result {n}", value, t, bool(name)))
    done = set(outcome.returned_names)
    for param in function.params:
        paths = [s.path for s in slots(param) if s.ndim is not None]
        if not any(path in outcome.written for path in paths):
            paths = []
        for path in paths:
            whole = whole_structs and isinstance(param.type, StructType)
            if path not in done and (path in outcome.written or whole):
                leaves.append(Expected(path, outcome.arrays[path], outcome.tangents.get(path), True))
    for name, value in outcome.scalars.items():
        leaves.append(Expected(name, value, outcome.scalar_tangents.get(name), False))
    return leaves


def matched(function: k.Function, outcome: Outcome, result: Any) -> tuple[list[Expected], list[Any]]:
    """The expected leaves beside the returned ones. Raises ValueError where their numbers differ."""
    got = jax.tree_util.tree_leaves(result)
    for written in dict.fromkeys((outcome.written, outcome.may_write or outcome.written)):
        for whole in (False, True):
            leaves = expected_leaves(function, replace(outcome, written=written), whole)
            if len(leaves) == len(got):
                return leaves, got
    names = ", ".join(leaf.name for leaf in expected_leaves(function, outcome, False))
    raise ValueError(f"{len(got)} arrays are returned where ({names}) are written")


def broken(source: k.Module, text: str, kernel: str, case: Case, relied: tuple[str, ...]) -> str:
    """Which of the sentences ``relied`` the case's arguments break, as the ``--checked`` module ``text`` finds out;
    "" for none."""
    report = verify(source, text, kernel, case, gradients=False, thorough=False)
    said = [row.message for row in report.failures]
    return next((why for why in relied if any(f"{kernel}: {why}" in message for message in said)), "")


def verify(
    source: k.Module,
    text: str,
    kernel: str,
    case: Case,
    *,
    gradients: bool = True,
    thorough: bool = True,
    extra: Mapping[str, Any] | None = None,
    original: Original | None = None,
    activities: tuple[Activity, ...] = (),
) -> Report:
    """Compare the function ``kernel`` of the emitted ``text`` with the Kernel IR ``source`` on the case's arguments.

    ``thorough`` adds second order, outer ``jit`` and ``vmap``; ``extra`` are further keywords of the emitted function.
    ``original`` runs the kernel in its own language, too; ``activities`` are the derivatives that the text holds.
    """
    rows: list[Row] = []
    try:
        function = source.function(kernel)
        arguments = case.arguments()
        grid, block = launch_for(source, function, arguments, case)
        launch: dict[str, Any] = {"grid": grid, "block": block, "shared": case.shared}
        reference = interpreter.run(source, kernel, arguments, **launch)
        if function.kind == "kernel":
            rows += check_order(source, kernel, arguments, launch, reference)
    except (InterpreterError, KeyError) as error:
        message = str(error) if isinstance(error, InterpreterError) else f"no kernel {kernel} in {source.file}"
        return Report(kernel, (Row("reference", kernel, "failed", message=message),))
    for race in reference.races[:3]:
        rows.append(Row("reference", race.array, "failed", message=f"race: {race}"))
    keywords = {
        "grid": case.grid and _spelled(grid),
        "block": case.block and _spelled(block),
        "shared": case.shared,
        **(extra or {}),
    }
    with x64(_needs_x64(function, arguments)), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            module = load_module(text)
            emitted = Emitted(module, function, keywords)
            if emitted.required_geometry():
                emitted = Emitted(
                    module,
                    function,
                    {
                        **keywords,
                        "grid": _spelled(grid),
                        "block": _spelled(block),
                        "shared": interpreter.shared_extent(case.shared, block, function),
                    },
                )
            named = emitted.arguments(arguments)
            result = emitted(named)
            found = check_values(function, reference, result, case)
            if case.value_tolerance is None:
                found = lenient(found, source, function, arguments, launch, reference, result, matched)
            rows += found
            if original is not None:
                rows += check_original(original, function, arguments, launch, reference, result, case)
            if thorough:
                rows += check_transforms(emitted, named, result)
        except Exception as error:  # whatever the emitted code does
            rows.append(Row("values", kernel, "failed", message=in_words(error)))
            emitted = None
    rows += [Row("module", "warning", "note", message=text) for text in dict.fromkeys(_first_line(w) for w in said)]
    if gradients and emitted is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a row says it already
            rows += check_derivatives(
                source, function, text, emitted, arguments, launch, case, matched, thorough, activities
            )
    rows += check_form(text, kernel, case)
    shapes = ", ".join(_described(n, v) for n, v in flatten_arguments(function, arguments).items())
    where = f"grid {_spelled(grid)}, block {_spelled(block)}" if function.kind == "kernel" else ""
    return Report(kernel, tuple(rows), shapes, where)


def check_order(
    source: k.Module, kernel: str, arguments: Mapping[str, Any], launch: Mapping[str, Any], reference: Outcome
) -> list[Row]:
    """Another order of blocks and threads gives the same arrays; nothing to report where it does."""
    other = interpreter.run(source, kernel, arguments, **launch, order=-1, detect_races=False)
    rows = []
    for name in reference.written:
        tolerance = 50 * tolerance_of(reference.arrays[name].dtype)
        row = compare("reference", name, other.arrays[name], reference.arrays[name], tolerance)
        if row.status == "failed":
            rows.append(replace(row, message=f"the result depends on the order of threads: {row.message}"))
    return rows


def _needs_x64(function: k.Function, arguments: Mapping[str, Any]) -> bool:
    flat = flatten_arguments(function, arguments)
    wide = any(isinstance(v, np.ndarray | np.generic) and _is_wide(v.dtype) for v in flat.values())
    return wide or any(slot.element.bits == 64 for slot in flat_params(function))


def _is_wide(dtype: np.dtype) -> bool:
    return dtype.itemsize == 16 if dtype.kind == "c" else dtype.itemsize == 8


def check_values(function: k.Function, reference: Outcome, result: Any, case: Case) -> list[Row]:
    """Values, shapes and dtypes of what was returned."""
    leaves, got = matched(function, reference, result)
    rows = []
    for leaf, value in zip(leaves, got, strict=True):
        expected, actual = np.asarray(leaf.value), np.asarray(value)
        wanted = jax.dtypes.canonicalize_dtype(expected.dtype)
        if leaf.strict and actual.dtype != wanted:
            message = f"the dtype is {actual.dtype}, not {wanted}"
            rows.append(Row("values", leaf.name, "failed", message=message))
            continue
        kinds = {"b": "b", "i": "i", "u": "i"}
        if kinds.get(expected.dtype.kind) != kinds.get(actual.dtype.kind) and expected.dtype.kind in kinds:
            message = f"the dtype is {actual.dtype}, not {expected.dtype}"
            rows.append(Row("values", leaf.name, "failed", message=message))
            continue
        tolerance = tolerance_of(actual.dtype) if case.value_tolerance is None else case.value_tolerance
        if case.value_tolerance is None and tolerance:
            tolerance = max(tolerance, tolerance_of(expected.dtype))
        rows.append(compare("values", leaf.name, actual, expected, tolerance))
    return rows or [Row("values", function.name, "failed", message="the function returns nothing")]


def check_original(
    original: Original,
    function: k.Function,
    arguments: Mapping[str, Any],
    launch: Mapping[str, Any],
    reference: Outcome,
    result: Any,
    case: Case,
) -> list[Row]:
    """What was returned beside the arrays after the source itself ran; one row that says why where it cannot run."""
    try:
        shared = interpreter.shared_extent(launch["shared"], launch["block"], function)
        arrays = original.run(function, arguments, launch["grid"], launch["block"], shared)
    except Unavailable as error:
        return [Row("original", function.name, "skipped", message=str(error))]
    leaves, got = matched(function, reference, result)
    rows = []
    for leaf, value in zip(leaves, got, strict=True):
        if leaf.name not in arrays:
            rows.append(Row("original", leaf.name, "skipped", message="the original does not hand it out"))
            continue
        expected = arrays[leaf.name]
        tolerance = case.value_tolerance or max(tolerance_of(np.asarray(value).dtype), tolerance_of(expected.dtype))
        rows.append(compare("original", leaf.name, value, expected.reshape(np.shape(value)), tolerance))
    return rows


def check_transforms(emitted: Emitted, named: dict[str, Any], result: Any) -> list[Row]:
    """The same values under an outer ``jit``, and in each lane of a ``vmap`` over the arrays."""
    arrays = {n: v for n, v in named.items() if isinstance(v, jax.Array)}
    rest = {n: v for n, v in named.items() if n not in arrays}
    expected = jax.tree_util.tree_leaves(result)

    def call(given: dict[str, Any]) -> Any:
        return jax.tree_util.tree_leaves(emitted({**rest, **given}))

    rows: list[Row] = []
    if not arrays or not expected:
        return rows
    floats = {n: v for n, v in arrays.items() if jax.numpy.issubdtype(v.dtype, jax.numpy.inexact)}
    fixed = {n: v for n, v in arrays.items() if n not in floats}
    stacked = {n: np.stack([v, v]) for n, v in floats.items()}

    def lanes(given: dict[str, Any]) -> list[Any]:
        return jax.vmap(lambda lane: call({**fixed, **lane}))(given)

    transforms: list[tuple[str, Callable[[], list[Any]]]] = [("jit", lambda: jax.jit(call)(arrays))]
    if floats:
        transforms.append(("vmap", lambda: [np.asarray(v)[1] for v in lanes(stacked)]))
        with contextlib.suppress(Exception):  # compiled together: faster; one by one to say which of them fails
            plain, both = jax.jit(lambda given, pairs: (call(given), lanes(pairs)))(arrays, stacked)
            transforms = [("jit", lambda: plain), ("vmap", lambda: [np.asarray(v)[1] for v in both])]
    for name, transform in transforms:
        try:
            for got, wanted in zip(transform(), expected, strict=True):
                kinds = (np.asarray(wanted).dtype, np.asarray(got).dtype)  # a number of Python's is rounded under jit
                row = compare(name, "values", got, wanted, max(map(tolerance_of, kinds)))
                if row.status != "ok":
                    break
            rows.append(row)
        except Exception as error:  # whatever the emitted code does
            rows.append(Row(name, "values", "failed", message=in_words(error)))
    return rows


def check_form(text: str, kernel: str, case: Case) -> list[Row]:
    """The form that the case asks of the emitted function."""
    form = case.form
    if form.loops is None and not form.contains and not form.absent:
        return []
    try:
        body = function_text(text, kernel)
        written = function_text(text, kernel, as_written=True)
    except SyntaxError as error:
        return [Row("form", kernel, "failed", message=in_words(error))]
    rows = []
    if form.loops is not None:
        count = count_loops(body)
        good = count <= form.loops
        message = "" if good else f"{count} loops where at most {form.loops} are expected"
        rows.append(Row("form", f"loops <= {form.loops}", "ok" if good else "failed", message=message))
    for wanted in form.contains:
        good = wanted in body or wanted in written
        rows.append(Row("form", f"contains {wanted}", "ok" if good else "failed", message="" if good else "not there"))
    for unwanted in form.absent:
        good = unwanted not in body
        rows.append(Row("form", f"no {unwanted}", "ok" if good else "failed", message="" if good else "it is there"))
    return rows


def _first_line(warning: warnings.WarningMessage) -> str:
    return str(warning.message).strip().splitlines()[0]


def _described(name: str, value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{name}: {value.dtype}{list(value.shape)}"
    return f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"


def _spelled(extents: tuple[int, ...]) -> int | tuple[int, ...]:
    """A launch extent as a user writes it: an int for one axis."""
    kept = list(extents)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return kept[0] if len(kept) == 1 else tuple(kept)
