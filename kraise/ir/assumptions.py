"""What the user declares of the arguments (``--assume``), because it cannot be proved: sentences and their meaning.

``idx is injective``: no two elements of the array are equal. ``out is stored once``: no two threads store to one
element of the array, as where those that keep theirs store to the places that a prefix sum gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_NAME = r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
FORMS = (("injective", re.compile(rf"{_NAME} is injective")), ("once", re.compile(rf"{_NAME} is stored once")))
KNOWN = '"NAME is injective" or "NAME is stored once"'


@dataclass(frozen=True)
class Assumption:
    """One sentence: its ``kind``, and the arrays and parameters that it names, in order."""

    kind: str
    names: tuple[str, ...]

    def broken(self, arguments: Mapping[str, Any]) -> str:
        """Where the arguments (arrays by their dotted names) break it, in words; "" if they do not, or lack a name,
        or if only a run shows it."""
        if self.kind != "injective" or any(name not in arguments for name in self.names):
            return ""
        name = self.names[0]
        seen: dict[Any, int] = {}
        for at, value in enumerate(arguments[name].ravel().tolist()):
            if value in seen:
                return f"{name} is not injective: elements {seen[value]} and {at} are both {value}"
            seen[value] = at
        return ""


def assumption(sentence: str) -> Assumption | None:
    """What a sentence says; None if it is not understood."""
    text = " ".join(sentence.split())
    for kind, form in FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return Assumption(kind, found.groups())
    return None


def understood(sentences: Iterable[str]) -> tuple[Assumption, ...]:
    """The assumptions of those sentences that are understood."""
    return tuple(a for a in map(assumption, sentences) if a is not None)
