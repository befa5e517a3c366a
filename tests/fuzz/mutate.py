"""Mutated real files through both front ends: whatever the bytes are, a translation ends in diagnostics, soon, in
little memory. ``python -m tests.fuzz.mutate --seconds 60`` hunts; tests/fuzz/test_mutate.py is a short fixed run."""

from __future__ import annotations

import argparse
import random
import re
import resource
import signal
import sys
import time
from pathlib import Path

from kraise import pipeline

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS, MOST_BYTES = 10.0, 1 << 30
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
INSERTED = (
    "(", ")", "[", "]", "{", "}", ";", ":", ",", "\\", '"', "'", '"""', "/*", "*/", "//", "#", "#define X X\n",
    "#if 0\n", "\r", "\n", "\f", "\0", "\ufeff", "\u202e", "é", "-", "~", "<<", "<<<", "0x", "1e999", "9" * 40, "if",
    "for", "while", "return", "lambda", "template <", "::", "->", "...", "??/", "L'x'", "1'000", "0b1", "jnp", "async",
    "__shared__", "yield", "del",
)  # fmt: skip


def sources() -> list[tuple[str, str]]:
    """The samples' kernels: name and text."""
    found = sorted([*ROOT.glob("samples/*/kernel.py"), *ROOT.glob("samples/*/kernel.cu")])
    return [(p.name, p.read_text(encoding="utf-8")) for p in found]


def mutated(text: str, other: str, rng: random.Random) -> str:
    """``text`` with one to four things wrong with it."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        tokens = TOKEN.findall(text) or [""]
        at = rng.randrange(len(tokens))
        match rng.randrange(9):
            case 0:
                text = text[: rng.randrange(len(text) + 1)]
            case 1:
                del tokens[at : at + rng.choice((1, 1, 2, 8))]
                text = "".join(tokens)
            case 2:
                tokens[at:at] = [tokens[at]] * rng.choice((1, 2, 200))
                text = "".join(tokens)
            case 3:
                to = rng.randrange(len(tokens))
                tokens[at], tokens[to] = tokens[to], tokens[at]
                text = "".join(tokens)
            case 4 | 5:
                tokens.insert(at, rng.choice(INSERTED))
                text = "".join(tokens)
            case 6:
                place = rng.randrange(len(text) + 1)
                text = (
                    text[:place] + chr(rng.choice((rng.randrange(1, 128), rng.randrange(128, 0x2FFF)))) + text[place:]
                )
            case 7:  # a piece of another file
                pieces = TOKEN.findall(other) or [""]
                start = rng.randrange(len(pieces))
                tokens[at:at] = pieces[start : start + rng.choice((1, 5, 40))]
                text = "".join(tokens)
            case _:
                words = [n for n, t in enumerate(tokens) if t.isidentifier()] or [at]
                tokens[rng.choice(words)] = tokens[rng.choice(words)]
                text = "".join(tokens)
    return text


class TooLong(BaseException):
    """A translation took more than its time."""


def judge(text: str, file: str) -> str:
    """ "" or what is wrong with how the translation ended."""

    def stop(*_: object) -> None:
        raise TooLong

    # seconds of this process: other work on the machine does not count
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        done = pipeline.translate(text, file)
    except TooLong:
        return f"more than {MOST_SECONDS:.0f} seconds"
    except BaseException as error:  # noqa: BLE001 - any that comes out is a bug
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if internal := [d for d in done.diagnostics if d.code == "KR900"]:
        return internal[0].reason
    if done.text is not None:
        try:
            compile(done.text, file, "exec")
        except (SyntaxError, ValueError) as error:
            return f"the emitted text does not compile: {error}"
    return ""


def mutant(seed: int, files: list[tuple[str, str]]) -> tuple[str, str]:
    """File name and text of a seed."""
    rng = random.Random(seed)
    name, text = rng.choice(files)
    return name, mutated(text, rng.choice(files)[1], rng)


def main() -> int:
    """Hunts until the time is up; returns 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutate", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--start", type=int, default=0)
    chosen = parser.parse_args()
    files, seed, bad = sources(), chosen.start, 0
    slowest = (0.0, 0)
    end = time.monotonic() + chosen.seconds
    while time.monotonic() < end:
        name, text = mutant(seed, files)
        began = time.process_time()
        said = judge(text, name)
        slowest = max(slowest, (time.process_time() - began, seed))
        if said:
            bad += 1
            print(f"seed {seed} {name}: {said}", flush=True)
        seed += 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{seed - chosen.start} mutants, {bad} bad, {memory} MiB at most")
    print(f"the slowest took {slowest[0]:.1f} s (seed {slowest[1]})")
    return 1 if bad or memory * 2**20 > MOST_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
