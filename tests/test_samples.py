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
# (those that take seconds are long: where the first tier has small kernels of their forms)
SLOW = {
    "cuda_flat_tiles": "raising/test_pitched.py",
    "cuda_halo_tiles": "raising/test_edges.py",
    "cuda_blelloch_scan": "raising/test_outlets.py",
    "cuda_scan_by_size": "raising/test_outlets.py",
    "cuda_tile_sizes": "raising/test_tile_sizes.py",
    "cuda_turned_tiles": "raising/test_tile_sizes.py",
    "halo_tiles": "raising/test_edges.py",
    "bitonic_blocks": "raising/test_butterflies.py",
    "cuda_shared_scratch": "raising/test_block_helpers.py",
    "cuda_volatile_tail": "raising/test_in_step.py",
    "cuda_product_tiles": "raising/test_numbered_tiles.py",
    "tiled_laplace": "raising/test_edges.py",
    "cuda_best_lane": "raising/test_picks.py",
    "cuda_row_trees": "raising/test_trees.py",
    "cuda_block_helpers": "raising/test_block_helpers.py",
    "cuda_warp_reductions": "raising/test_warps.py",
    "cuda_paired_sort": "raising/test_unrolled.py",
    "cuda_shuffle_scan": "raising/test_block_scans.py",
    "cuda_transpose_rows": "raising/test_in_step.py",
}


def _tiered(every=1):
    """All samples; each ``every``-th, and none of the slow ones, in the first tier."""
    return [
        pytest.param(s, id=s.name, marks=[pytest.mark.long] if n % every or s.name in SLOW else [])
        for n, s in enumerate(SAMPLES)
    ]


every_sample = pytest.mark.parametrize("sample", _tiered())


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


@pytest.mark.parametrize("sample", _tiered(6))
def test_values_gradients_and_form(sample):
    """Of each sixth sample in the first tier: what is compared is the text, which is what it was when it was written
    and compared (``make golden``)."""
    done = sample.translated()
    text_of(sample, done)
    assert sample.failures(done) == []


@every_sample
def test_hosts_are_legal(sample):
    source = sample.translated().source
    for host in source.hosts:
        assert problems(host, {f.name for f in source.functions}) == []


def test_forms_of_slow_samples_are_tried_in_small():
    assert SLOW.keys() <= {s.name for s in SAMPLES}
    assert all((ROOT / "tests" / file).exists() for file in SLOW.values())


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
