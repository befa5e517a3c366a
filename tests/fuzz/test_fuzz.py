"""A few fixed seeds of the fuzzer: what is accepted is right, and most of what means something is accepted."""

import pytest

from kraise import pipeline
from kraise.raising.gradients.picked import Points
from tests.fuzz.check import Finding, check
from tests.fuzz.cuda_c import spelled
from tests.fuzz.drawing import drawn
from tests.fuzz.generate import Arg, Kernel, Program, generate
from tests.fuzz.kinds import KINDS
from tests.fuzz.shrink import shrink

# `make fuzz` tries thousands; these take a second or less each. A seed that shows a bug is put here once it is fixed.
SEEDS = (*range(24), 37, 38, 39, 40, 100056)
CUDA_SEEDS = (*range(12), 100139, 100145)


def tiered(seeds, without_a_find):
    """The seeds; of the first ones, which never showed a bug, each third is in the first tier."""
    return [pytest.param(n, marks=[pytest.mark.long] if n < without_a_find and n % 3 else []) for n in seeds]


@pytest.mark.parametrize("seed", tiered(SEEDS, 24))
def test_random_kernels(seed):
    program = generate(seed)
    found = check(program, gradients=seed % 8 == 0, twice=seed % 8 == 1, variants=(0,))
    assert [f for f in found if f.is_bug] == [], program.source


@pytest.mark.parametrize("seed", tiered(CUDA_SEEDS, 12))
def test_random_kernels_of_cuda_c(seed):
    program = spelled(generate(seed, c=True))
    found = check(program, gradients=seed % 8 == 0, twice=False, variants=(0,))
    assert [f for f in found if f.is_bug] == [], program.source


def test_the_same_seed_gives_the_same_program():
    assert generate(3) == generate(3) and generate(3).source != generate(4).source


def test_generated_kernels_are_mostly_accepted():
    """A fuzzer whose kernels are refused proves nothing."""
    done = [(pipeline.translate(p.source, "fuzz.py"), p) for p in map(generate, range(100, 106))]
    assert sum(len(d.raised) for d, _ in done) >= 0.6 * sum(len(p.kernels) for _, p in done)


SQUARE = "def f(x, out):\n    for i in range(out.shape[0]):\n        t = 1.0\n        out[i] = x[i] * x[i]\n"
KERNEL = Kernel("f", (Arg("x", ("n",), "f"), Arg("out", ("n",), "f")), ())


def test_a_wrong_translation_is_seen(monkeypatch):
    """The check can fail: a translation with another sign is wrong, one that does not run raises."""
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


CHAOS = """def f(x, out):
    for i in range(out.shape[0]):
        t = 1000.0 * x[i]
        for l in range(5):
            t = 40.0 * (t * t * t % 1.0) + 1.0
        out[i] = t * 5.0 if i % 2 == 0 else x[i] * 5.0
"""


@pytest.mark.parametrize("seed", [1, 3])  # of 32 bits, widened to 64, and of 64
@pytest.mark.parametrize(
    "before, after, kind",
    [("1000.0", "1000.25", "discarded"), ("x[:n] * 5.0", "x[:n] * 5.1", "wrong")],
)
def test_what_rounding_in_64_bits_decides_is_no_wrong_value(monkeypatch, seed, before, after, kind):
    """The elements that the reference itself moves as far are excused, and no others (1006708 f1)."""
    program = Program(CHAOS, (KERNEL,), seed)
    done = pipeline.translate(CHAOS, "fuzz.py")
    assert before in done.text, done.text
    object.__setattr__(done, "text", done.text.replace(before, after))
    monkeypatch.setattr(pipeline, "translate", lambda source, file: done)
    assert [f.kind for f in check(program, gradients=False, twice=False, variants=(0,))] == [kind]


def test_shrinking_keeps_what_matters():
    small = shrink(Program(SQUARE, (KERNEL,), 1), "f", lambda p: "x[i] * x[i]" in p.source, seconds=5)
    assert "t = 1.0" not in small.source and "x[i] * x[i]" in small.source


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_programs_of_each_kind(kind):
    """A seed of each kind of program in each language; with :func:`test_further_programs_of_each_kind` three."""
    of_a_kind(kind, range(2))


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_further_programs_of_each_kind(kind):
    of_a_kind(kind, range(2, 3))


def of_a_kind(kind, seeds):
    for seed in seeds:
        program = drawn(seed, ("python", "cuda_c")[seed % 2], kind)
        assert drawn(seed, ("python", "cuda_c")[seed % 2], kind) == program
        found = check(program, gradients=False, twice=False, variants=(0,))
        assert [f for f in found if f.is_bug] == [], program.source


def test_slopes_that_do_not_count_are_drawn(monkeypatch):
    """What the kind `picked` is for: finite with the rule, and not without it."""
    found = lambda: {f.kind for f in check(drawn(7, "cuda_c", "picked"), gradients=True, twice=False, variants=(0,))}  # noqa: E731
    assert found() == {"ok"}
    monkeypatch.setattr(Points, "holds", lambda *_: False)
    assert found() == {"nan"}


@pytest.mark.parametrize("seed, language", [(311, "cuda_c"), (420, "python")])
def test_a_number_that_is_divided_by_may_be_zero(seed, language):
    """``min(2 / sqrt(w), 9)`` where w is the same for all threads, and 0: the forward derivative was not finite."""
    program = drawn(seed, language, "picked")
    assert [f.kind for f in check(program, gradients=True, twice=False)] == ["ok"], program.source
