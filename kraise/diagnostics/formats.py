"""Findings for machines: JSON, GitHub workflow commands, SARIF 2.1.0."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kraise import __version__
from kraise.diagnostics import Diagnostic, Span
from kraise.diagnostics.codes import CODES, title

FORMATS = ("text", "json", "github", "sarif")


def as_json(findings: Iterable[Diagnostic], raised: Iterable[tuple[str, str]] = ()) -> str:
    """One object: the version, the findings, and the (file, kernel) pairs that were raised."""
    document = {
        "version": __version__,
        "diagnostics": [_json(d) for d in findings],
        "raised": [{"file": file, "kernel": name} for file, name in raised],
    }
    return json.dumps(document, indent=2) + "\n"


def _json(d: Diagnostic) -> dict[str, Any]:
    row: dict[str, Any] = {"code": d.code, "severity": d.severity, "reason": d.reason}
    row |= {"hint": d.hint, "kernel": d.kernel, "title": title(d.code)}
    if d.span:
        row |= {"file": d.span.file, "line": d.span.line, "column": d.span.column}
        row |= {"end_line": d.span.end_line or d.span.line, "end_column": d.span.end_column or d.span.column}
    if d.causes:
        row["causes"] = [_json(c) for c in d.causes]
    return row


def as_github(findings: Iterable[Diagnostic]) -> str:
    """One workflow command a finding: GitHub shows them beside the lines of a pull request."""
    return "".join(_command(d) for d in findings)


def _command(d: Diagnostic) -> str:
    properties = {"title": f"{d.code} {title(d.code)}".strip()}
    if d.span:
        properties = {"file": d.span.file, "line": str(d.span.line), "col": str(d.span.column)} | properties
    text = ",".join(f"{key}={_escaped(value, ',:')}" for key, value in properties.items())
    kind = d.severity if d.severity in ("error", "warning") else "notice"
    return f"::{kind} {text}::{_escaped(_message(d))}\n"


def _escaped(text: str, more: str = "") -> str:
    # the runner decodes %25, %0D, %0A, and in properties %3A and %2C too
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    for character in more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _message(d: Diagnostic) -> str:
    subject = f"kernel `{d.kernel}`: " if d.kernel else ""
    return subject + d.reason + (f"\nhint: {d.hint}" if d.hint else "")


def as_sarif(findings: Iterable[Diagnostic]) -> str:
    """A SARIF 2.1.0 log with one run."""
    items = list(findings)
    used = sorted({d.code for d in items})
    driver = {
        "name": "kraise",
        "version": __version__,
        "rules": [
            {
                "id": code,
                "shortDescription": {"text": title(code) or code},
                "help": {"text": CODES[code].do if code in CODES else code},
            }
            for code in used
        ],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [_result(d) for d in items]}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _result(d: Diagnostic) -> dict[str, Any]:
    level = d.severity if d.severity in ("error", "warning") else "note"
    result: dict[str, Any] = {"ruleId": d.code, "level": level, "message": {"text": _message(d)}}
    if d.span:
        result["locations"] = [{"physicalLocation": _location(d.span)}]
    return result


def _location(span: Span) -> dict[str, Any]:
    region = {"startLine": max(span.line, 1), "startColumn": max(span.column, 1)}
    if span.end_line >= span.line and span.end_column > 0:
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    return {"artifactLocation": {"uri": span.file.replace("\\", "/")}, "region": region}
