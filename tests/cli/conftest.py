"""The command line in process, over a pipeline of a few lines: these tests are about the shell, not the machine.

In the stub's language ``kernel NAME`` is a kernel that is raised, ``plain NAME`` a plain function that is raised,
``refuse NAME`` a kernel that is refused, ``warn NAME`` a kernel raised with a warning, ``broken`` a syntax error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

import pytest
from click.testing import CliRunner

from kraise import cli, pipeline
from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.ir import equations, kernel
from kraise.pipeline import Translation


def stub(source: str, file: str, options=pipeline.DEFAULTS) -> Translation:
    """Translates the stub's language; see the module's docstring."""
    try:
        pipeline.language_of(file, options)
    except Refused as refused:
        return Translation(None, (), refused.diagnostics, None, None)
    raised, findings, functions = [], [], []
    for number, line in enumerate(source.split("\n"), 1):
        match line.split():
            case ["broken"]:
                finding = Diagnostic("KR100", "syntax error", Span(file, number, 1))
                return Translation(None, (), (finding,), None, None)
            case ["kernel" | "plain" | "warn" as kind, name]:
                raised.append(name)
                functions.append(kernel.Function(name, "plain" if kind == "plain" else "kernel", (), ()))
                if kind == "warn":
                    findings.append(
                        Diagnostic("KR208", "small launch", Span(file, number), kernel=name, severity="warning")
                    )
            case ["refuse", name]:
                functions.append(kernel.Function(name, "kernel", (), ()))
                span = Span(file, number, 8, number, 8 + len(name))
                findings.append(Diagnostic("KR201", "a race", span, "use an atomic", name))
    name = PurePath(file).name
    text = f'"""Vectorized twin of {name}, written by kraise; edit the source, not this file."""\n\n' + "".join(
        f"{n} = {len(options.kernel_decorators)}\n" for n in raised
    )
    ir = kernel.Module(name, "python", tuple(functions))
    module = equations.Module(name, "python", ())
    return Translation(text if raised else None, tuple(raised), tuple(findings), module, ir)


@dataclass(frozen=True)
class Ran:
    """The end of a run: exit status, standard output, standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def kraise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs ``kraise ARGS`` in an empty folder with the stubbed pipeline; paths are seen from that folder."""
    monkeypatch.setattr(pipeline, "translate", stub)
    monkeypatch.chdir(tmp_path)

    def run(*args: str, input: str | bytes | None = None, tty: bool = False) -> Ran:
        env = {"FORCE_COLOR": "1" if tty else "", "NO_COLOR": ""}
        result = CliRunner(env=env).invoke(_entry, [str(a) for a in args], input=input)
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


class _Entry:
    """What CliRunner calls: :func:`kraise.cli.main` in place of click's own main."""

    name = "kraise"

    def main(self, args, prog_name, **extra):
        cli.main(args)


_entry = _Entry()
