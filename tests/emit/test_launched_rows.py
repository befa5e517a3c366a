"""Rows that the launch counts: columns beyond their ends are zeros that a mask asks for, and nothing else."""

from pathlib import Path

import pytest

from kraise import pipeline

FOLDER = Path(__file__).parents[2] / "samples" / "cuda_launched_rows"
TEXT = (FOLDER / "kernel.cu").read_text()


def failures(text):
    done = pipeline.translate(text, "kernel.cu")
    case = str(FOLDER / "case.toml")
    reports, found = pipeline.verify(done, pipeline.Request(case=case, gradients=False), "kernel.cu", text)
    assert len(reports) == 1
    return [r for r in reports[0].failures if r.check != "form"], done.text or ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x >= REACH ? row", "x > REACH ? row"),
        ("x + STRIP < width ? row[x + STRIP] : 0.0f", "x + STRIP < width - 1 ? row[x + STRIP] : 1.5f"),
        ("x >= REACH ? row[x - REACH]", "blockIdx.y > 0 || x >= REACH ? row[x - REACH]"),
        ("in + blockIdx.y * width", "in + (gridDim.y - 1 - blockIdx.y) * width"),
        ("x < width ? row[x]", "x < width - 2 ? row[x]"),
        ("if (x < width) {", "if (x < width - 2 && x > 1) {"),
    ],
)
def test_other_masks_keep_their_values(old, new):
    assert old in TEXT
    failed, _ = failures(TEXT.replace(old, new))
    assert not failed


def test_the_cells_before_a_row_are_those_of_the_row_before_it():
    _, text = failures(TEXT.replace("x >= REACH ? row[x - REACH]", "blockIdx.y > 0 || x >= REACH ? row[x - REACH]"))
    assert "in_padded" not in text
