"""``kraise verify``: what is emitted beside the scalar program, in a table: values, gradients, form."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import click

from kraise import pipeline
from kraise.cli import report
from kraise.cli.inputs import Input, collect
from kraise.cli.programs import programs, with_others
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
from kraise.diagnostics import Diagnostic, Span
from kraise.options import Options

_MARKS = {"ok": "green", "failed": "bold red", "skipped": "yellow", "note": "cyan"}


def _extents(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*){0,2}", value):
        raise click.BadParameter(f"`{value}` is not understood; write 4 or 4,2,1", ctx, param)
    return tuple(int(n) for n in value.split(","))


def _file(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value and not os.path.isfile(value):
        raise click.BadParameter(f"there is no file {value}", ctx, param)
    return value


@click.command("verify")
@paths_argument
@click.option("--case", metavar="FILE", callback=_file, help="Arguments and launch (default: case.toml beside it).")
@click.option("--shape", "shapes", metavar="X=17,19", multiple=True, callback=sizes, help="The shape of an array.")
@click.option("--set", "values", metavar="N=17", multiple=True, callback=numbers, help="The value of a scalar.")
@click.option("--dtype", metavar="NAME", help="The type of the float arrays whose type is open: float32, float64.")
@click.option("--grid", metavar="X[,Y[,Z]]", callback=_extents, help="The launch: blocks.")
@click.option("--block", metavar="X[,Y[,Z]]", callback=_extents, help="The launch: threads of a block.")
@click.option("--seed", default=0, show_default=True, help="Seed of the generated inputs.")
@click.option("--original", is_flag=True, help="Run the source itself, too: compiled (CUDA C), simulated (numba).")
@click.option("--no-gradients", is_flag=True, help="Compare values only.")
@source_options
@stdin_option
@format_option
def command(paths: tuple[str, ...], options: Options, stdin_name: str, style: str, **asked: Any) -> int:
    """Run each kernel in the reference interpreter and compare the emitted function with it.

    Values, gradients along random directions with random weights, second order, jit and vmap, and the
    form that case.toml asks for. Inputs come from case.toml beside the source, from --shape and --set, or
    are inferred from the subscripts. The emitted module is executed; your source is only interpreted,
    unless --original asks to compile and run it (CUDA C: nvcc where there is a GPU, else g++; Python: numba
    on the GPU, else its simulator, or the plain function).
    """
    inputs, findings = collect(paths)
    inputs = programs(inputs, options.only)
    results, failed = [], 0
    parameters: set[str] = set()
    for one in inputs:
        result, done = read_and_translate(one, options, stdin_name)
        results.append(result)
        if done is None or done.text is None:
            continue
        parameters |= report.parameters(done)
        reports, problems = pipeline.verify(
            done, _request(one, asked), result.file, with_others(result.source or "", one), one.config.merged(options)
        )
        findings += problems
        for checked in reports:
            _table(result.file, checked)
            failed += not checked.ok
            findings += _failure(result.file, checked)
    sys.stdout.flush()
    findings += report.missing(results, options)
    findings += report.unknown_arguments(results, parameters, [*asked["shapes"], *asked["values"]])
    report.report(results, findings, style)
    if style == "text":
        report.summary(results, findings)
    return max(report.status(results, findings), 1 if failed else 0)


def _request(source: Input, asked: dict[str, Any]) -> pipeline.Request:
    return pipeline.Request(
        case=asked["case"] or case_beside(source.path),
        shapes=asked["shapes"],
        values=asked["values"],
        dtype=asked["dtype"] or "",
        grid=asked["grid"],
        block=asked["block"],
        seed=asked["seed"],
        gradients=not asked["no_gradients"],
        original=asked["original"],
    )


def _failure(file: str, checked: pipeline.Report) -> list[Diagnostic]:
    if checked.ok:
        return []
    first = checked.failures[0] if checked.failures else None
    reason = f"{first.check} {first.what}: {first.message or 'differs'}" if first else "nothing could be compared"
    return [Diagnostic("KR501", reason, Span(file, 1), kernel=checked.kernel)]


def _table(file: str, checked: pipeline.Report) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = None if sys.stdout.isatty() else 110
    console = Console(file=sys.stdout, width=width, highlight=False, no_color=not report.colours(sys.stdout))
    table = Table("check", "what", "result")
    for name in ("error", "allowed"):
        table.add_column(name, justify="right")
    messages = any(row.message for row in checked.rows)
    if messages:
        table.add_column("why", overflow="fold")
    for row in checked.rows:
        numbers = ("" if n is None else f"{n:.1e}" for n in (row.error, row.tolerance))
        cells: list[Any] = [row.check, Text(row.what), Text(row.status, _MARKS.get(row.status, "")), *numbers]
        table.add_row(*cells, *([Text(row.message)] if messages else []))
    console.print(Text(f"{file}: {checked.kernel}", "bold"))
    console.print(table)
    for text in (checked.arguments, checked.launch):
        if text:
            console.print(Text(f"  {text}", "dim"))
    console.print()
