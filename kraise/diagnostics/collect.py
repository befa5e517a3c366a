"""Collecting findings: one refused kernel does not stop the others, and a bug of ours becomes one line."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TypeVar

from kraise.diagnostics import Diagnostic, Refused, Span

T = TypeVar("T")


def guard(
    kernel_name: str, span: Span | None, stage: Callable[..., T], *args: object, **named: object
) -> tuple[T | None, list[Diagnostic]]:
    """What ``stage(*args)`` returns, or None with the diagnostics that say why not; each names its kernel."""
    try:
        return stage(*args, **named), []
    except Refused as refused:
        found = refused.diagnostics
        return None, [replace(d, kernel=d.kernel or kernel_name, span=d.span or span) for d in found]
    except RecursionError:
        reason = "this is nested too deeply"
        return None, [Diagnostic("KR108", reason, span, "split long expressions into named parts", kernel_name)]
    except Exception as error:  # a bug of ours: say so in one line, let the other kernels come out
        if os.environ.get("KRAISE_DEBUG"):
            traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{PurePath(where.filename).stem}:{where.lineno}"
        reason = f"internal error ({type(error).__name__} in {place}): {str(error)[:200]}"
        hint = "this is a bug of kraise: please report it with this kernel (KRAISE_DEBUG=1 prints the traceback)"
        return None, [Diagnostic("KR900", " ".join(reason.split()), span, hint, kernel_name)]


def placed(findings: Iterable[Diagnostic], file: str) -> tuple[Diagnostic, ...]:
    """The findings with ``file`` as the user wrote it, in the order of the source."""
    name = PurePath(file).name

    def place(d: Diagnostic) -> Diagnostic:
        span = d.span if d.span is None or d.span.file != name else replace(d.span, file=file)
        return replace(d, span=span, causes=tuple(place(c) for c in d.causes))

    def order(d: Diagnostic) -> tuple[str, int, int, str]:
        return (d.span.file, d.span.line, d.span.column, d.code) if d.span else ("", 0, 0, d.code)

    unique = dict.fromkeys(place(d) for d in findings)
    return tuple(sorted(unique, key=order))
