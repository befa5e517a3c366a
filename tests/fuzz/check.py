"""One generated program through the pipeline and against the reference interpreter."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from kraise import pipeline
from kraise.verify import interpreter
from kraise.verify.cases import Case
from kraise.verify.compare import check_original, check_values, matched
from kraise.verify.errors import InterpreterError
from kraise.verify.gradients import check_derivatives, widen
from kraise.verify.interpreter import Outcome
from kraise.verify.load import Emitted, load_module, x64
from kraise.verify.measure import tolerance_of
from kraise.verify.original import Original
from kraise.verify.report import Row, in_words
from tests.fuzz.generate import Kernel, Program
from tests.fuzz.together import Call, Check, together

LARGE = 1e6
ULPS, DRAWS, SAFETY = 4, 4, 8  # how far arguments are moved, how often, and how much of that excuses a difference


@dataclass(frozen=True)
class Finding:
    """One verdict on one kernel: ``kind`` is ok, refused, discarded (the program means nothing), or a bug:
    wrong, gradient, nan, raises, empty (raises on an array without elements), race (accepted, and the detector sees
    one), internal, bytes."""

    kernel: str
    kind: str
    message: str = ""
    variant: int = 0

    @property
    def is_bug(self) -> bool:
        return self.kind not in ("ok", "refused", "discarded")


def launched(case: Case) -> dict[str, Any]:
    """The keywords of the case's launch."""
    launch: dict[str, Any] = {} if case.grid is None else {"grid": case.grid, "block": case.block}
    return launch if case.shared is None else launch | {"shared": case.shared}


def reference(done: pipeline.Translation, kernel: Kernel, case: Case, wide: bool = False) -> tuple[Outcome | None, str]:
    """The interpreter's outcome (``wide``: floats in 64 bits, whatever the source declares), or why this program means
    nothing on these arguments."""
    assert done.source is not None
    launch: dict[str, Any] = {"widen": wide} | launched(case)
    try:
        outcome = interpreter.run(done.source, kernel.name, case.arguments(), **launch)
        if outcome.race_count:
            return None, "race"
        for order in (-1, 1) if kernel.threads else ():
            other = interpreter.run(
                done.source, kernel.name, case.arguments(), **launch, order=order, detect_races=False
            )
            for name in outcome.written:
                a, b = outcome.arrays[name], other.arrays[name]
                if not np.allclose(a.astype(float), b.astype(float), rtol=1e-3, atol=1e-4, equal_nan=True):
                    return None, "order of threads"
    except InterpreterError as error:
        return None, type(error).__name__
    for value in [*(outcome.arrays[n] for n in outcome.written), *outcome.returned]:
        data = np.asarray(value)
        if (
            data.size
            and data.dtype.kind in "fi"
            and data.itemsize > 2
            and not (np.abs(data.astype(float)) < LARGE).all()
        ):
            return None, "large or not finite"
    return outcome, ""


def check(
    program: Program,
    *,
    gradients: bool,
    variants: Sequence[int] = (0, 1),
    twice: bool = True,
    original: bool = False,
    seeds: Sequence[int] = (),
) -> list[Finding]:
    """What becomes of each kernel of the program on each of the ``variants`` of its arguments; the first bug of a
    kernel ends its check. ``original``: against the compiled source, too. ``seeds``: of arguments, one after the other,
    in place of the program's own."""
    chosen: dict[str, Any] = {"gradients": gradients, "variants": variants, "original": original, "seeds": seeds}
    return together(checks(program, twice=twice, **chosen), least=2)


def checks(
    program: Program,
    *,
    gradients: bool,
    variants: Sequence[int] = (0, 1),
    twice: bool = True,
    original: bool = False,
    seeds: Sequence[int] = (),
) -> list[Check[Finding]]:
    """The program translated, and what :func:`check` does with each kernel, waiting for calls of emitted functions."""
    done = pipeline.translate(program.source, program.file)
    if twice and done.text != pipeline.translate(program.source, program.file).text:
        return [_no_twin()]
    source = pipeline._original(program.source, program.file, pipeline.DEFAULTS) if original else None
    drawn = ((seed, kernel) for seed in seeds or (program.seed,) for kernel in program.kernels)
    return [judged(done, kernel, seed, gradients, variants, source) for seed, kernel in drawn]


