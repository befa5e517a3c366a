"""``kraise explain``: the equations of each kernel, the form that each loop got and why, what was assumed."""

from __future__ import annotations

import sys

import click

from kraise import pipeline
from kraise.cli import report
from kraise.cli.inputs import collect
from kraise.cli.run import read_and_translate
from kraise.cli.shared import format_option, paths_argument, source_options, stdin_option
from kraise.options import Options


@click.command("explain")
@paths_argument
@source_options
@stdin_option
@format_option
def command(paths: tuple[str, ...], options: Options, stdin_name: str, style: str) -> int:
    """Show what each kernel means as equations over index domains.

    Each comes with its source lines, the form that its loops got (and why not a higher one), and what was assumed.
    """
    inputs, findings = collect(paths)
    results = []
    colour = report.colours(sys.stdout)
    for one in inputs:
        result, done = read_and_translate(one, options, stdin_name)
        results.append(result)
        for kernel, line, text in pipeline.explain(done) if done else ():
            head = f"{result.file}:{line}: {kernel}"
            report.put(sys.stdout, (click.style(head, bold=True) if colour else head) + "\n")
            report.put(sys.stdout, "".join(f"  {row}".rstrip() + "\n" for row in text.rstrip().split("\n")) + "\n")
    sys.stdout.flush()
    findings += report.no_kernels(results) + report.unknown_names(results, options)
    report.report(results, findings, style)
    if style == "text":
        report.summary(results, findings)
    return report.status(results, findings)
