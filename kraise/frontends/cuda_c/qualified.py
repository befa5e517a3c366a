"""Names qualified by the file's own namespaces (``sim::run(p)``), written without them: the module has one of each.

Side conditions, each checked on the tokens: the namespace is one that the file itself opens, and no library's; all that
the file declares under the name is in one namespace.
"""

from __future__ import annotations

from kraise.frontends.cuda_c.scan import Unit
from kraise.frontends.cuda_c.tokens import Raw

_LIBRARIES = frozenset(("std", "thrust", "cub", "cuda", "cooperative_groups", "nvcuda", "hipcub", "rocprim"))


def without_namespaces(tokens: list[Raw], unit: Unit) -> list[Raw]:
    """The tokens without such qualifiers; the list itself where there are none."""
    homes: dict[str, set[tuple[str, ...]]] = {}
    for item in unit.items:
        homes.setdefault(item.name, set()).add(item.namespace)
    opened = {n for item in unit.items for n in item.namespace} - _LIBRARIES
    if not opened:
        return tokens
    out: list[Raw] = []
    at = 0
    while at < len(tokens):
        stop = at
        if tokens[at].text == "::" and not (out and (out[-1].kind == "NAME" or out[-1].text == ">")):
            stop += 1  # from the outermost
        while stop + 2 < len(tokens) and tokens[stop].text in opened and tokens[stop + 1].text == "::":
            stop += 2
        before = out[-1].text if out else ""
        own = len(homes.get(tokens[stop].text, ())) == 1 and before not in ("using", "namespace", "::", ".", "->")
        if stop > at and own:
            at = stop
        out.append(tokens[at])
        at += 1
    return out if len(out) < len(tokens) else tokens
