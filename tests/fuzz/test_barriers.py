"""A few mutants of samples with barriers: none that is accepted races; and the judge can tell one that does."""

import pytest

from tests.corpus import SAMPLES
from tests.fuzz.barriers import Mutant, judge, mutants

BY_NAME = {s.name: s for s in SAMPLES}
FEW = ("tiled_transpose", "cuda_two_launch_sum", "thread_arrays")


@pytest.mark.parametrize("name", FEW)
def test_mutants_of_barriers(name):
    found = list(mutants(BY_NAME[name]))
    assert len(found) > 4
    for mutant in found[::4]:
        assert not [f for f in judge(mutant) if f.is_bug], mutant.change


def test_every_sample_with_a_barrier_has_mutants():
    assert sum(1 for s in SAMPLES if next(mutants(s), None)) >= 30


def test_a_race_that_is_accepted_is_seen(monkeypatch):
    """The translation of the sound sample, given out as that of the racy one."""
    from kraise import pipeline

    sample = BY_NAME["tiled_transpose"]
    sound, right = sample.translate(), pipeline.translate
    racy = next(m for m in mutants(sample) if m.change.startswith("no barrier"))

    def accepting(source, file, options):
        done = right(source, file, options)
        for name, value in (("text", sound.text), ("raised", sound.raised)):
            object.__setattr__(done, name, value)
        return done

    monkeypatch.setattr(pipeline, "translate", accepting)
    assert {f.kind for f in judge(Mutant(sample, racy.change, racy.source))} & {"race", "wrong"}


LEFT = """__global__ void f(const float *x, float *y) {
  __shared__ float best[4][8];
  int c = threadIdx.x, r = threadIdx.y;
  best[r][c] = x[r * 8 + c];
  __syncthreads();
  for (int half = 2; half > 0; half /= 2) {
    if (r < half) best[r][c] = fmaxf(best[r][c], best[r + half][c]);
    __syncthreads();
  }
  for (int half = 4; half > 0; half /= 2) {
    if (r == 0 && c < half) best[0][c] = fmaxf(best[0][c], best[1][c + half]);
    __syncthreads();
  }
  if (r == 0 && c == 0) y[0] = best[0][0];
}
"""


def test_a_loop_that_reads_what_a_tree_leaves_is_right_or_refused():
    """The loop took row 1 for what it was before the tree (a mutant of cuda_tree_2d)."""
    from tests.fuzz.check import check
    from tests.fuzz.generate import Arg, Kernel, Program

    args = (Arg("x", ("k",), "f", flat=True), Arg("y", ("n",), "f"))
    kernel = Kernel("f", args, ("m", "m"), (8, 4), (("k", (32,)), ("m", (4,)), ("n", (2,))))
    found = check(Program(LEFT, (kernel,), 1, "f.cu"), gradients=False, variants=(0,))
    assert [f.kind for f in found] in (["ok"], ["refused"]), found
