"""``try { … } catch (…) { … }`` in C++ functions is its first block: what is thrown is an error, and errors are no part
of the values (contract, section 6).

Side condition, checked: where the block itself throws, what catches it ends the function or the program.
"""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.frontends.cuda_c.brackets import closing
from kraise.frontends.cuda_c.tokens import Raw

_ENDS = frozenset(("exit", "return", "throw", "abort", "_exit", "quick_exit", "terminate"))


def without_tries(body: list[Raw]) -> list[Raw]:
    """Tokens of a function with each ``try`` as its own block. Raises Refused (KR211)."""
    out: list[Raw] = []
    at = 0
    while at < len(body):
        if body[at].text != "try" or at + 1 >= len(body) or body[at + 1].text != "{":
            out.append(body[at])
            at += 1
            continue
        stop = closing(body, at + 1)
        inner = body[at + 1 : stop + 1]
        throws = any(t.text == "throw" for t in inner)
        next_ = stop + 1
        while next_ + 1 < len(body) and body[next_].text == "catch":
            opened = closing(body, next_ + 1) + 1
            last = closing(body, opened)
            if throws and not _ENDS & {t.text for t in body[opened : last + 1]}:
                hint = "leave the function where something is thrown, or test before"
                raise refuse("KR211", "what is thrown here is caught, and the work goes on", body[at].span, hint)
            next_ = last + 1
        out += without_tries(inner)
        at = next_
    return out
