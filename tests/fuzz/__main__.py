"""``make fuzz``: random kernels until the time is up; prints each bug's reproducer, and one line at the end."""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import time
from pathlib import Path

from tests.fuzz.check import Finding, check
from tests.fuzz.generate import generate


def main() -> int:
    """Runs; returns 1 if a bug was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "300")))
    parser.add_argument("--start", type=int, default=int(os.environ.get("FUZZ_SEED", "0")), help="the first seed")
    parser.add_argument("--out", type=Path, help="a folder for the reproducers")
    parser.add_argument("--gradients", type=int, default=5, help="gradients for one program in so many (0: never)")
    parser.add_argument("--quiet", action="store_true", help="one line a bug, no source")
    chosen = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + chosen.seconds
    seed = chosen.start
    began = time.monotonic()
    while time.monotonic() < end:
        program = generate(seed)
        every = chosen.gradients and seed % chosen.gradients == 0
        found = check(program, gradients=bool(every), twice=seed % 5 == 1)
        for finding in found:
            counts[finding.kind] += 1
            if finding.kind in ("refused", "discarded"):
                reasons[f"{finding.kind}: {_general(finding.message)}"] += 1
            if finding.is_bug:
                _report(seed, finding, program.source, chosen.out, chosen.quiet)
        seed += 1
    tried = sum(counts.values())
    meaningful = tried - counts["discarded"]
    for reason, count in reasons.most_common(30):
        print(f"{count:6d}  {reason}")
    bugs = tried - counts["ok"] - counts["refused"] - counts["discarded"]
    accepted = 1 - counts["refused"] / max(meaningful, 1)
    kinds = ", ".join(f"{n} {k}" for k, n in sorted(counts.items()))
    speed = tried / (time.monotonic() - began)
    print(f"seeds {chosen.start}..{seed - 1}: {tried} kernels tried, {speed:.1f} a second ({kinds})")
    print(f"fuzz: {tried} tried, {accepted:.0%} of the meaningful ones accepted, {bugs} wrong")
    return 1 if bugs else 0


def _general(message: str) -> str:
    """A diagnostic without the names of this program."""
    return re.sub(r"`[^`]*`", "`…`", message)[:150]


def _report(seed: int, finding: Finding, source: str, folder: Path | None, quiet: bool) -> None:
    print(f"seed {seed} {finding.kernel} {finding.kind}: {finding.message}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        head = f"# seed {seed}, {finding.kernel}, {finding.kind}, variant {finding.variant}\n# {finding.message}\n"
        text = f"{head}\n{source}"
        (folder / f"{finding.kind}_{seed}_{finding.kernel}.py").write_text(text, encoding="utf-8")
    elif not quiet:
        print(source)


if __name__ == "__main__":
    sys.exit(main())
