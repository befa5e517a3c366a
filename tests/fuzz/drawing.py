"""What ``make fuzz`` tries at a seed."""

from __future__ import annotations

import random

from tests.fuzz.cuda_c import spelled
from tests.fuzz.generate import Program, generate
from tests.fuzz.kinds import KINDS

JOINED = ("local", "ragged", "warps", "joint", "launches", "wraps", "planes")  # the kinds whose bugs are mended
KINDS_SHARE = 0.35  # of the seeds, at which one of them is drawn


def drawn(seed: int, language: str, kind: str = "") -> Program:
    """The program of a seed: of a kind, or (``base``) a small or a large one of the general generator."""
    if not kind:
        rng = random.Random(5000 * seed)
        kind = rng.choice(JOINED) if rng.random() < KINDS_SHARE else "base"
    if kind != "base":
        return KINDS[kind](seed, language)
    small = random.Random(3000 * seed).random() < 0.75  # many small ones in the time of a large one
    return generate(seed, small=small) if language == "python" else spelled(generate(seed, c=True, small=small))
