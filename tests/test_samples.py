"""One corpus, every property: golden text, order and idempotence, lint, values and gradients, form."""

import subprocess
import sys
from pathlib import Path

import pytest

from kraise import pipeline
from kraise.diagnostics.text import render
from kraise.ir.validate_host import problems
from tests.corpus import ROOT, SAMPLES

# the tests of a sample run in one process, which translates it once (conftest.py)
every_sample = pytest.mark.parametrize("sample", [pytest.param(s, id=s.name) for s in SAMPLES])


def text_of(sample, done):
    """The emitted text; the test fails with the findings if a kernel was refused."""
    errors = [d for d in done.diagnostics if d.severity == "error"]
    assert done.text and not errors, "\n" + render(errors, {str(sample.source): sample.source.read_text()})
    return done.text


@every_sample
def test_golden(sample):
    assert sample.golden.exists(), "make golden writes it"
    assert text_of(sample, sample.translated()) == sample.golden.read_text(encoding="utf-8"), (
        "make golden, and read the diff"
    )


@every_sample
def test_values_gradients_and_form(sample):
    """Against the interpreter and its derivatives, and CUDA C against what the compiler makes of it."""
    done = sample.translated()
    text_of(sample, done)
    source = sample.source.read_text()
    request = pipeline.Request(case=str(sample.folder / "case.toml"), original=sample.compiled)
    beside = (str(sample.source), source, sample.options) if sample.compiled else ()
    reports, left_out = pipeline.verify(done, request, *beside)
    assert not left_out
    assert {report.kernel for report in reports} == set(done.raised)
    for report in reports:
        failed = [f"{report.kernel}: {row.check} {row.what}: {row.message}" for row in report.failures]
        assert report.ok, "\n".join(failed) or "nothing was compared"
    if sample.compiled:
        as_compiled(done, source, [row for report in reports for row in report.rows if row.check == "original"])


def as_compiled(done, source, rows):
    """Every kernel was compared: hosts need a CUDA runtime, a loop of a host that became a function is none of the
    file."""
    hosts = {h.name for h in done.source.hosts}
    none = {row.what for row in rows if row.status == "skipped" and (row.what in hosts or f"{row.what}(" not in source)}
    compared = [row for row in rows if row.what not in none]
    assert compared and all(row.status == "ok" for row in compared), rows


@every_sample
def test_hosts_are_legal(sample):
    source = sample.translated().source
    for host in source.hosts:
        assert problems(host, {f.name for f in source.functions}) == []


def test_goldens_are_clean():
    files = [str(s.golden) for s in SAMPLES if s.golden.exists()]
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["format", "--check", "--diff"], ["check"]):
        done = subprocess.run([*ruff, *command, "--isolated", "--no-cache", *files], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_bytes_do_not_depend_on_hash_seed_order_or_folder(tmp_path):
    """Fresh processes with other hash seeds, the files in another order and under another folder: the same bytes."""
    few = SAMPLES[:: max(1, len(SAMPLES) // 8)]
    for seed, order in (("1", few), ("2", tuple(reversed(few)))):
        folder = tmp_path / seed
        for sample in order:
            (folder / sample.name).mkdir(parents=True)
            (folder / sample.name / sample.source.name).write_text(sample.source.read_text())
        script = (
            "import sys; from pathlib import Path; from kraise import pipeline\n"
            "for f in sys.argv[1:]:\n"
            "    t = pipeline.translate(Path(f).read_text(), f)\n"
            "    Path(f).with_name('out.py').write_text(t.text or '')\n"
        )
        files = [str(folder / s.name / s.source.name) for s in order]
        subprocess.run([sys.executable, "-c", script, *files], env={"PYTHONHASHSEED": seed}, check=True, cwd=ROOT)
    for sample in few:
        one, two = (Path(tmp_path, seed, sample.name, "out.py").read_text() for seed in ("1", "2"))
        assert one == two and (
            not sample.golden.exists() or sample.options != pipeline.DEFAULTS or one == sample.golden.read_text()
        )
