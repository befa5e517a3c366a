"""Samples with a little of what they say changed (a number, a comparison, an operator, a name, two lines in the other
order): what is still accepted must not race, and must give what the interpreter gives.
``python -m tests.fuzz.nudged --seconds 300`` draws; tests/fuzz/test_nudged.py is a short fixed part."""

from __future__ import annotations

import argparse
import collections
import random
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from kraise import pipeline
from kraise.verify.cases import load_cases
from kraise.verify.errors import InterpreterError
from tests.corpus import SAMPLES, Sample
from tests.fuzz.barriers import Given, Mutant, launched
from tests.fuzz.check import Finding, judged
from tests.fuzz.together import together

PATIENCE = 60  # seconds for a mutant
TOKEN = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?\*/|#[^\n]*|\"\"\".*?\"\"\"|\"[^\"\n]*\"|'[^'\n]*'|@[^\n]*|import[^\n]*)"
    r"|(?P<real>\d+\.\d*(?:[eE][-+]?\d+)?[fF]?|\d+[eE][-+]?\d+[fF]?)|(?P<int>\b\d+\b)|(?P<name>\b[A-Za-z_]\w*\b)"
    r"|(?P<op><<=|>>=|<<|>>|[-+*/%&|^<>=!]=|\+\+|--|&&|\|\||->|//|\*\*|[-+*/%<>=&|^!])",
    re.S,
)
OTHER = {
    "<": ("<=", ">", "!="), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=", "<=", ">"),
    "!=": ("==", "<"), "+": ("-", "*"), "-": ("+",), "*": ("+", "-"), "/": ("*", "+"), "%": ("/", "+"), "//": ("%",),
    "+=": ("-=", "=", "*="), "-=": ("+=", "="), "*=": ("+=", "="), "=": ("+=",), "&&": ("||",), "||": ("&&",),
    "and": ("or",), "or": ("and",), "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&", "^"), "^": ("&",),
    "++": ("--",), "--": ("++",), ">>=": ("<<=",), "<<=": (">>=",), "/=": ("*=",), "//=": ("*=",),
}  # fmt: skip
PAIRS = (
    ("min", "max"), ("fminf", "fmaxf"), ("fmin", "fmax"), ("atomicAdd", "atomicMax"), ("atomicMin", "atomicMax"),
    ("__shfl_down_sync", "__shfl_up_sync"), ("__shfl_xor_sync", "__shfl_down_sync"), ("break", "continue"), ("x", "y"),
    ("blockIdx", "threadIdx"), ("threadIdx", "blockIdx"), ("sinf", "sqrtf"), ("sqrtf", "logf"), ("sqrt", "log"),
    ("any", "all"),
)  # fmt: skip
NAMES = dict(PAIRS) | {b: a for a, b in PAIRS}
WORDS = (
    "def return if else elif for while in range import from as not and or pass break continue None True False int float"
    " double void unsigned const char bool long short struct static template typename do switch case default sizeof"
    " __global__ __device__ __shared__ __restrict__ inline extern constexpr auto class self cuda np math numba"
)
KEYWORDS = frozenset(WORDS.split())


def mutants(sample: Sample, draw: random.Random) -> Iterator[Mutant]:
    """Mutants of a sample, without end, of one change or of two."""
    text = sample.source.read_text(encoding="utf-8")
    while True:
        source, said = text, []
        for _ in range(draw.choice((1, 1, 1, 2))):
            found = _changed(source, draw)
            if found is not None:
                source, change = found
                said.append(change)
        if said and source != text:
            yield Mutant(sample, "; ".join(said), source)


