"""Pairs of elements whose indices differ in bits that all threads flip, and pairs that are not apart."""

from pathlib import Path

import pytest

from kraise import pipeline

SAMPLES = Path(__file__).parents[2] / "samples"
STEP = (SAMPLES / "bitonic_steps" / "kernel.py").read_text()
WALSH = (SAMPLES / "cuda_walsh_steps" / "kernel.cu").read_text()


def refused(text, file):
    done = pipeline.translate(text, file)
    return {d.code for d in done.diagnostics} if done.text is None else set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if other > i:", "if other > 0:"),
        ("i ^ j", "i | j"),
        ("i ^ j", "i ^ (j + i)"),
        ("if x[i] < x[other]:", "if x[i] < x[other + 1]:"),
    ],
)
def test_pairs_that_are_not_apart_are_refused(old, new):
    assert not refused(STEP, "kernel.py")
    assert old in STEP
    assert refused(STEP.replace(old, new), "kernel.py") & {"KR201", "KR202"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(i & bit) == 0", "(i & bit) != 1"),
        ("(i & bit) == 0", "(i & (bit + 1)) == 0"),
        ("i ^ bit;", "(unsigned char)i ^ bit;"),
        ("unsigned int pair = i ^ bit", "unsigned int pair = i ^ (bit & threadIdx.x)"),
    ],
)
def test_bits_that_are_not_flipped_are_refused(old, new):
    assert not refused(WALSH, "kernel.cu")
    assert old in WALSH
    assert refused(WALSH.replace(old, new), "kernel.cu") & {"KR201", "KR202"}
