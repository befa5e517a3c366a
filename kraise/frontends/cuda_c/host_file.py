"""Variables of the file that ``main`` and its helpers change (``int rows; float *d_a;``) are variables of ``main``.

C has one of each for the whole program, and the program is ``main``: they are declared before its first statement, and
each function that mentions one is written out where it is called. Numbers start at 0, as C says. Arrays and objects of
the file, constants and what the device has are known otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.c_types import Pointer, leaf
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.trees import child, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType

_OTHERS = frozenset(
    ("const", "constexpr", "extern", "using", "namespace", "typedef", "template", "struct", "class", "enum", "union",
     "__device__", "__constant__", "__shared__", "__managed__", "operator")
)  # fmt: skip


def declared(reader: Any, name: str) -> list[h.Stmt]:
    """Declares the variables of the file that ``name`` and its helpers change. ``reader.of_file`` knows them."""
    program = reader.program
    words, text = _reached(program, name)
    changed = _changed(text)
    out: list[h.Stmt] = []
    for item in program.unit.items:
        if item.kind not in ("variable", "other") or not _words(program, item) & words:
            continue
        for own, t, value in _variables(reader, item):
            if own in reader.low.scopes[1] or own not in words:
                continue
            if isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
                reader.low.names.setdefault(own, "taken")
                reader.array(own, t.to)
            elif isinstance(t, ScalarType) and own in changed:
                start = k.Const(0, t) if value is None else reader.low.convert(reader.number(value), t, value)
                reader.scalar(own, t)
                reader.zeroed |= {own} if value is None else set()
                out.append(h.Assign(own, start, t))
            else:
                continue
            reader.of_file.add(own)
    return out


def mentions(reader: Any, name: str) -> bool:
    """Does a function of the file, or one that it calls, mention such a variable?"""
    return bool(reached(reader, name))


def reached(reader: Any, name: str) -> set[str]:
    """Such variables that a function of the file, or one that it calls, mentions."""
    return _reached(reader.program, name)[0] & reader.of_file if reader.of_file else set()


def _words(program: Any, item: Item) -> set[str]:
    return {t.text for t in program.unit.tokens[item.first : item.last + 1]}


def _reached(program: Any, name: str) -> tuple[set[str], list[str]]:
    """The words of a host function and of those that it calls; their text."""
    seen: set[str] = set()
    text: list[str] = []
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for d in program.functions.get(one, []):
            if d.kind == "host" and d.item is not None:
                found = [t.text for t in program.unit.tokens[d.item.first : d.item.last + 1]]
                text += found
                waiting += [w for w in dict.fromkeys(found) if w in program.functions and w not in seen]
    return set(text), text


def _changed(text: list[str]) -> set[str]:
    """The names that a text may assign to, or take the place of."""
    found: set[str] = set()
    for before, t, after in zip(["", *text], text, [*text[1:], ""], strict=False):
        sets = after in ("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--", ">>")
        if sets or before in ("++", "--", "&", ">>"):
            found.add(t)
    return found


def _variables(reader: Any, item: Item) -> Iterator[tuple[str, Any, Any]]:
    """The plain variables that an item declares, with their types and initial values."""
    if _words(reader.program, item) & _OTHERS or item.template or item.namespace:
        return
    try:
        tree = reader.program.parse(item).children[0]
    except Refused:
        return
    specifiers = child(tree, "decl_specifiers") if isinstance(tree, Tree) and tree.data == "declaration" else None
    if specifiers is None:
        return
    for d in trees(tree, "init_declarator"):
        declarator = child(d, "declarator")
        if declarator is None:
            continue
        try:
            token, t = reader.low.declarator(declarator, reader.low.specifiers(specifiers).type)
        except Refused:
            continue
        values = [c for c in trees(d) if c is not declarator]
        if isinstance(token, Token):
            yield str(token), t, values[0] if values else None
