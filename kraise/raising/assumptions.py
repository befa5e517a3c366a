"""What the user declares of the arguments (``--assume``), because it cannot be proved."""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.ir.assumptions import KNOWN, assumption


def declared(assume: tuple[str, ...], kind: str) -> list[str]:
    """The arrays of which this ``kind`` of thing is declared; a sentence of no kind is refused.

    Raises:
        Refused: an assumption that is not understood.
    """
    out = []
    for sentence in assume:
        found = assumption(sentence)
        if found is None:
            raise refuse("KR208", f"the assumption {sentence!r} is not understood", None, f"say {KNOWN}")
        if found.kind == kind:
            out.append(found.names[0])
    return out
