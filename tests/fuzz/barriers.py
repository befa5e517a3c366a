"""Samples with a barrier less, a barrier elsewhere, or a subscript of shared memory off by one: what is still accepted
must not race, and must give what the interpreter gives in any order of the threads.
``python -m tests.fuzz.barriers`` goes through all; tests/fuzz/test_barriers.py is a short fixed part."""

from __future__ import annotations

import argparse
import collections
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraise import pipeline
from kraise.verify.cases import Case, load_cases
from kraise.verify.inputs import launch_for
from tests.corpus import SAMPLES, Sample
from tests.fuzz.check import Finding, judged
from tests.fuzz.together import together

BARRIER = re.compile(r"cuda\.syncthreads\(\)|cuda\.syncwarp\([^()]*\)|__sync(threads|warp)\([^()]*\);|\b\w+\.sync\(\);")
SHARED = re.compile(r"\b(\w+)\s*=\s*cuda\.shared\.array|__shared__\s+[\w\s:<>]*?\b(\w+)\s*\[")


@dataclass(frozen=True)
class Given:
    """A kernel on the arguments of its sample's case."""

    name: str
    arguments: Case
    threads: tuple[str, ...] = ("x",)

    def case(self, seed: int, variant: int, smooth: bool = False) -> Case:
        """The sample's case, whatever the seed."""
        return self.arguments


@dataclass(frozen=True)
class Mutant:
    """A sample's source with one thing changed, and what that is."""

    sample: Sample
    change: str
    source: str


def mutants(sample: Sample) -> Iterator[Mutant]:
    """Every mutant of a sample that has barriers."""
    text = sample.source.read_text(encoding="utf-8")
    found = list(BARRIER.finditer(text))
    python = sample.source.suffix == ".py"
    for m in found:
        line = text.count("\n", 0, m.start()) + 1
        nothing = "pass" if python else ";"
        yield Mutant(sample, f"no barrier in line {line}", text[: m.start()] + nothing + text[m.end() :])
        lines = text.split("\n")
        for other in (line - 1, line + 1):
            if _may_change_places(lines, line, other):
                moved = list(lines)
                moved[line - 1], moved[other - 1] = moved[other - 1], moved[line - 1]
                yield Mutant(sample, f"barrier of line {line} in line {other}", "\n".join(moved))
    names = {a or b for a, b in SHARED.findall(text)} if found else set()
    for name in sorted(names):
        for m in re.finditer(rf"\b{name}\[([^][]+)\]", text):
            line = text.count("\n", 0, m.start()) + 1
            if SHARED.search(text.split("\n")[line - 1]):
                continue
            first = m[1].split(",")[0]
            for by in ("+ 1", "- 1"):
                at = m.start(1) + len(first)
                yield Mutant(sample, f"{name}[{m[1]}] {by} in line {line}", f"{text[:at]} {by}{text[at:]}")


def _may_change_places(lines: list[str], line: int, other: int) -> bool:
    """Are both lines whole statements of one block?"""
    if not 0 < other <= len(lines):
        return False
    a, b = lines[line - 1], lines[other - 1]
    alone = BARRIER.fullmatch(a.strip()) is not None
    plain = b.strip().endswith(";") if ";" in a else re.match(r"\s*[\w\[\], .+*/%-]+ [-+*/]?= ", b) is not None
    return alone and plain and len(a) - len(a.lstrip()) == len(b) - len(b.lstrip())


def judge(mutant: Mutant) -> list[Finding]:
    """What becomes of each kernel of the sample for which there are arguments."""
    done = pipeline.translate(mutant.source, str(mutant.sample.source), mutant.sample.options)
    cases = load_cases(mutant.sample.folder / "case.toml")
    kernels = [f.name for f in (done.source.functions if done.source else ()) if f.kind == "kernel"]
    given = [Given(name, launched(done, cases[name])) for name in kernels if name in cases]
    found = together([judged(done, one, 0) for one in given], least=2)  # type: ignore[arg-type]
    if not mutant.change.startswith("no barrier"):
        return found
    # without its barrier a thread may read what no other has stored yet: the interpreter stops there, before the race
    lost = [f.kind == "discarded" and f.message == "UndefinedRead" and f.kernel in done.raised for f in found]
    return [replace(f, kind="race") if early else f for f, early in zip(found, lost, strict=True)]


def launched(done: pipeline.Translation, case: Case) -> Case:
    """The case with its launch, or with one that covers what the kernel guards, as ``kraise verify`` takes it."""
    assert done.source is not None
    if case.grid is not None:
        return case
    grid, block = launch_for(done.source, done.source.function(case.kernel), case.arguments(), case)
    return replace(case, grid=grid, block=block)


def main() -> int:
    """Tries the mutants of all samples (or those named); returns 1 if one of them is a bug."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.barriers", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=1e9)
    chosen = parser.parse_args()
    kinds: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + chosen.seconds
    bugs = 0
    for sample in SAMPLES:
        if chosen.names and sample.name not in chosen.names:
            continue
        for mutant in mutants(sample):
            if time.monotonic() > end:
                break
            for finding in judge(mutant):
                kinds[finding.kind] += 1
                if finding.is_bug:
                    bugs += 1
                    print(
                        f"{sample.name}, {mutant.change}: {finding.kernel} {finding.kind}: {finding.message}",
                        flush=True,
                    )
    print(", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main())
