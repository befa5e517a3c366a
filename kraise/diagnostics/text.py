"""Findings as text for people: grouped by kernel, each with its source line, a caret, the reasons and a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from kraise.diagnostics import Diagnostic, Span

Paint = Callable[[str, str], str]  # (role, text) -> text; roles: error, warning, place, caret, hint

WIDTH = 110  # the longest piece of a source line that is shown


def plain(role: str, text: str) -> str:
    """The paint of a stream that is no terminal."""
    return text


def render(findings: Iterable[Diagnostic], sources: Mapping[str, str], paint: Paint = plain) -> str:
    """All ``findings``, grouped by file and kernel, in order; ``sources`` maps a span's file to its text."""
    out: list[str] = []
    for (file, name), group in groupby(_grouped(findings), key=_group):
        if name:
            out.append(paint("place", f"{file}: in kernel `{printable(name)}`:"))
        for d in group:
            out += _finding(d, sources, paint)
    return "".join(f"{line}\n" for line in out)


def place(span: Span | None) -> str:
    """``file:line:column`` as editors understand it."""
    return f"{printable(span.file)}:{span.line}:{span.column}" if span else "kraise"


def printable(text: str) -> str:
    """``text`` with control characters (which could steer a terminal) made visible."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _group(d: Diagnostic) -> tuple[str, str]:
    return (d.span.file if d.span else "", d.kernel)


def _grouped(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    # by kernel in the order of each kernel's first finding: sorting by line alone would tear groups apart
    items = list(findings)
    first = {_group(d): i for i, d in reversed(list(enumerate(items)))}
    return sorted(items, key=lambda d: first[_group(d)])


def _finding(d: Diagnostic, sources: Mapping[str, str], paint: Paint) -> list[str]:
    head = f"{paint('place', place(d.span) + ':')} {paint(d.severity, f'{d.severity} {d.code}')}: {printable(d.reason)}"
    lines = [head, *_source(d.span, sources, paint)]
    lines += _causes(d.causes, 1)
    if d.hint:
        lines.append(f"  {paint('hint', 'hint')}: {printable(d.hint)}")
    return lines


def _causes(causes: tuple[Diagnostic, ...], depth: int) -> list[str]:
    lines = []
    for cause in causes:
        lines += _causes(cause.causes, depth + 1)  # the innermost first
        where = f"{place(cause.span)}: " if cause.span else ""
        why = "also" if cause.severity == "note" else "because"
        lines.append(f"  {why} {where}{cause.code}: {printable(cause.reason)}")
    return lines


def _source(span: Span | None, sources: Mapping[str, str], paint: Paint) -> list[str]:
    text = sources.get(span.file) if span else None
    if span is None or text is None:
        return []
    lines = text.split("\n")
    if not 1 <= span.line <= len(lines) or not lines[span.line - 1].strip():
        return []
    line = lines[span.line - 1]
    start = min(max(span.column, 1), len(line) + 1) - 1
    end = span.end_column - 1 if span.end_line == span.line and span.end_column > span.column else start + 1
    if span.end_line > span.line:
        end = len(line.rstrip())
    end = max(min(end, len(line)), start + 1)
    left = 0 if len(line) <= WIDTH else max(0, min(start - WIDTH // 4, len(line) - WIDTH))
    shown, end = line[left : left + WIDTH], min(end, left + WIDTH)
    before, under = _columns(shown[: start - left]), _columns(shown[start - left : end - left])
    number = str(span.line)
    gutter = " " * len(number)
    return [
        f"  {number} | {_shown(shown)}".rstrip(),
        f"  {gutter} | {' ' * before}{paint('caret', '^' * max(under, 1))}",
    ]


def _shown(text: str) -> str:
    return printable(text.replace("\t", "    "))


def _columns(text: str) -> int:
    shown = _shown(text)
    if shown.isascii():
        return len(shown)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in shown)
