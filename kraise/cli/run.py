"""Runs the pipeline over inputs: one process for few, all cores for many; results come in the order of the inputs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from kraise import pipeline
from kraise.cli.inputs import Input, text_of
from kraise.cli.programs import with_others
from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.options import Options

PARALLEL_BYTES = 60_000  # below this, starting processes costs more than it saves
RECURSION = 6_000  # expressions of a thousand terms are trees of that depth


@dataclass(frozen=True)
class Result:
    """What became of one input. ``text`` is the emitted module or None, ``source`` the text that was read or None.

    ``readable`` is False where the file as a whole could not be read; ``decorated`` says that a kernel proper (not only
    plain functions) is among what was found.
    """

    input: Input
    file: str
    text: str | None
    raised: tuple[str, ...]
    findings: tuple[Diagnostic, ...]
    source: str | None
    readable: bool
    decorated: bool

    @property
    def empty(self) -> bool:
        """Whether the file holds nothing to raise."""
        return self.readable and not self.raised and not any(d.severity == "error" for d in self.findings)

    @property
    def refused(self) -> int:
        """How many kernels were refused."""
        return len({d.kernel for d in self.findings if d.severity == "error"}) if self.readable else 0


def translate_one(source: Input, options: Options, stdin_name: str = "stdin.py") -> Result:
    """One input through the pipeline; never raises for what the input holds."""
    return read_and_translate(source, options, stdin_name)[0]


def read_and_translate(
    source: Input, options: Options, stdin_name: str = "stdin.py"
) -> tuple[Result, pipeline.Translation | None]:
    """As :func:`translate_one`, with the translation itself (None where the text could not be read)."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
    file = stdin_name if source.path == "-" else source.path
    try:
        text = text_of(source.path)
    except Refused as refused:
        return Result(source, file, None, (), refused.diagnostics, None, False, False), None
    done = pipeline.translate(with_others(text, source), file, source.config.merged(options))
    decorated = _has_kernels(done, text, source.config.options)
    readable = done.source is not None
    return Result(source, file, done.text, done.raised, done.diagnostics, text, readable, decorated), done


def _has_kernels(done: pipeline.Translation, text: str, options: Options) -> bool:
    if done.source is None:
        return False
    if any(f.kind == "kernel" for f in done.source.functions):
        return True
    # a function that could not be read is not in the module: its text tells a kernel from a plain function
    words = ("cuda", "__global__", *(name.rpartition(".")[2] for name in options.kernel_decorators))
    return any(d.kernel for d in done.diagnostics) and any(word in text for word in words)


def translate_all(inputs: list[Input], options: Options, stdin_name: str = "stdin.py") -> Iterator[Result]:
    """All inputs, in order."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    size = sum(os.path.getsize(i.path) for i in inputs if os.path.isfile(i.path))
    if cores < 2 or len(inputs) < 2 or size < PARALLEL_BYTES or any(i.path == "-" for i in inputs):
        for one in inputs:
            yield translate_one(one, options, stdin_name)
    else:
        yield from _parallel(inputs, options, cores)


def _parallel(inputs: list[Input], options: Options, cores: int) -> Iterator[Result]:
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children

    pool = _pool(min(cores, len(inputs)))
    try:
        futures = [pool.submit(translate_one, one, options) for one in inputs]
        for one, future in zip(inputs, futures, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:  # a process died: find out on whose account
                with _pool(1) as alone:
                    try:
                        yield alone.submit(translate_one, one, options).result()
                    except BrokenProcessPool:
                        yield _died(one)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in active_children():
            child.terminate()
        raise
    pool.shutdown()


def _pool(workers: int):  # noqa: ANN202 (imported lazily)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("fork" if sys.platform == "linux" else "spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_worker)


def _worker() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # die without a word: the parent speaks
        signal.signal(number, signal.SIG_DFL)


def _died(one: Input) -> Result:
    reason = "internal error: the process that read this file died"
    hint = "this is a bug of kraise, or memory ran out: please report it with this file"
    finding = Diagnostic("KR900", reason, Span(one.path, 1), hint)
    return Result(one, one.path, None, (), (finding,), None, False, False)
