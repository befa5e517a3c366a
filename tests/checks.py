"""What many tests ask of a translation."""

from __future__ import annotations

from kraise import pipeline


def agrees(done: pipeline.Translation, request: pipeline.Request, *about: object) -> None:
    """The module of the one kernel agrees with its source, as ``kraise verify`` finds; ``about`` is told if not."""
    ((report,), problems) = pipeline.verify(done, request)
    assert not problems and report.ok, (*about, problems, [(r.check, r.what, r.message) for r in report.failures])
