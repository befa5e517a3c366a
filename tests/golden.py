"""``make golden``: writes samples/*/raised.py and what the README shows anew, and compares the values and gradients of
what changed; exit 1 if a sample is refused or wrong."""

from __future__ import annotations

import concurrent.futures as futures
import os
import sys

from kraise.diagnostics.text import render
from tests import readme
from tests.corpus import ROOT, SAMPLES, Sample


def main() -> int:
    """Translates all samples (or those that the arguments name), on all cores."""
    refused = wrong = 0
    samples = [s for s in SAMPLES if len(sys.argv) == 1 or s.name in sys.argv[1:]]
    with futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for sample, (text, errors) in zip(samples, pool.map(_translated, samples, chunksize=4), strict=True):
            if text is None or errors:
                refused += 1
                print(errors, end="")
                continue
            old = sample.golden.read_text(encoding="utf-8") if sample.golden.exists() else None
            if old != text:
                sample.golden.write_text(text, encoding="utf-8")
                print(f"{'new' if old is None else 'changed'}: {sample.golden.relative_to(ROOT)}")
                failures = sample.failures(sample.translated())
                wrong += bool(failures)
                print(*failures, sep="\n", end="\n" if failures else "")
    if len(sys.argv) == 1:
        readme.main()
    print(f"{len(samples)} samples, {refused} refused, {wrong} wrong")
    return 1 if refused or wrong else 0


def _translated(sample: Sample) -> tuple[str | None, str]:
    """The module's text and its errors, rendered."""
    done = sample.translate()
    errors = [d for d in done.diagnostics if d.severity == "error"]
    return done.text, render(errors, {str(sample.source): sample.source.read_text(encoding="utf-8")}) if errors else ""


if __name__ == "__main__":
    sys.exit(main())
