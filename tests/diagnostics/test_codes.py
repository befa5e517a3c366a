"""Each code has a page, and a source that gives it with its text as a snapshot (KRAISE_SNAPSHOTS=1 writes them)."""

import json
import os
import re
from pathlib import Path

import pytest

from kraise import pipeline
from kraise.diagnostics.codes import CODES, page
from kraise.diagnostics.formats import as_github, as_json, as_sarif
from kraise.diagnostics.text import render
from kraise.options import Options
from tests.diagnostics.fixtures import FIXTURES

RENDERED = Path(__file__).parent / "rendered"
PACKAGE = Path(pipeline.__file__).parent
# given by the command line or by verify, bugs of kraise that no source should reach, or no smallest source found yet
ELSEWHERE = {
    "KR106", "KR108", "KR205", "KR208", "KR210", "KR211", "KR301", "KR302", "KR303", "KR304", "KR305", "KR306",
    "KR401", "KR402", "KR403", "KR404", "KR405", "KR406", "KR501", "KR502", "KR900",
}  # fmt: skip


def findings(code):
    file, source = FIXTURES[code]
    options = Options(grad=("loss=y wrt z",)) if code == "KR308" else Options()
    return pipeline.translate(source, file, options).diagnostics


def test_each_code_has_a_fixture_or_a_reason():
    assert {*FIXTURES} | ELSEWHERE == {*CODES} and not {*FIXTURES} & ELSEWHERE


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_has_a_page_and_a_place(code):
    text = page(code)
    assert text.startswith(f"{code}: {CODES[code].title}\n") and "What to do: " in text
    places = [p for p in PACKAGE.rglob("*.py") if p.name != "codes.py" and f'"{code}"' in p.read_text("utf-8")]
    assert places, f"nothing gives {code}"


@pytest.mark.parametrize("code", sorted(FIXTURES))
def test_rendered(code):
    file, source = FIXTURES[code]
    found = findings(code)
    assert code in {d.code for d in found}
    text, snapshot = render(found, {file: source}), RENDERED / f"{code}.txt"
    if os.environ.get("KRAISE_SNAPSHOTS"):
        snapshot.write_text(text, encoding="utf-8")
    assert text == snapshot.read_text("utf-8")


@pytest.mark.parametrize("code", sorted(FIXTURES))
def test_formats_for_machines(code):
    found = findings(code)
    rows = json.loads(as_json(found))["diagnostics"]
    assert [r["code"] for r in rows] == [d.code for d in found]
    commands = as_github(found).splitlines()
    assert len(commands) == len(found)
    assert all(
        re.match(r"::(error|warning|notice) (file=[^,]+,line=\d+,col=\d+,)?title=KR\d{3}[^:]*::", c) for c in commands
    )
    sarif(json.loads(as_sarif(found)))


def sarif(log):
    """What the schema of SARIF 2.1.0 demands of the properties that are written."""
    assert log["version"] == "2.1.0" and {*log} == {"$schema", "version", "runs"}
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kraise" and run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    rules = [r["id"] for r in driver["rules"]]
    assert len(rules) == len({*rules}) and all(
        r["shortDescription"]["text"] and r["help"]["text"] for r in driver["rules"]
    )
    for result in run["results"]:
        assert result["ruleId"] in rules and result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        for location in result.get("locations", ()):
            region = location["physicalLocation"]["region"]
            assert location["physicalLocation"]["artifactLocation"]["uri"]
            assert region["startLine"] >= 1 and region["startColumn"] >= 1
            assert region.get("endLine", region["startLine"]) >= region["startLine"]
            assert region.get("endColumn", 1) >= 1
