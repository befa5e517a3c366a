"""``make fuzz``: random kernels in both languages until the time is up; prints each bug's reproducer, and a table at
the end."""

from __future__ import annotations

import argparse
import collections
import gc
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.watched import Lost, Span, campaign

if TYPE_CHECKING:
    from tests.fuzz.check import Finding
    from tests.fuzz.together import Check

LANGUAGES = ("python", "cuda_c")
TREES = 100_000  # a translation makes trees, not cycles: the collector need not look often


@dataclass
class Counts:
    """What became of the kernels of one language, and why some were refused or discarded."""

    kinds: collections.Counter[str] = field(default_factory=collections.Counter)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)
    gradients: int = 0
    originals: int = 0

    def add(self, other: Counts) -> None:
        self.kinds += other.kinds
        self.reasons += other.reasons
        self.gradients += other.gradients
        self.originals += other.originals

    @property
    def bugs(self) -> int:
        return sum(n for kind, n in self.kinds.items() if kind not in ("ok", "refused", "discarded"))

    def row(self, name: str) -> str:
        """Tried, meaningful, accepted, wrong."""
        tried = sum(self.kinds.values())
        meaningful = tried - self.kinds["discarded"]
        accepted = meaningful - self.kinds["refused"]
        share = f"{accepted / max(meaningful, 1):.0%}"
        return (
            f"{name:10} {tried:8} tried {meaningful:8} mean something {accepted:8} accepted ({share}) "
            f"{self.gradients:8} with gradients {self.originals:6} against g++ {self.bugs:6} wrong"
        )