def _no_twin() -> Check[Finding]:
    return Finding("", "bytes", "translating twice gives other text")
    yield


def judged(
    done: pipeline.Translation,
    kernel: Kernel,
    seed: int,
    gradients: bool = False,
    variants: Sequence[int] = (0,),
    original: Original | None = None,
) -> Check[Finding]:
    """What became of one kernel of a translation."""
    mine = [d for d in done.diagnostics if d.kernel in (kernel.name, "") and d.severity == "error"]
    if internal := [d for d in mine if d.code == "KR900"]:
        return Finding(kernel.name, "internal", internal[0].reason)
    if done.source is None or kernel.name not in [f.name for f in (*done.source.functions, *done.source.hosts)]:
        return Finding(kernel.name, "refused", "; ".join(f"{d.code} {d.reason}" for d in mine) or "not read")
    verdict = Finding(kernel.name, "discarded", "no variant means anything")
    for variant in variants:
        case = kernel.case(seed, variant, smooth=gradients)
        outcome, why = reference(done, kernel, case)
        if why == "race" and kernel.name in done.raised:
            if (yield from _harmless(done, kernel, case)):
                verdict = replace(verdict, message=why) if verdict.kind == "discarded" else verdict
                continue
            return Finding(kernel.name, "race", "the race detector sees a race in an accepted kernel", variant)
        if outcome is None:
            verdict = replace(verdict, message=why) if verdict.kind == "discarded" else verdict
            continue
        if kernel.name not in done.raised:
            return Finding(kernel.name, "refused", "; ".join(f"{d.code} {d.reason}" for d in mine[:1]))
        first = variant == variants[0]
        found = yield from compared(done, kernel, case, outcome, gradients and first, original if first else None)
        if found is None:
            verdict = Finding(kernel.name, "ok")
        elif found.is_bug:
            return replace(found, variant=variant)
        elif verdict.kind == "discarded":
            verdict = found
    return verdict


def _harmless(done: pipeline.Translation, kernel: Kernel, case: Case) -> Check[bool]:
    """Does the emitted function say of this launch that it is not taken (a block of another size than the one without a
    race), or does every order of the threads give what it gives (they store what is there already)?"""
    assert done.source is not None and done.text is not None
    arguments = case.arguments()
    launch = launched(case)
    with x64(any(v.dtype == np.float64 for v in _arrays(arguments))):
        emitted = Emitted(load_module(done.text), done.source.function(kernel.name), _keywords(launch))
        call = Call(emitted, emitted.arguments(arguments), bool(jax.config.read("jax_enable_x64")))
    try:
        result = yield call
    except ValueError as error:
        return f"{kernel.name}: " in str(error)
    for order in (None, -1, 1, 2):
        outcome = interpreter.run(done.source, kernel.name, case.arguments(), **launch, order=order, detect_races=False)
        with x64(call.wide):
            rows = check_values(done.source.function(kernel.name), outcome, result, case)
        if any(r.status == "failed" for r in rows):
            return False
    return True


def compared(
    done: pipeline.Translation,
    kernel: Kernel,
    case: Case,
    outcome: Outcome,
    gradients: bool,
    original: Original | None = None,
    widened: bool = False,
) -> Check[Finding | None]:
    """The bug that these arguments show, if any. ``widened``: they were floats in 32 bits, and the outcome is exact."""
    assert done.source is not None and done.text is not None
    function = done.source.function(kernel.name)
    arguments = case.arguments()
    wide = any(v.dtype == np.float64 for v in _arrays(arguments))
    launch = launched(case)
    try:
        with x64(wide):
            emitted = Emitted(load_module(done.text), function, _keywords(launch))
            call = Call(emitted, emitted.arguments(arguments), bool(jax.config.read("jax_enable_x64")))
        result = yield call
        with x64(call.wide):
            rows = check_values(function, outcome, result, case)
            if original is not None:
                where = {"grid": case.grid or (1,), "block": case.block or (1,), "shared": None}
                rows += check_original(original, function, case.arguments(), where, outcome, result, case)
    except Exception as error:  # whatever the emitted code does
        empty = any(not v.size for v in _arrays(arguments))
        return Finding(kernel.name, "empty" if empty else "raises", in_words(error))
    if failed := [r for r in rows if r.status == "failed"]:
        if (
            not wide and not widened and all(r.error is not None for r in failed)
        ):  # rounding, or a branch that it turned?
            again = replace(case, args={n: widen(v) for n, v in arguments.items()})
            exact, _ = reference(done, kernel, again, wide=True)
            if exact is None:
                return None
            found = yield from compared(done, kernel, again, exact, gradients, widened=True)
            if found is not None and found.kind == "wrong" and _rounding(done, kernel, case, outcome, result, False):
                return Finding(kernel.name, "discarded", "rounding in 32 bits decides the result")  # of its numbers
            return found
        if all(r.check == "values" for r in failed) and _rounding(done, kernel, case, outcome, result, widened):
            return Finding(kernel.name, "discarded", "rounding in 64 bits decides the result")
        return Finding(kernel.name, "wrong", _said(failed))
    if gradients:
        rows = _derivatives(done, function, emitted, arguments, launch, case)
        if failed := [r for r in rows if r.status == "failed"]:
            kind = "nan" if any("not finite" in r.message for r in failed) else "gradient"
            kind = "raises" if any(_raised(r) for r in failed) else kind
            kind = "wrong" if any(r.check.startswith("values") for r in failed) else kind
            return Finding(kernel.name, kind, _said(failed))
    return None


