"""Each code has a page, and a source that gives it with its text as a snapshot (KRAISE_SNAPSHOTS=1 writes them)."""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kraise import cli, pipeline
from kraise.diagnostics.codes import CODES, page
from kraise.diagnostics.formats import as_github, as_json, as_sarif
from kraise.diagnostics.text import render
from kraise.options import Options
from tests.diagnostics.fixtures import COMMANDS, FIXTURES

RENDERED = Path(__file__).parent / "rendered"
PACKAGE = Path(pipeline.__file__).parent
# what only a bug of kraise gives: no source is known that does (KR108: the front ends say it earlier, as KR105)
BUGS = {"KR108", "KR301", "KR302", "KR303", "KR304", "KR305", "KR900"}
OPTIONS = {"KR308": Options(grad=("loss=y wrt z",)), "KR208": Options(assume=("idx rises",))}


def findings(code):
    file, source = FIXTURES[code]
    return pipeline.translate(source, file, OPTIONS.get(code, Options())).diagnostics


def test_each_code_has_a_fixture_or_a_reason():
    assert sorted([*FIXTURES, *COMMANDS, *BUGS]) == sorted(CODES)


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
    as_in_the_snapshot(code, render(found, {file: source}))


class _Entry:
    """What CliRunner calls: :func:`kraise.cli.main` in place of click's own main."""

    name = "kraise"

    def main(self, args, **extra):
        cli.main(args)


@pytest.mark.parametrize("code", sorted(COMMANDS))
def test_what_the_command_line_says(code, tmp_path, monkeypatch):
    files, command = COMMANDS[code]
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(_Entry(), command.split())
    assert done.exit_code and code in done.stderr
    as_in_the_snapshot(code, done.stderr.replace(f"{tmp_path}/", ""))


def as_in_the_snapshot(code, text):
    snapshot = RENDERED / f"{code}.txt"
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
