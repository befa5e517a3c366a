"""``kraise explain``: the equations of each kernel, the form that each loop got and why, what was assumed; on request
what XLA compiles it to."""

from __future__ import annotations

import sys
from typing import Any

import click

from kraise import pipeline
from kraise.cli import report
from kraise.cli.inputs import collect
from kraise.cli.programs import programs
from kraise.cli.run import read_and_translate
from kraise.cli.shared import (
    case_beside,
    format_option,
    numbers,
    paths_argument,
    sizes,
    source_options,
    stdin_option,
)
from kraise.options import Options


@click.command("explain")
@paths_argument
@click.option("--hlo", is_flag=True, help="Compile what is emitted and count XLA's fusions, loops and kernels.")
@click.option("--shape", "shapes", metavar="X=17,19", multiple=True, callback=sizes, help="--hlo: shape of an array.")
@click.option("--set", "values", metavar="N=17", multiple=True, callback=numbers, help="--hlo: value of a scalar.")
@source_options
@stdin_option
@format_option
def command(
    paths: tuple[str, ...],
    options: Options,
    stdin_name: str,
    style: str,
    hlo: bool,
    shapes: dict[str, tuple[int, ...]],
    values: dict[str, Any],
) -> int:
    """Show what each kernel means as equations over index domains.

    Each comes with its source lines, the form that its loops got (and why not a higher one), and what was assumed.
    With --hlo the emitted module is compiled, and what XLA runs for each function is counted; sizes come from
    --shape and --set, from case.toml beside the source, or are inferred.
    """
    if (shapes or values) and not hlo:
        raise click.UsageError("--shape and --set say with which sizes --hlo compiles")
    inputs, findings = collect(paths)
    inputs = programs(inputs, options.only)
    results = []
    parameters: set[str] = set()
    colour = report.colours(sys.stdout)
    for one in inputs:
        result, done = read_and_translate(one, options, stdin_name)
        results.append(result)
        parameters |= report.parameters(done) if done is not None else set()
        counted: dict[str, tuple[str, str]] = {}
        if hlo and done is not None:
            request = pipeline.Request(case=case_beside(one.path), shapes=shapes, values=values)
            counted, problems = pipeline.compiled(done, request, one.config.merged(options))
            findings += problems
        for kernel, line, text in pipeline.explain(done) if done else ():
            head = f"{result.file}:{line}: {kernel}"
            report.put(sys.stdout, (click.style(head, bold=True) if colour else head) + "\n")
            rows = text.rstrip().split("\n")
            if kernel in counted:
                arguments, found = counted[kernel]
                rows += ["", f"compiled with {arguments}:", f"  {found}"]
            report.put(sys.stdout, "".join(f"  {row}".rstrip() + "\n" for row in rows) + "\n")
    sys.stdout.flush()
    findings += report.missing(results, options)
    findings += report.unknown_arguments(results, parameters, [*shapes, *values])
    report.report(results, findings, style)
    if style == "text":
        report.summary(results, findings)
    return report.status(results, findings)
