"""``kraise diff``: the twin on disk beside what would be emitted now."""

from __future__ import annotations

import difflib
import sys

import click

from kraise.cli import report
from kraise.cli.inputs import collect
from kraise.cli.run import Result, translate_all
from kraise.cli.shared import paths_argument, source_options
from kraise.cli.targets import twin_of
from kraise.diagnostics import Diagnostic, Span
from kraise.options import Options

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@paths_argument
@source_options
def command(paths: tuple[str, ...], options: Options) -> int:
    """Show what differs between the twin on disk (-) and what would be emitted now (+).

    Exit status as diff's: 0 the same, 1 different, 2 trouble (no twin, nothing raised, input that cannot be read).
    """
    if "-" in paths:
        raise click.UsageError("standard input has no twin")
    inputs, findings = collect(paths)
    results = list(translate_all(inputs, options))
    findings += report.no_kernels(results)
    different = False
    for result in results:
        if result.empty or not result.readable:
            continue
        old = _old(result, findings)
        if result.text is None:
            findings.append(
                Diagnostic(
                    "KR301", "no kernel of this file was raised: there is nothing to compare", Span(result.file, 1)
                )
            )
        elif old is not None and old != result.text:
            different = True
            _show(result, old)
    sys.stdout.flush()
    report.report(results, findings)
    trouble = findings or any(not r.readable for r in results)
    return 2 if trouble else 1 if different else 0


def _old(result: Result, findings: list[Diagnostic]) -> str | None:
    twin = twin_of(result.input)
    try:
        return twin.read_text(encoding="utf-8")
    except FileNotFoundError:
        if result.input.root is None or result.decorated:
            hint = f"kraise translate --twin {result.file} writes it"
            findings.append(Diagnostic("KR402", f"{twin} does not exist", Span(result.file, 1), hint))
    except (OSError, ValueError) as error:
        findings.append(Diagnostic("KR105", f"{twin} cannot be read: {error}", Span(result.file, 1)))
    return None


def _show(result: Result, old: str) -> None:
    twin = str(twin_of(result.input))
    new = (result.text or "").splitlines(keepends=True)
    colour = report.colours(sys.stdout)
    for line in difflib.unified_diff(old.splitlines(keepends=True), new, twin, f"{twin} (now)"):
        text = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        if colour and text[0] in _COLOURS:
            text = click.style(text.rstrip("\n"), fg=_COLOURS[text[0]], bold=text[:3] in ("+++", "---")) + "\n"
        report.put(sys.stdout, text)
