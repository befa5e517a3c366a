"""``kraise translate``: kernels in, JAX modules out."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import click

from kraise.cli import report
from kraise.cli.inputs import collect
from kraise.cli.programs import programs
from kraise.cli.run import Result, translate_all
from kraise.cli.shared import format_option, paths_argument, source_options, stdin_option
from kraise.cli.targets import clashes, concerns_hook, in_folder, twin_of, write
from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.diagnostics.text import printable
from kraise.options import Options


@click.command("translate")
@paths_argument
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Where to write; a folder for several inputs.")
@click.option("--twin", is_flag=True, help="Write <stem>_raised.py beside each source.")
@click.option("--force", is_flag=True, help="Overwrite targets that kraise did not write.")
@click.option("--hook", is_flag=True, help="For pre-commit: pass over files without kernels, exit 1 if a file changed.")
@source_options
@stdin_option
@format_option
def command(
    paths: tuple[str, ...],
    output: str | None,
    twin: bool,
    force: bool,
    hook: bool,
    options: Options,
    stdin_name: str,
    style: str,
) -> int:
    """Translate kernels in Python (numba.cuda, loops) or CUDA C to JAX modules.

    PATH is a file, a folder (all sources below it) or - for standard input. Without -o or --twin the
    module is printed. Findings go to standard error.
    """
    if twin and output:
        raise click.UsageError("--twin and -o exclude each other")
    if twin and "-" in paths:
        raise click.UsageError("standard input has no place for a twin; use -o")
    if paths.count("-") > 1:
        raise click.UsageError("standard input can be read only once")
    inputs, findings = collect(paths, hook=hook)
    inputs = programs(inputs, options.only)
    folder = (
        output is not None and output != "-" and (len(inputs) > 1 or output.endswith(os.sep) or os.path.isdir(output))
    )
    if folder and os.path.exists(str(output)) and not os.path.isdir(str(output)):
        raise click.UsageError(f"-o {output} is a file, but there are several inputs: name a folder")

    results = list(translate_all(inputs, options, stdin_name))
    if hook:
        results = [r for r in results if concerns_hook(r.input, r.decorated)]
    findings += report.missing(results, options, quiet=hook)
    written = 0
    if twin or (output is not None and output != "-"):
        targets = [(r, _target(r, output, folder, stdin_name)) for r in results if r.text is not None]
        findings += clashes([(r.input, t) for r, t in targets])
        if not any(d.code == "KR404" for d in findings):
            written = _write(targets, findings, force=force, make_folders=folder, say=twin or folder)
    else:
        _print([r for r in results if r.text is not None])
    report.report(results, findings, style)
    if style == "text" and not (hook and not written and not any(r.findings for r in results)):
        report.summary(results, findings)
    return max(report.status(results, findings), 1 if hook and written else 0)


def _target(result: Result, output: str | None, folder: bool, stdin_name: str) -> Path:
    source = result.input if result.input.path != "-" else replace(result.input, path=Path(stdin_name).name)
    if output is None:
        return twin_of(source)
    return in_folder(source, output) if folder else Path(output)


def _write(
    targets: list[tuple[Result, Path]], findings: list[Diagnostic], *, force: bool, make_folders: bool, say: bool
) -> int:
    written = 0
    for result, target in targets:
        try:
            if make_folders:
                _make_folder(target.parent, result.file)
            if write(target, result.text or "", force=force, source=result.file):
                written += 1
                if say:
                    click.echo(f"wrote {printable(str(target))}", err=True)
        except Refused as refused:
            findings += refused.diagnostics
    return written


def _make_folder(folder: Path, source: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"the folder {folder} cannot be made: {error.strerror or error}"
        raise Refused(Diagnostic("KR404", reason, Span(source, 1))) from None


def _print(results: list[Result]) -> None:
    blocks = []
    for r in results:
        head = f"# ---- {r.file} ----\n" if len(results) > 1 else ""
        blocks.append(head + (r.text or ""))
    text = "\n\n".join(blocks)
    if report.colours(sys.stdout) and text:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer

        text = highlight(text, PythonLexer(stripnl=False), TerminalFormatter())
    # UTF-8 whatever the locale says: what is redirected to a file must be a Python module
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()
