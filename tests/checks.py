"""What many tests ask of a translation."""

from __future__ import annotations

import zlib
from dataclasses import replace

from kraise import pipeline
from kraise.diagnostics import Diagnostic
from kraise.verify.report import Report

IN_FULL = [True]  # conftest.py: not in the first tier
_last: list[pipeline.Translation] = []


def verified(
    done: pipeline.Translation, request: pipeline.Request, file: str = "", source: str = ""
) -> tuple[list[Report], list[Diagnostic]]:
    """What ``kraise verify`` finds of a translation, and why some could not be compared.

    In the first tier each fourth translation (by its text, so always the same ones) is tried with derivatives of second
    order, an outer ``jit`` and ``vmap``, on the first of its sizes.
    """
    again = bool(_last) and _last[0] is done
    _last[:] = [done]
    if not IN_FULL[0] and (again or zlib.crc32((done.text or "").encode()) % 4):
        request = replace(request, thorough=False)
    return pipeline.verify(done, request, file, source)


def agrees(done: pipeline.Translation, request: pipeline.Request, *about: object) -> None:
    """The module of the one kernel agrees with its source, as :func:`verified` finds; ``about`` is told if not."""
    ((report,), problems) = verified(done, request)
    assert not problems and report.ok, (*about, problems, [(r.check, r.what, r.message) for r in report.failures])