def _rounding(
    done: pipeline.Translation, kernel: Kernel, case: Case, outcome: Outcome, result: Any, widened: bool
) -> bool:
    """Is each difference one that the reference shows against itself, its arguments moved by a few units in their last
    place? Then 64 bits do not tell the value of this element (``x**3 % 1.0`` of large x, in a loop)."""
    assert done.source is not None
    leaves, got = matched(done.source.function(kernel.name), outcome, result)
    draw = np.random.default_rng(case.seed)
    moved = [np.zeros(np.shape(leaf.value)) for leaf in leaves]
    for _ in range(DRAWS):
        near = {n: _moved(v, draw) for n, v in case.arguments().items()}
        other, _ = reference(done, kernel, replace(case, args=near), wide=widened)
        if other is None or other.written != outcome.written:
            return False
        others, _ = matched(done.source.function(kernel.name), other, result)
        moved = [np.maximum(m, _apart(a.value, b.value)) for m, a, b in zip(moved, leaves, others, strict=True)]
    for leaf, value, by in zip(leaves, got, moved, strict=True):
        if (
            np.shape(value) != np.shape(leaf.value)
            or leaf.strict
            and np.asarray(value).dtype != np.asarray(leaf.value).dtype
        ):
            return False
        scale = np.max(np.abs(leaf.value), initial=0.0) if np.asarray(leaf.value).dtype.kind == "f" else 0.0
        if not (_apart(value, leaf.value) <= SAFETY * by + tolerance_of(np.asarray(value).dtype) * scale).all():
            return False
    return True


def _moved(value: Any, draw: np.random.Generator) -> Any:
    """Floats moved by a few units in their last place."""
    if isinstance(value, dict):
        return {name: _moved(member, draw) for name, member in value.items()}
    if isinstance(value, np.ndarray) and value.dtype in (np.float32, np.float64):
        moved = value * (1 + float(np.finfo(value.dtype).eps) * draw.integers(-ULPS, ULPS + 1, value.shape))
        return moved.astype(value.dtype)
    return value


def _arrays(arguments: Any) -> list[np.ndarray]:
    """The arrays among the arguments, those in structs included."""
    members = [v for a in arguments.values() for v in (a.values() if isinstance(a, dict) else (a,))]
    return [v for v in members if isinstance(v, np.ndarray)]


def _apart(a: Any, b: Any) -> np.ndarray:
    return np.abs(np.asarray(a).astype(float) - np.asarray(b).astype(float))


def _derivatives(
    done: pipeline.Translation, function: Any, emitted: Emitted, arguments: Any, launch: Any, case: Case
) -> list[Row]:
    assert done.source is not None and done.text is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_derivatives(
            done.source, function, done.text, emitted, arguments, launch, case, matched, thorough=False
        )


def _raised(row: Row) -> bool:
    return re.match(r"\w*(Error|Exception)\b", row.message) is not None


def _keywords(launch: dict[str, Any]) -> dict[str, Any]:
    return {n: v[0] if isinstance(v, tuple) and len(v) == 1 else v for n, v in launch.items()}


def _said(rows: list[Row]) -> str:
    return "; ".join(f"{r.check} {r.what}: {r.message}" for r in rows[:3])
