"""A few fixed seeds of the fuzzer: what is accepted is right, and most of what means something is accepted."""

import pytest

from tests.fuzz.check import Finding, check
from tests.fuzz.cuda_c import spelled
from tests.fuzz.generate import Arg, Kernel, Program, generate
from tests.fuzz.shrink import shrink

# `make fuzz` tries thousands; these take a second or less each. A seed that shows a bug is put here once it is fixed.
SEEDS = (*range(24), 37, 38, 39, 40, 100056)
CUDA_SEEDS = (*range(12), 100139, 100145)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernels(seed):
    program = generate(seed)
    found = check(program, gradients=seed % 8 == 0, twice=seed % 8 == 1, variants=(0,))
    assert [f for f in found if f.is_bug] == [], program.source


@pytest.mark.parametrize("seed", CUDA_SEEDS)
def test_random_kernels_of_cuda_c(seed):
    program = spelled(generate(seed, c=True))
    found = check(program, gradients=seed % 8 == 0, twice=False, variants=(0,))
    assert [f for f in found if f.is_bug] == [], program.source


def test_the_same_seed_gives_the_same_program():
    assert generate(3) == generate(3) and generate(3).source != generate(4).source


def test_generated_kernels_are_mostly_accepted():
    """A fuzzer whose kernels are refused proves nothing."""
    from kraise import pipeline

    done = [(pipeline.translate(p.source, "fuzz.py"), p) for p in map(generate, range(100, 112))]
    assert sum(len(d.raised) for d, _ in done) >= 0.6 * sum(len(p.kernels) for _, p in done)


SQUARE = "def f(x, out):\n    for i in range(out.shape[0]):\n        t = 1.0\n        out[i] = x[i] * x[i]\n"
KERNEL = Kernel("f", (Arg("x", ("n",), "f"), Arg("out", ("n",), "f")), ())


def test_a_wrong_translation_is_seen(monkeypatch):
    """The check can fail: a translation with another sign is wrong, one that does not run raises."""
    from kraise import pipeline

    program = Program(SQUARE, (KERNEL,), 1)
    assert check(program, gradients=True) == [Finding("f", "ok")]
    right = pipeline.translate
    for before, after, kind in (("return ", "return -", "wrong"), ("return ", "return missing * ", "raises")):

        def broken(source, file, before=before, after=after):
            done = right(source, file)
            text = done.text.replace(before, after)
            assert text != done.text
            object.__setattr__(done, "text", text)
            return done

        monkeypatch.setattr(pipeline, "translate", broken)
        assert [f.kind for f in check(program, gradients=False)] == [kind]
        monkeypatch.setattr(pipeline, "translate", right)


def test_shrinking_keeps_what_matters():
    small = shrink(Program(SQUARE, (KERNEL,), 1), "f", lambda p: "x[i] * x[i]" in p.source, seconds=5)
    assert "t = 1.0" not in small.source and "x[i] * x[i]" in small.source