def main() -> int:
    """Runs; returns 1 if a bug was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "300")))
    parser.add_argument("--start", type=int, default=int(os.environ.get("FUZZ_SEED", "0")), help="the first seed")
    parser.add_argument("--out", type=Path, help="a folder for the reproducers")
    parser.add_argument("--gradients", type=int, default=6, help="gradients for one program in so many (0: never)")
    parser.add_argument("--original", type=int, default=40, help="g++ for one CUDA program in so many (0: never)")
    parser.add_argument("--language", choices=(*LANGUAGES, "both"), default="both")
    parser.add_argument("--kind", default="", help="one kind of tests/fuzz/kinds, `base`, or all (the default)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--batch", type=int, default=20, help="so many programs in one compilation")
    parser.add_argument("--patience", type=float, default=180.0, help="seconds after which a batch is given up")
    parser.add_argument("--log", type=Path, help="append a JSON line for each kernel, with the commit it was run at")
    parser.add_argument("--quiet", action="store_true", help="one line a bug, no source")
    chosen = parser.parse_args()
    # a kernel runs once: compiling it well costs more than it saves
    cheap = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    cheap += " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
    os.environ.setdefault("XLA_FLAGS", cheap)
    began = time.monotonic()
    totals = {language: Counts() for language in LANGUAGES}
    commit = _commit() if chosen.log else ""
    spans = [Span(chosen.start + worker, chosen.workers, chosen.batch) for worker in range(chosen.workers)]
    last = chosen.start
    for said in campaign(_batch, (chosen, commit), spans, began + chosen.seconds, chosen.patience):
        if isinstance(said, Lost):
            last = max(last, said.seed)
            _lost(said, chosen, commit, totals)
            continue
        counts, reached = said
        last = max(last, reached)
        for language, one in counts.items():
            totals[language].add(one)
    together = Counts()
    for one in totals.values():
        together.add(one)
    for reason, count in together.reasons.most_common(30):
        print(f"{count:6d}  {reason}")
    kinds = ", ".join(f"{n} {k}" for k, n in sorted(together.kinds.items()))
    tried = sum(together.kinds.values())
    print(f"seeds {chosen.start}..{last}: {tried / (time.monotonic() - began):.1f} kernels a second ({kinds})")
    for language in LANGUAGES:
        print(totals[language].row(language))
    print(together.row("fuzz"))
    return 1 if together.bugs else 0


def _batch(job: tuple[argparse.Namespace, str], span: Span) -> tuple[dict[str, Counts], int]:
    """The next seeds of the span: what became of their kernels, and the last seed."""
    from tests.fuzz.together import together

    if gc.get_threshold()[0] != TREES:
        gc.collect()
        gc.freeze()  # what was imported stays
        gc.set_threshold(TREES, 20, 20)
    chosen, commit = job
    counts = {language: Counts() for language in LANGUAGES}
    drawn_now = [_Drawn(span.seed + span.step * at, chosen) for at in range(span.size)]
    checks = [one.checks() for one in drawn_now]
    found = iter(together([check for mine in checks for check in mine]))
    for one, mine_now in zip(drawn_now, checks, strict=True):
        findings = [_as_users_compile(one, chosen.kind, next(found)) for _ in mine_now]
        if chosen.log:
            _log(chosen.log, commit, one.seed, one.language, findings)
        mine = counts[one.language]
        for finding in findings:
            mine.kinds[finding.kind] += 1
            mine.gradients += finding.kind == "ok" and one.gradients
            mine.originals += finding.kind == "ok" and one.original
            if finding.kind in ("refused", "discarded"):
                mine.reasons[f"{finding.kind}: {_general(finding.message)}"] += 1
            if finding.is_bug:
                _report(one.seed, finding, one.program.source, one.program.file, chosen.out, chosen.quiet)
    return counts, drawn_now[-1].seed


def _lost(lost: Lost, chosen: argparse.Namespace, commit: str, totals: dict[str, Counts]) -> None:
    """A program that stopped its worker is a bug."""
    from tests.fuzz.check import Finding

    one = _Drawn(lost.seed, chosen)
    said = f"no answer within {chosen.patience:g} s" if lost.kind == "hang" else "the process died"
    finding = Finding("", lost.kind, said)
    totals[one.language].kinds[lost.kind] += 1
    if chosen.log:
        _log(chosen.log, commit, lost.seed, one.language, [finding])
    _report(lost.seed, finding, one.program.source, one.program.file, chosen.out, chosen.quiet)


class _Drawn:
    """The program of a seed, and how it is checked."""

    def __init__(self, seed: int, chosen: argparse.Namespace):
        from tests.fuzz.drawing import drawn

        self.seed = seed
        self.language = chosen.language if chosen.language != "both" else LANGUAGES[(seed // chosen.workers) % 2]
        self.program = drawn(seed, self.language, chosen.kind)
        self.language = "python" if self.program.file.endswith(".py") else "cuda_c"
        self.gradients = bool(chosen.gradients) and seed // 2 % chosen.gradients == 0
        self.original = self.language == "cuda_c" and bool(chosen.original) and seed // 2 % chosen.original == 0
        self.variants = (1,) if seed % 5 == 3 else (0,) if seed % 5 else (0, 1)  # each is compiled: one is enough

    def checks(self) -> list[Check[Finding]]:
        from tests.fuzz.check import checks

        return checks(
            self.program,
            gradients=self.gradients,
            variants=self.variants,
            twice=self.seed % 20 == 1,
            original=self.original,
        )


def _as_users_compile(one: _Drawn, kind: str, finding: Finding) -> Finding:
    """A derivative that is wrong once more in a process of its own, with XLA's defaults.

    At level 0 XLA may compute the operand of an extremum twice, once with fused products and sums and once without;
    then JAX's rule, which looks for the elements that equal the extremum, finds none.
    """
    if finding.kind not in ("gradient", "nan"):
        return finding
    asked = json.dumps([one.seed, one.language, kind, finding.kernel, finding.variant])
    environment = {n: v for n, v in os.environ.items() if n != "XLA_FLAGS"}
    ran = subprocess.run([sys.executable, "-c", _AGAIN, asked], capture_output=True, text=True, env=environment)
    lines = ran.stdout.split("\n")
    return replace(finding, kind="ok", message="") if ran.returncode == 0 and "ok" in lines else finding


_AGAIN = """
import json, sys
from tests.fuzz.check import check
from tests.fuzz.drawing import drawn
seed, language, kind, kernel, variant = json.loads(sys.argv[1])
for f in check(drawn(seed, language, kind), gradients=True, variants=(variant,), twice=False):
    print(f.kind if f.kernel == kernel else "")
"""


def _commit() -> str:
    """The commit that is checked out, "+" behind it where files differ from it."""
    said = subprocess.run(["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False)
    return said.stdout.strip()


def _log(path: Path, commit: str, seed: int, language: str, findings: Sequence[Finding]) -> None:
    with path.open("a", encoding="utf-8") as log:
        for f in findings:
            row = {"commit": commit, "seed": seed, "language": language, "kernel": f.kernel, "kind": f.kind}
            log.write(json.dumps(row | ({"message": f.message[:300]} if f.kind != "ok" else {})) + "\n")


def _general(message: str) -> str:
    """A diagnostic without the names and numbers of this program."""
    return re.sub(r"\bline \d+", "line …", re.sub(r"`[^`]*`", "`…`", message))[:150]


def _report(seed: int, finding: object, source: str, file: str, folder: Path | None, quiet: bool) -> None:
    kernel, kind, message = finding.kernel, finding.kind, finding.message  # type: ignore[attr-defined]
    print(f"seed {seed} {file} {kernel} {kind}: {message}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        suffix = file.rpartition(".")[2]
        mark = "#" if suffix == "py" else "//"
        head = f"{mark} seed {seed}, {kernel}, {kind}\n{mark} {' '.join(message.split())}\n"
        (folder / f"{kind}_{seed}_{kernel}.{suffix}").write_text(f"{head}\n{source}", encoding="utf-8")
    elif not quiet:
        print(source)
