"""Calls of emitted functions, many in one compilation: most of what XLA takes for a small function is not its size."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import jax

from kraise.verify.load import Emitted, x64

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A call that a check waits for: the function, its arguments, and whether it runs in 64 bits."""

    emitted: Emitted
    named: dict[str, Any]
    wide: bool

    def alone(self) -> Any:
        """The result; raises whatever the emitted code does."""
        with x64(self.wide), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.emitted(self.named)

    @property
    def arrays(self) -> dict[str, Any]:
        return {n: v for n, v in self.named.items() if isinstance(v, jax.Array)}

    def on(self, arrays: dict[str, Any]) -> Any:
        """The call on other arrays; numbers stay what they are (they may be static)."""
        return self.emitted({**self.named, **arrays})


Check = Generator[Call, Any, T]


def together(checks: Sequence[Check[T]], least: int = 1) -> list[T]:
    """What the checks return: the calls that wait at a time are compiled as one, from ``least`` on."""
    results: dict[int, T] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(checks)))
    while answers:
        waiting: dict[int, Call] = {}
        for at, answer in answers.items():
            try:
                check = checks[at]
                waiting[at] = check.throw(answer) if isinstance(answer, Exception) else check.send(answer)
            except StopIteration as end:
                results[at] = end.value
        answers = {}
        for wide in (False, True):
            answers |= _answers({at: call for at, call in waiting.items() if call.wide is wide}, wide, least)
    return [results[at] for at in range(len(checks))]


def _answers(calls: dict[int, Call], wide: bool, least: int) -> dict[int, Any]:
    """The result of each call, or the exception that it raised."""
    answers: dict[int, Any] = {}
    traced: dict[int, Call] = {}
    with x64(wide), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at, call in calls.items() if len(calls) >= least else ():
            if hasattr(call.emitted.call, "lower"):  # a function without jit may return numbers of Python's
                try:
                    jax.eval_shape(call.on, call.arrays)
                    traced[at] = call
                except Exception as error:  # whatever the emitted code does
                    answers[at] = error
        if traced:
            try:
                run = jax.jit(lambda every: {at: call.on(every[at]) for at, call in traced.items()})
                answers |= jax.block_until_ready(run({at: call.arrays for at, call in traced.items()}))
            except Exception:  # one of them: found below
                pass
    for at, call in calls.items():
        if at not in answers:
            try:
                answers[at] = call.alone()
            except Exception as error:  # whatever the emitted code does
                answers[at] = error
    return answers
