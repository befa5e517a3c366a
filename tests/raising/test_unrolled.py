"""Log-step loops with barriers, written out; their racy twins."""

from pathlib import Path

import pytest

from kraise.pipeline import Request, translate
from tests.checks import agrees

SAMPLES = Path(__file__).parents[2] / "samples"
ARGMIN = (SAMPLES / "cuda_block_argmin" / "kernel.cu").read_text()
BITONIC = (SAMPLES / "bitonic_blocks" / "kernel.py").read_text().replace("N = 8", "N = 4")  # is quicker


def codes(source, file):
    """The codes with which the kernel is refused."""
    done = translate(source, file)
    assert done.text is None
    return {d.code for d in done.diagnostics}


def test_steps_are_whole_array_statements():
    """Steps that are more than an extremum and its place."""
    text = translate(ARGMIN.replace("= index[t + w];", "= index[t + w] + 1;"), "kernel.cu").text or ""
    assert text.count("index.at[") == 4
    assert "fori_loop" not in text


@pytest.mark.parametrize("twin", ["t + w - 1", "t + 1"])
@pytest.mark.long_cases("t + 1")
def test_steps_that_overlap_are_races(twin):
    assert "KR201" in codes(ARGMIN.replace("t + w", twin), "kernel.cu")


def test_a_tree_without_its_barrier_is_a_race():
    assert "KR201" in codes(ARGMIN.replace("    __syncthreads();\n  }\n  if", "  }\n  if"), "kernel.cu")


def test_a_network_without_its_barrier_is_a_race():
    assert "KR201" in codes(BITONIC.replace("            cuda.syncthreads()\n", ""), "kernel.py")


@pytest.mark.long
def test_partners_that_meet_are_a_race():
    assert "KR201" in codes(BITONIC.replace("t ^ j", "(t + j) % N"), "kernel.py")


@pytest.mark.parametrize("n", [5, 8])
@pytest.mark.long_cases("8")
def test_rounds_that_sizes_decide_are_not_written_out(n):
    done = translate(ARGMIN.replace("int w = BLOCK / 2", "int w = n"), "kernel.cu")
    assert done.text is not None and done.text.count("fori_loop") == 1
    case = {"shapes": {"x": (n,), "least": (1,), "where": (1,)}, "values": {"n": n}, "grid": (1,), "block": (16,)}
    agrees(done, Request(**case), n)


PAIRS = (SAMPLES / "cuda_paired_sort" / "kernel.cu").read_text().replace("CELLS 8", "CELLS 4")  # is quicker


def test_two_cells_for_each_thread_bound_the_block():
    # of an array with more cells (than in the sample) the stretch of a block says it: 4 cells, two for each thread
    wide = translate(PAIRS.replace("s[CELLS]", "s[2 * CELLS]"), "kernel.cu").text or ""
    assert "a block has 2 threads along x" in wide and "if block is not None and block != 2" in wide


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("      __syncthreads();\n", ""),
        ("(t & (stride - 1))", "(t & stride)"),
        ("2 * t - (t & (stride - 1))", "t"),
        ("  __syncthreads();\n  sorted", "  sorted"),
    ],
)
@pytest.mark.long_cases("2 * t", "sorted")
def test_pairs_that_meet_are_races(old, new):
    assert old in PAIRS
    assert "KR201" in codes(PAIRS.replace(old, new), "kernel.cu")
