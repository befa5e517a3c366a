"""Names of variables in one function of the emitted module: the source's where possible, never twice."""

from __future__ import annotations

import keyword
import re

from kraise.ir.internal_names import readable

# names that emitted text refers to: a local variable may not take them
TEXT_USES = frozenset(
    {"jax", "jnp", "partial", "eqxi", "max", "min", "abs", "len", "range", "reversed", "slice", "tuple", "isinstance"}
    | {
        "int",
        "float",
        "bool",
        "complex",
        "ValueError",
        "checkpointed_loop",
        "swapping_loop",
        "checkpointed_while",
        "dataclasses",
    }
)
# modules under short names: where the source uses such a name itself, the module gets an underscore
IMPORTED = ("jax", "jnp", "eqxi", "checkify")
OWN = "\x00"  # marks a parameter of such a name until the text is laid out


def identifier(name: str) -> str:
    """A Python identifier that looks like ``name``."""
    text = re.sub(r"\W", "_", readable(name))
    if not text or text[0].isdigit():
        text = "_" + text
    return text + "_" if keyword.iskeyword(text) else text


class Names:
    """The names that are taken in a function."""

    def __init__(self, taken: frozenset[str] | set[str] = frozenset()):
        self._taken = set(taken) | TEXT_USES
        self._builtins: set[str] = set()

    def fresh(self, wish: str) -> str:
        """``wish``, or ``wish_2``, ``wish_3`` … where it is taken."""
        wish = identifier(wish)
        name, k = wish, 2
        while name in self._taken:
            name, k = f"{wish}_{k}", k + 1
        self._taken.add(name)
        return name

    def is_free(self, name: str) -> bool:
        """Whether nothing has the name."""
        return identifier(name) not in self._taken

    def builtin(self, name: str) -> bool:
        """Keeps a built-in function's name for it; False if a variable has it."""
        if name in self._builtins or self.is_free(name):
            self._builtins.add(name)
            self._taken.add(name)
            return True
        return False

    def take(self, names: set[str]) -> None:
        """Keeps names for what has them already."""
        self._taken |= names

    def release(self, name: str) -> None:
        """Frees a name."""
        self._taken.discard(name)


OPERATION_NAMES = {
    "add": "total",
    "sub": "difference",
    "mul": "product",
    "div": "ratio",
    "sqrt": "root",
    "select": "choice",
    "min": "smaller",
    "max": "larger",
    "lt": "below",
    "le": "below",
    "gt": "above",
    "ge": "above",
    "eq": "equal",
    "ne": "unequal",
    "and": "both",
    "or": "either",
    "not": "other",
    "pick": "stacked",
    "pow": "power",
    "neg": "negative",
}
REDUCTION_NAMES = {"add": "total", "mul": "product", "min": "smallest", "max": "largest", "and": "all_", "or": "any_"}
