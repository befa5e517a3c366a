"""What the user declares of the arguments (``--assume``), because it cannot be proved."""

from __future__ import annotations

import re

from kraise.diagnostics import refuse


def injective(assume: tuple[str, ...]) -> list[str]:
    """The arrays declared injective; any other sentence is refused.

    Raises:
        Refused: an assumption that is not understood.
    """
    out = []
    for sentence in assume:
        m = re.fullmatch(r"\s*([A-Za-z_][\w.]*)\s+is\s+injective\s*", sentence)
        if m is None:
            raise refuse("KR208", f"the assumption {sentence!r} is not understood", None, 'say "idx is injective"')
        out.append(m.group(1))
    return out
