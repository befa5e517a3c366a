"""Findings as text and for machines, and the table of codes."""

import json
import re
from pathlib import Path

from kraise.diagnostics import Diagnostic, Span
from kraise.diagnostics.codes import CODES, page
from kraise.diagnostics.formats import as_github, as_json, as_sarif
from kraise.diagnostics.text import render

ROOT = Path(__file__).parents[2]


def shown(span, text):
    return render([Diagnostic("KR101", "no", span)], {"a.py": text}).split("\n")[1:-1]


def test_caret_under_the_span():
    assert shown(Span("a.py", 2, 5, 2, 8), "x\nabc def\n") == ["  2 | abc def", "    |     ^^^"]
    assert shown(Span("a.py", 1, 1), "abc\n") == ["  1 | abc", "    | ^"]
    assert shown(Span("a.py", 1, 3, 2, 1), "if a:\n  b\n") == ["  1 | if a:", "    |   ^^^"]


def test_caret_after_tabs_and_wide_characters():
    assert shown(Span("a.py", 1, 2, 1, 3), "\tx = 1\n")[1] == "    |     ^"
    assert shown(Span("a.py", 1, 7, 1, 8), "'日本' x\n") == ["  1 | '日本' x", "    |         ^"]


def test_a_long_line_is_cut_around_the_caret():
    line, caret = shown(Span("a.py", 1, 500_001, 1, 500_002), "a" * 500_000 + "X" + "b" * 500_000 + "\n")
    assert len(line) < 130 and line[caret.index("^")] == "X"


def test_places_outside_the_text_do_no_harm():
    for line, column in ((0, 1), (9, 1), (1, 99), (1, 0), (2, 1)):
        out = render([Diagnostic("KR101", "no", Span("a.py", line, column))], {"a.py": "abc\n"})
        assert out.startswith(f"a.py:{line}:{column}: error KR101: no\n")
    assert render([Diagnostic("KR101", "no")], {}) == "kraise: error KR101: no\n"


def test_control_characters_of_a_source_do_not_reach_the_terminal():
    out = render([Diagnostic("KR101", "odd \x1b[2J", Span("a.py", 1, 1))], {"a.py": "x = '\x1b[31m\u202e'\n"})
    assert "\x1b" not in out and "\u202e" not in out


def test_causes_innermost_first():
    inner = Diagnostic("KR205", "not affine", Span("a.py", 3, 1))
    outer = Diagnostic("KR203", "carried", Span("a.py", 2, 1), causes=(inner,))
    out = render([Diagnostic("KR299", "refused", Span("a.py", 1, 1), causes=(outer,))], {})
    assert out.split("\n")[1:3] == ["  because a.py:3:1: KR205: not affine", "  because a.py:2:1: KR203: carried"]


def test_grouped_by_kernel():
    def one(line, name):
        return Diagnostic("KR101", f"{line}", Span("a.py", line), kernel=name)

    out = render([one(1, "f"), one(2, "g"), one(3, "f")], {})
    assert re.findall(r"in kernel `(.)`|KR101: (.)", out) == [("f", ""), ("", "1"), ("", "3"), ("g", ""), ("", "2")]


FINDING = Diagnostic("KR201", "100% a\nb", Span("d,1/a.py", 3, 5, 3, 9), "do: x", "f")


def test_json():
    (row,) = json.loads(as_json([FINDING]))["diagnostics"]
    assert row == {
        "code": "KR201",
        "severity": "error",
        "reason": "100% a\nb",
        "hint": "do: x",
        "kernel": "f",
        "title": CODES["KR201"].title,
        "file": "d,1/a.py",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 9,
    }


def test_github():
    assert as_github([FINDING]) == (
        "::error file=d%2C1/a.py,line=3,col=5,title=KR201 Race between threads"
        "::kernel `f`: 100%25 a%0Ab%0Ahint: do: x\n"
    )


def test_sarif():
    (run,) = json.loads(as_sarif([FINDING]))["runs"]
    assert run["tool"]["driver"]["rules"][0]["id"] == run["results"][0]["ruleId"] == "KR201"
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9}


def test_every_code_that_is_used_has_a_page():
    used = set()
    for file in (ROOT / "kraise").rglob("*.py"):
        used |= set(re.findall(r"\"(KR\d{3})\"", file.read_text()))
    assert used <= set(CODES), used - set(CODES)
    for code in CODES:
        text = page(code)
        assert text.startswith(f"{code}: ") and max(map(len, text.split("\n"))) <= 100


def test_rule(kraise):
    ran = kraise("rule", "kr201")
    assert ran.code == 0 and ran.out == page("KR201")
    assert kraise("rule").out.count("\n") == len(CODES)
    assert kraise("rule", "KR999").code == 2
