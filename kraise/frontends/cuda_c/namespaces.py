"""Names that several namespaces of a file declare (``heat::rate``, ``decay::rate``), each under a name of its own.

C++ looks an unqualified name up from the namespace of its use outwards, then where ``using`` says; a qualified one
likewise from its first part (C++ standard, [basic.lookup]). The names are told apart on the tokens, before anything is
looked up by name alone: ``decay::rate`` is ``decay_rate``. What the file itself declares at the top keeps its name.
Types are left: they are looked up with their namespaces elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from kraise.frontends.cuda_c.scan import CLASS_TEMPLATE, TYPE, Item, Unit, declared_names
from kraise.frontends.cuda_c.tokens import Raw

Namespace = tuple[str, ...]
_DECLARES = ("kernel", "device", "host", "variable", "prototype")
_NO_TYPE = frozenset(("return", "else", "case", "do", "goto", "throw", "operator", "new", "delete", "sizeof"))
_TYPE_WORDS = frozenset(("const", "volatile", "__restrict__", "restrict", "auto", "unsigned", "signed"))


def apart(tokens: list[Raw], unit: Unit) -> list[Raw]:
    """The tokens with such names told apart; the list itself where there are none."""
    homes = _homes(tokens, unit)
    homes = {n: h for n, h in homes.items() if len(h) > 1 and unit.names.get(n) not in (TYPE, CLASS_TEMPLATE)}
    if not homes:
        return tokens
    taken = {t.text for t in tokens}
    new = {(n, h): _fresh("_".join((*h, n)), taken) if h else n for n, found in homes.items() for h in sorted(found)}
    used = _used(tokens)
    around = _items(tokens, unit)

    @cache
    def hides(place: int, name: str) -> bool:
        item = unit.items[place]
        return name not in _names(tokens, item) and _hides(tokens, unit, item, name)

    out = list(tokens)
    for at, token in enumerate(tokens):
        found = homes.get(token.text)
        if found is None or token.kind != "NAME" or (at and tokens[at - 1].text in (".", "->")):
            continue
        place, parts = around[at], _qualifier(tokens, at)
        if parts is None and place is not None and hides(place, token.text):
            continue
        within = unit.items[place].namespace if place is not None and parts != () else ()  # `::f`: from the outermost
        home = _looked_up(found, within, parts or ())
        if home is None and parts is None:
            given = {u for u in used if u in found}
            home = given.pop() if len(given) == 1 else None
        if home is not None:
            out[at] = replace(token, text=new[token.text, home])
    return out


def _homes(tokens: list[Raw], unit: Unit) -> dict[str, set[Namespace]]:
    """The namespaces in which each name is declared, but those of members of classes."""
    out: dict[str, set[Namespace]] = {}
    for item in unit.items:
        if item.kind not in _DECLARES:
            continue
        for name in _names(tokens, item):
            at = next((k for k in range(item.first, item.last + 1) if tokens[k].text == name), None)
            parts = _qualifier(tokens, at) if at is not None else None
            if parts and unit.names.get(parts[-1]) in (TYPE, CLASS_TEMPLATE):
                continue
            out.setdefault(name, set()).add((*item.namespace, *(parts or ())))
    return out


def _names(tokens: list[Raw], item: Item) -> list[str]:
    """The names that an item declares."""
    if item.kind == "variable":
        return declared_names(tokens, item.first, item.last) or [item.name]
    return [item.name] if item.name else []


def _qualifier(tokens: list[Raw], at: int) -> Namespace | None:
    """What stands before ``::`` in front of a name: () for the outermost namespace, None where nothing does."""
    if not at or tokens[at - 1].text != "::":
        return None
    parts: list[str] = []
    k = at - 1
    while k > 0 and tokens[k].text == "::" and tokens[k - 1].kind == "NAME":
        parts.insert(0, tokens[k - 1].text)
        k -= 2
    return tuple(parts)


def _looked_up(found: set[Namespace], within: Namespace, parts: Namespace) -> Namespace | None:
    outwards = (within[:k] for k in range(len(within), -1, -1))
    return next((home for n in outwards if (home := (*n, *parts)) in found), None)


def _hides(tokens: list[Raw], unit: Unit, item: Item, name: str) -> bool:
    """Whether something within an item (a parameter, a local variable, a member) is declared under the name."""
    for at in range(item.first + 1, item.last + 1):
        if tokens[at].text != name:
            continue
        k = at - 1
        while k > item.first and tokens[k].text in ("*", "&", "&&"):
            k -= 1
        before = tokens[k]
        type_ = unit.names.get(before.text) in (TYPE, CLASS_TEMPLATE) or before.text in _TYPE_WORDS
        if type_ or (k == at - 1 and before.kind == "NAME" and before.text not in _NO_TYPE):
            return True
    return False


def _used(tokens: list[Raw]) -> set[Namespace]:
    """The namespaces that ``using`` opens, whole or for one name."""
    out: set[Namespace] = set()
    for at, token in enumerate(tokens):
        if token.text != "using":
            continue
        k = at + 2 if at + 1 < len(tokens) and tokens[at + 1].text == "namespace" else at + 1
        parts = []
        while k < len(tokens) and tokens[k].text not in (";", "="):
            parts += [tokens[k].text] if tokens[k].kind == "NAME" else []
            k += 1
        out.add(tuple(parts if tokens[at + 1].text == "namespace" else parts[:-1]))
    return out


def _items(tokens: list[Raw], unit: Unit) -> list[int | None]:
    """The place among the items of that which each token is of."""
    out: list[int | None] = [None] * len(tokens)
    for place, item in enumerate(unit.items):
        for k in range(item.first, min(item.last + 1, len(tokens))):
            out[k] = place
    return out


def _fresh(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish
