"""``new`` in CUDA C host functions: ``new float[n]``, ``new float[n]()``, ``new float[3]{1, 2, 3}``, ``new float(x)``.

Side condition, checked: a list of values is no longer than the array, where its size is known.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.c_types import leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import normal
from kraise.frontends.cuda_c.trees import end, kind, position, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32

ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


def made_new(reader: Any, name: str, new: Tree, node: Any) -> list[h.Stmt]:
    """The memory that ``new`` makes for the array ``name``, with what it holds at first. Raises Refused (KR211)."""
    span = reader.low.span(node)
    text = [t.text for t in reader.program.unit.tokens[position(new) : end(new)]]
    given = [c for c in trees(new) if c.data != "basic_type"]
    count: k.Expr = normal(reader.number(given.pop(0))) if "[" in text and given else ONE
    listed = bool(given) and kind(given[0]) == "braced_init_list"
    values = trees(given[0]) if listed else given
    if not values:
        return [reader.alloc(name, count, ZERO if text[-1:] == [")"] or listed else None, span)]
    known = fold(reader.defined(count))
    if leaf(reader.arrays[name])[1] or (known is not None and len(values) > known.value.real):
        reason = f"what `{reader.low.text(new)}` holds is not known here"
        raise reader.low.refuse("KR211", reason, node, "give the elements their values one by one")
    stores = [
        h.Store(name, (k.Const(at, INT32),), reader.low.convert(reader.number(v), reader.arrays[name], v), span=span)
        for at, v in enumerate(values)
    ]
    return [reader.alloc(name, count, ZERO, span), *stores]