def _changed(text: str, draw: random.Random) -> tuple[str, str] | None:
    if draw.random() < 0.3:
        return _lines(text, draw)
    tokens = [m for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
    at = draw.randrange(len(tokens))
    m = tokens[at]
    new: str | None = None
    match m.lastgroup:
        case "int":
            value = int(m[0])
            new = str(draw.choice([v for v in (value + 1, value - 1, 0, 1, 2, 2 * value) if v != value]))
        case "op":
            new = draw.choice(OTHER.get(m[0], (None,)))
        case "name" if m[0] in NAMES:
            new = NAMES[m[0]]
        case "name" if m[0] not in KEYWORDS:
            near = {t[0] for t in tokens[max(at - 60, 0) : at + 60] if t.lastgroup == "name"} - KEYWORDS - {m[0]}
            new = draw.choice(sorted(near)) if near else None
    if new is None:
        return None
    line = text.count("\n", 0, m.start()) + 1
    return text[: m.start()] + new + text[m.end() :], f"{m[0]} is {new} in line {line}"


def _lines(text: str, draw: random.Random) -> tuple[str, str] | None:
    """A statement left out, written twice, or in the place of the next one."""
    lines = text.split("\n")
    python = "def " in text
    whole = [n for n, line in enumerate(lines) if _is_statement(line, python)]
    if not whole:
        return None
    at = draw.choice(whole)
    near = [n for n in whole if n > at and _depth(lines[n]) == _depth(lines[at]) and n - at <= 3]
    way = draw.choice(("left out", "twice", "moved", "moved"))
    if way == "left out":
        lines[at] = " " * _depth(lines[at]) + ("pass" if python else ";")
    elif way == "twice":
        lines.insert(at, lines[at])
    elif near:
        other = draw.choice(near)
        lines[at], lines[other] = lines[other], lines[at]
        way = f"in the place of line {other + 1}"
    else:
        return None
    return "\n".join(lines), f"line {at + 1} {way}"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_statement(line: str, python: bool) -> bool:
    text = line.split("#")[0].rstrip() if python else line.split("//")[0].rstrip()
    if not text.strip() or text.lstrip().startswith(("#", "@", "*", "/", '"', "import", "from", "def", "return")):
        return False
    if python:
        return re.match(r"\s+[\w\[\], .+*/%-]+? [-+*/%&|^]?/?= .*[^,(\[{\\:]$", text) is not None
    return re.fullmatch(r"\s+[^{}]*;", text) is not None and text.count("(") == text.count(")")


def judge(mutant: Mutant, gradients: bool = False) -> list[Finding]:
    """What becomes of each function of the sample for which there are arguments."""
    done = pipeline.translate(mutant.source, str(mutant.sample.source), mutant.sample.options)
    cases = load_cases(mutant.sample.folder / "case.toml")
    given = []
    for f in (*done.source.functions, *done.source.hosts) if done.source else ():
        if f.name not in cases:
            continue
        try:
            case = launched(done, cases[f.name]) if f.kind == "kernel" else cases[f.name]
        except InterpreterError:
            continue
        given.append(Given(f.name, case, ("x",) if f.kind == "kernel" else ()))
    found: list[Finding] = []
    for one in given:
        try:
            found += together([judged(done, one, 0, gradients)], least=2)  # type: ignore[arg-type]
        except (InterpreterError, KeyError, OverflowError, ZeroDivisionError):
            continue
    return [replace(f, kind="discarded") if _no_bug(f) else f for f in found]


def _no_bug(found: Finding) -> bool:
    """The emitted function says itself that these arguments are none of its own, or an argument is left without use."""
    return f"ValueError: {found.kernel}: " in found.message


class _TooLong(BaseException):
    pass


def _stop(*_: object) -> None:
    raise _TooLong


def main() -> int:
    """Draws mutants until the time is up; returns 1 if one of them is a bug."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.nudged", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--gradients", type=int, default=4, help="gradients for one mutant in so many (0: never)")
    chosen = parser.parse_args()
    kinds: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + chosen.seconds
    signal.signal(signal.SIGALRM, _stop)
    samples = [s for s in SAMPLES if not chosen.names or s.name in chosen.names]
    seed, bugs = chosen.start, 0
    while time.monotonic() < end:
        draw = random.Random(seed)
        mutant = next(mutants(draw.choice(samples), draw))
        signal.alarm(PATIENCE)
        try:
            found = judge(mutant, bool(chosen.gradients) and seed % chosen.gradients == 0)
        except _TooLong:
            found = [Finding("", "discarded", "too long")]
        finally:
            signal.alarm(0)
        for finding in found:
            kinds[finding.kind] += 1
            if finding.is_bug:
                bugs += 1
                said = f"{mutant.sample.name}, {mutant.change}: {finding.kernel} {finding.kind}: {finding.message}"
                print(f"seed {seed} {said}", flush=True)
        seed += 1
    print(f"seeds {chosen.start}..{seed - 1}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main())
