"""``make golden``: writes samples/*/raised.py and what the README shows anew; exit 1 if a sample is refused."""

from __future__ import annotations

import sys

from kraise.diagnostics.text import render
from tests import readme
from tests.corpus import ROOT, SAMPLES


def main() -> int:
    """Translates all samples (or those that the arguments name)."""
    refused = 0
    for sample in SAMPLES:
        if len(sys.argv) > 1 and sample.name not in sys.argv[1:]:
            continue
        done = sample.translate()
        errors = [d for d in done.diagnostics if d.severity == "error"]
        if errors or done.text is None:
            refused += 1
            print(render(errors, {str(sample.source): sample.source.read_text(encoding="utf-8")}), end="")
            continue
        old = sample.golden.read_text(encoding="utf-8") if sample.golden.exists() else None
        if old != done.text:
            sample.golden.write_text(done.text, encoding="utf-8")
            print(f"{'new' if old is None else 'changed'}: {sample.golden.relative_to(ROOT)}")
    if len(sys.argv) == 1:
        readme.main()
    print(f"{len(SAMPLES)} samples, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
