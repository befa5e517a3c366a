"""Plans of cuFFT for many transforms: ``cufftPlanMany(&plan, rank, n, NULL, 1, 0, NULL, 1, 0, type, batch)``.

Side conditions, each checked: the extents are a list that nothing in the file stores to, the transforms lie side by
side, with strides of 1 and no extents of storage but those of the data.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.brackets import closing
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import normal
from kraise.frontends.cuda_c.trees import end, position
from kraise.ir import kernel as k
from kraise.ir.types import INT32

ONE = k.Const(1, INT32)
_STORES = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "++", "--"))


def planned(reader: Any, args: list[Tree], node: Tree) -> tuple[k.Expr, ...]:
    """The sizes of such a plan; ``args`` without the plan itself. Raises Refused (KR213)."""
    rank, extents = fold(reader.number(args[0])), reader.pointer_name(args[1])
    axes = int(rank.value.real) if isinstance(rank, k.Const) else 0
    sizes: tuple[k.Expr, ...] = reader.listed.get(extents, ())
    if extents and _is_stored_to(reader, args[1]):
        sizes = ()
    one = reader.number_at(args[1])
    if axes == 1 and not sizes and one is not None:  # &n
        sizes = (k.Var(one.name, one.type),)
    total = sizes[0] if sizes else ONE
    for e in sizes[1:]:
        total = k.Op("mul", (total, e), INT32)
    plain = len(sizes) == axes and 1 <= axes <= 3
    for inside, stride, apart in (args[2:5], args[5:8]):
        if reader._is_null(inside):
            continue
        known = plain and (axes == 1 or reader.pointer_name(inside) == extents)
        known = known and normal(reader.number(stride)) == ONE
        distance = reader.defined(normal(reader.number(apart)))
        half = args[8].children and "C2C" not in _text(reader, args[8]) and "Z2Z" not in _text(reader, args[8])
        plain = known and not half and distance == reader.defined(normal(total))
    if not plain:
        hint = "give the extents by a list of the function, and lay the transforms side by side without strides"
        raise reader.low.refuse("KR213", "the layout of this plan is not known here", node, hint)
    return tuple(reader.defined(normal(e)) for e in sizes)


def _text(reader: Any, node: Tree) -> str:
    return "".join(t.text for t in reader.program.unit.tokens[position(node) : end(node)])


def _is_stored_to(reader: Any, node: Tree) -> bool:
    """Does anything in the file store to elements of a list, but what it begins with?"""
    name, toks = _text(reader, node), reader.program.unit.tokens
    for n, (t, after) in enumerate(pairwise(toks)):
        if t.text == name and after.text == "[":
            stop = closing(toks, n + 1)
            if stop + 2 < len(toks) and toks[stop + 1].text in _STORES and toks[stop + 2].text != "{":
                return True
    return False
