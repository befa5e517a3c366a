"""Loops over the elements of a container that is known only where they stand: ``for (int e : g.edges)`` of a struct, a
member in a method, a parameter in a helper that is written out. They are counted loops, read in their place.

Side condition, checked: the container is a vector, an array of pointers or an array of C with a known extent, and what
stands for the names of a helper has a text.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.brackets import closing, made
from kraise.frontends.cuda_c.host_names import callee, rows_of
from kraise.frontends.cuda_c.host_nest import renamed
from kraise.frontends.cuda_c.host_vectors import by_subscripts
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import child, end, position, strip, trees


def counted(reader: Any, node: Tree) -> Tree | None:
    """The loop with a counter, None where what it goes over is not known."""
    toks = reader.program.unit.tokens
    text = toks[position(node) : end(node)]
    if any(t.kind == "NAME" and reader.renames.get(t.text, ()) is None for t in text):
        return None
    text = renamed(text, reader.renames)
    stop = closing(text, 1)
    head = text[2:stop]
    colon = next((n for n, t in enumerate(head) if t.text == ":"), 0)
    found = _over(reader, reader.placed(trees(node)[-2], choose=False))
    if found is None or not colon or head[colon - 1].kind != "NAME":
        return None
    owner, size = found
    index = reader.own_name(f"{head[colon - 1].text}_at")
    loop = by_subscripts(head[:colon], text[stop + 1 :], owner, size, index, owner in reader.banks)
    start = len(toks)
    toks.extend([*made("void range_for ( ) {", text[0]), *loop, *made("}", text[0])])
    d = Definition("range_for", "host", Item("host", "range_for", start, len(toks) - 1))
    body = child(reader.program.load(d), "compound_statement")
    return trees(body)[0] if body is not None else None


def _over(reader: Any, node: Any) -> tuple[str, str] | None:
    """What a loop goes over, and the number of its elements as C spells it."""
    node = strip(node)
    if callee(node) in reader.banks:
        return callee(node), str(len(reader.banks[callee(node)]))
    name = reader.pointer_name(node)
    if name in reader.containers:
        return name, f"( int ) {name} . size ( )"
    extents = rows_of(reader.low.extents.get(name)) if name in reader.arrays else ()
    return (name, str(extents[0].value)) if len(extents) == 1 else None  # type: ignore[union-attr]
