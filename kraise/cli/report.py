"""Findings and summary on the terminal, and the exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

import click

from kraise.cli.programs import elsewhere
from kraise.cli.run import Result
from kraise.diagnostics import Diagnostic, Span
from kraise.diagnostics import text as text_format
from kraise.options import Options
from kraise.pipeline import Translation

UNREADABLE = frozenset({"KR105", "KR106", "KR403", "KR404", "KR405", "KR406"})

_COLOURS: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "place": {"bold": True},
    "caret": {"fg": "red", "bold": True},
    "hint": {"fg": "cyan"},
}


def colours(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal that shows colours (NO_COLOR and FORCE_COLOR are heeded)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def _paint(role: str, text: str) -> str:
    return click.style(text, **_COLOURS[role]) if role in _COLOURS else text


class Sources(Mapping[str, str]):
    """The texts that were read, by file; others (a header) are read when a finding points into them."""

    def __init__(self, results: Iterable[Result]):
        self.known: dict[str, str | None] = {r.file: r.source for r in results}

    def __getitem__(self, file: str) -> str:
        if file not in self.known:
            try:
                with open(file, encoding="utf-8") as handle:
                    self.known[file] = handle.read(2_000_000)
            except (OSError, ValueError):
                self.known[file] = None
        text = self.known[file]
        if text is None:
            raise KeyError(file)
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def report(results: list[Result], findings: list[Diagnostic], style: str = "text", *, to: TextIO | None = None) -> None:
    """Prints the findings of ``results`` and further ``findings`` to ``to`` (standard error)."""
    stream = to or sys.stderr
    everything = [*findings, *(d for r in results for d in r.findings)]
    match style:
        case "text":
            paint = _paint if colours(stream) else text_format.plain
            text = text_format.render(everything, Sources(results), paint)
        case "json":
            from kraise.diagnostics.formats import as_json

            text = as_json(everything, [(r.file, name) for r in results for name in r.raised])
        case "github":
            from kraise.diagnostics.formats import as_github

            text = as_github(everything)
        case _:
            from kraise.diagnostics.formats import as_sarif

            text = as_sarif(everything)
    put(stream, text)


def put(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def summary(results: list[Result], findings: list[Diagnostic]) -> None:
    """The last line, where something was refused or several files were read."""
    refused = sum(r.refused for r in results)
    unread = len({d.span.file for d in findings if d.severity == "error" and d.span and d.code == "KR105"})
    unread += sum(not r.readable for r in results)
    if len(results) > 1 or refused or unread > 1:
        parts = [f"{sum(len(r.raised) for r in results)} raised", f"{refused} refused"]
        if unread:
            parts.append(f"{unread} file{'s' * (unread > 1)} not read")
        click.echo(", ".join(parts), err=True)


def status(results: list[Result], findings: list[Diagnostic]) -> int:
    """0 all raised, 1 something refused, 2 something unreadable or not written."""
    everything = [*findings, *(d for r in results for d in r.findings)]
    errors = [d for d in everything if d.severity == "error"]
    if any(not r.readable for r in results) or any(d.code in UNREADABLE for d in errors):
        return 2
    return 1 if errors else 0


def no_kernels(results: list[Result], *, quiet: bool = False) -> list[Diagnostic]:
    """What to say of inputs that hold nothing to raise: an error for a file or folder that gave nothing at all,
    a warning for one of several named files, nothing for files that a walk found."""
    findings = []
    roots: dict[str, list[Result]] = {}
    for r in results:
        if r.input.root is not None:
            roots.setdefault(r.input.root, []).append(r)
        elif r.empty and not quiet:
            alone = len(results) == 1
            hint = "if a decorator of your own marks kernels, name it: --kernel-decorator NAME" if alone else ""
            if alone and r.file.endswith(".py"):
                hint = f"a plain function is raised where it is named: --only NAME; {hint}"
            reason = "there is no kernel in this file"
            findings.append(
                Diagnostic("KR106", reason, Span(r.file, 1), hint, severity="error" if alone else "warning")
            )
    for root, members in roots.items():
        if all(r.empty for r in members) and not quiet:
            findings.append(
                Diagnostic("KR106", f"there is no kernel in the {len(members)} source files here", Span(root, 1))
            )
    return findings


def missing(results: list[Result], options: Options, *, quiet: bool = False) -> list[Diagnostic]:
    """What the inputs lack: the kernels that are named, or any kernel."""
    return unknown_names(results, options) or no_kernels(results, quiet=quiet)


def unknown_names(results: list[Result], options: Options) -> list[Diagnostic]:
    """The names of --only and --grad that no input has."""
    known = sorted({name for r in results for name in (*r.raised, *(d.kernel for d in r.findings if d.kernel))})
    defined = re.compile(r"^def[ \t]+(\w+)|__global__[^({;]*?(\w+)[ \t]*\(", re.MULTILINE)
    shown = known or sorted({a or b for r in results for a, b in defined.findall(r.source or "")})
    hint = f"there are: {', '.join(shown[:12])}{', ...' if shown[12:] else ''}" if shown else ""
    return [
        _launches_nothing(results, name) or Diagnostic("KR406", f"there is no kernel `{name}`", _only(results), hint)
        for name in (*options.only, *(g.partition(":")[0].strip() for g in options.grad if ":" in g))
        if name not in known and all(r.readable for r in results)
    ]


def _launches_nothing(results: list[Result], name: str) -> Diagnostic | None:
    """What is said of a function that is there, and that no kernel of its file runs in; None where there is none."""
    definition = re.compile(rf"^[ \t]*(?:def|[\w:<>,*& ]+[ *&])[ \t]*{re.escape(name)}[ \t]*\(", re.MULTILINE)
    for r in results:
        found = definition.search(r.source or "")
        if found is not None and r.source is not None:
            line = r.source.count("\n", 0, found.end()) + 1
            reason = f"`{name}` launches no kernel of this file"
            hint = "what is launched in other files is not seen: translate those, or #include them"
            if r.file.endswith((".cu", ".cpp", ".cc", ".c")):
                hint = elsewhere(r.file, name)
            return Diagnostic("KR406", reason, Span(r.file, line), hint)
    return None


def parameters(done: Translation) -> set[str]:
    """The names of the parameters of what was raised."""
    source = done.source
    return {p.name for name in done.raised for p in source.function(name).params} if source is not None else set()


def unknown_arguments(results: list[Result], parameters: set[str], given: Iterable[str]) -> list[Diagnostic]:
    """The names of --shape and --set that no raised kernel has among its ``parameters``."""
    if not parameters:
        return []  # nothing was raised: that is what there is to say
    hint = f"the parameters are: {', '.join(sorted(parameters)[:24])}"
    unknown = sorted({*given} - parameters)
    return [Diagnostic("KR502", f"no kernel has a parameter `{name}`", _only(results), hint) for name in unknown]


def _only(results: list[Result]) -> Span | None:
    return Span(results[0].file, 1) if len(results) == 1 else None
