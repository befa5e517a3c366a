"""A hostile kernel on given arguments: raised and right, refused by a code, or wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from kraise import pipeline
from kraise.verify import interpreter
from kraise.verify.cases import Case
from kraise.verify.compare import check_values
from kraise.verify.errors import InterpreterError
from kraise.verify.load import Emitted, load_module, x64

DTYPES = {"f": np.float32, "d": np.float64, "i": np.int32, "u": np.uint32, "l": np.int64, "U": np.uint8, "h": np.int16}
Launch = tuple[tuple[int, ...], tuple[int, ...]]


def arguments(spec: str) -> dict[str, Any]:
    """``y=f[17] q=i[4]<0:9 n=17 m=u:3``: arrays by dtype and shape (integers in a range), numbers, sized numbers."""
    out: dict[str, Any] = {}
    for number, item in enumerate(spec.split()):
        name, _, text = item.partition("=")
        rng = np.random.default_rng(number)
        if array := re.fullmatch(r"([a-zA-Z])\[([\d,]+)\](?:<(-?\d+):(-?\d+))?", text):
            dtype, shape = DTYPES[array[1]], tuple(map(int, array[2].split(",")))
            low, high = (int(array[3]), int(array[4])) if array[3] else (0, 20)
            whole = np.dtype(dtype).kind in "iu"
            out[name] = (rng.integers(low, high, shape) if whole else rng.uniform(-2, 2, shape)).astype(dtype)
        elif sized := re.fullmatch(r"([a-zA-Z]):(-?[\d.]+)", text):
            out[name] = DTYPES[sized[1]](float(sized[2]))
        else:
            out[name] = float(text) if "." in text else int(text)
    return out


def judge(source: str, language: str, spec: str, launches: Iterable[Launch], kernel: str = "k") -> str:
    """ "right", "refused KR…" (its codes), or what is wrong. The launches must be such that the source means something
    on them, and cover what it guards."""
    done = pipeline.translate(source, {"cu": "k.cu", "py": "k.py"}[language])
    if kernel not in done.raised or done.source is None or done.text is None:
        return "refused " + " ".join(sorted({d.code for d in done.diagnostics if d.severity == "error"}))
    function = done.source.function(kernel)
    for grid, block in launches:
        case = Case(kernel, arguments(spec), grid, block)
        launch: dict[str, Any] = {} if function.kind == "plain" else {"grid": grid, "block": block}
        try:
            outcome = interpreter.run(done.source, kernel, case.arguments(), **launch)
        except InterpreterError as error:
            return f"the reference: {error}"
        if outcome.race_count:
            return f"accepted, and a race: {outcome.races[0]}"
        wide = any(getattr(v, "dtype", np.dtype("f4")).itemsize == 8 for v in case.arguments().values())
        keywords = {n: v[0] if len(v) == 1 else v for n, v in launch.items()}
        with x64(wide), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            emitted = Emitted(load_module(done.text), function, keywords)
            rows = check_values(function, outcome, emitted(emitted.arguments(case.arguments())), case)
        if failed := [r for r in rows if r.status == "failed"]:
            return f"wrong: {failed[0].what} {failed[0].message} (grid {grid}, block {block})"
    return "right"
