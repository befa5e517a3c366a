"""``kraise check``: which twins are stale or missing; nothing is written."""

from __future__ import annotations

import sys

import click

from kraise.cli import report
from kraise.cli.inputs import collect
from kraise.cli.run import Result, translate_all
from kraise.cli.shared import format_option, source_options
from kraise.cli.targets import concerns_hook, twin_of
from kraise.diagnostics import Diagnostic, Span
from kraise.options import Options


@click.command("check")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--hook", is_flag=True, help="For pre-commit: pass over files without kernels.")
@source_options
@format_option
def command(paths: tuple[str, ...], hook: bool, options: Options, style: str) -> int:
    """Say which twins (<stem>_raised.py) are stale or missing.

    PATH is a source or a folder, the current folder if none is given. A twin is missing where a kernel
    proper (@cuda.jit, __global__) or a file named here has none; the plain functions of files found in a
    folder need none. Exit status: 0 all as it should be, 1 something is stale or missing, 2 input that
    cannot be read.
    """
    if "-" in paths:
        raise click.UsageError("standard input has no twin")
    inputs, findings = collect(paths or (".",), hook=hook)
    results = list(translate_all(inputs, options))
    if hook:
        results = [r for r in results if concerns_hook(r.input, r.decorated)]
    findings += report.no_kernels(results, quiet=hook) if paths else []
    twins = [d for r in results if r.readable for d in _twin(r)]
    unread = [r for r in results if not r.readable]
    report.report(unread, findings + twins, style, to=None if style == "text" else sys.stdout)
    if style == "text" and len(results) > 1:
        stale, missing = (sum(d.code == code for d in twins) for code in ("KR401", "KR402"))
        click.echo(f"{len(results)} sources, {stale} stale, {missing} missing", err=True)
    return max(report.status(unread, findings), 1 if twins else 0)


def _twin(result: Result) -> list[Diagnostic]:
    twin = twin_of(result.input)
    span = Span(result.file, 1)
    try:
        old = twin.read_text(encoding="utf-8") if twin.exists() else None
    except (OSError, ValueError):
        old = ""
    if old is None:
        wanted = result.text is not None and (result.decorated or result.input.root is None)
        return [Diagnostic("KR402", f"{twin} is missing", span, _hint(result))] if wanted else []
    if result.text is None and result.empty:
        return []  # what stands there is not the twin of a source with kernels
    if result.text is None:
        return [Diagnostic("KR401", f"{twin} is stale: all kernels of its source are refused now", span, _hint(result))]
    return [] if old == result.text else [Diagnostic("KR401", f"{twin} is stale", span, _hint(result))]


def _hint(result: Result) -> str:
    return f"kraise translate --twin {result.file}"
