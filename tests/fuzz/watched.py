"""Worker processes of a campaign under a time limit: a kernel that never ends, or that takes the process with it,
costs one batch and not the campaign."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import connection
from typing import Any


@dataclass(frozen=True)
class Span:
    """Every ``step``-th seed from ``seed`` on, ``batch`` at a time; up to ``until``, they are tried one by one."""

    seed: int
    step: int
    batch: int
    until: int = 0

    @property
    def size(self) -> int:
        """Seeds of the next batch."""
        return 1 if self.seed < self.until else self.batch

    def after(self) -> Span:
        """What is left behind the next batch."""
        return replace(self, seed=self.seed + self.step * self.size)


@dataclass(frozen=True)
class Lost:
    """A seed whose worker ``kind`` ("hang": gave no answer in time; "died")."""

    seed: int
    kind: str


Work = Callable[[Any, Span], Any]  # what one batch gives


@dataclass
class _Running:
    process: Any
    answers: Any
    span: Span
    heard: float


def campaign(work: Work, job: Any, spans: list[Span], end: float, patience: float) -> Iterator[Any]:
    """What ``work(job, span)`` gives for batch after batch until ``end`` (of ``time.monotonic``), a process a span.

    A worker that is silent for ``patience`` seconds is killed; the seeds of its batch are tried one by one, and the one
    that it stops at comes out as :class:`Lost`.
    """
    running = [_started(work, job, span, end) for span in spans]
    try:
        while running:
            connection.wait([one.answers for one in running], timeout=1.0)
            for one in list(running):
                died = False
                try:
                    while one.answers.poll():
                        said = one.answers.recv()
                        if said is not None:
                            yield said
                            one.span = one.span.after()
                        one.heard = time.monotonic()
                except EOFError:
                    died = True
                if died and one.process.exitcode is None:
                    one.process.join(5.0)
                if died and one.process.exitcode == 0:
                    running.remove(one)
                elif died or time.monotonic() - one.heard > patience:
                    one.process.kill()
                    running.remove(one)
                    if one.span.size == 1:
                        yield Lost(one.span.seed, "died" if died else "hang")
                        left = one.span.after()
                    else:
                        left = replace(one.span, until=one.span.after().seed)
                    if time.monotonic() < end:
                        running.append(_started(work, job, left, end))
    finally:
        for one in running:
            one.process.kill()


def _started(work: Work, job: Any, span: Span, end: float) -> _Running:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, job, span, end - time.monotonic(), there), daemon=True)
    process.start()
    there.close()
    return _Running(process, here, span, time.monotonic())


def _run(work: Work, job: Any, span: Span, seconds: float, answers: Any) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answers.send(work(job, span))
        span = span.after()
    answers.close()
