"""The types of CUB's collectives: ``cub::BlockReduce<float, 256>`` and its kin."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.c_types import Collective
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.trees import child, strip, trees, words
from kraise.ir.kernel import Cast, Const, Expr
from kraise.ir.types import INT32, ScalarType

ONE = Const(1, INT32)
_SIZES = {"scan": (1, 3, 4), "reduce": (1, 3, 4), "load": (1, 4, 5), "store": (1, 4, 5)}  # where X, Y, Z stand


def collective_type(low: Any, name: str, node: Tree) -> Collective:
    """The type ``BlockReduce<T, X, …>`` and its kin. Raises Refused."""
    who, does = vocabulary.collective(name).split(".")
    spelled = child(node, "template_arguments")
    given = trees(spelled, "template_argument") if spelled is not None else []
    element = low.type_id(strip(given[0].children[0])) if given else None
    if not isinstance(element, ScalarType):
        raise low.refuse("KR104", f"{name} of this type is not raised", node, "numbers are")

    def number(at: int, default: int | None) -> Expr:
        if at >= len(given):
            if default is None:
                raise low.refuse("KR104", f"{name} lacks the number of its threads", node)
            return Const(default, INT32)
        found = low.value(given[at].children[0])
        known = fold(found)
        return Cast(INT32, found) if known is None else Const(int(known.value.real), INT32)

    if who == "warp":
        size = number(1, 32)
        if not isinstance(size, Const) or size.value not in (1, 2, 4, 8, 16, 32):
            raise low.refuse("KR299", f"{name} of these threads is not raised", node, "tiles are parts of a warp")
        return Collective(name, who, does, element, (size,))
    x, y, z = _SIZES[does]
    sizes = (number(x, None), number(y, 1), number(z, 1))
    items = number(2, 1) if does in ("load", "store") else ONE
    if not isinstance(items, Const) or "STRIPED" in "".join(words(spelled)):  # type: ignore[arg-type]
        raise low.refuse("KR299", f"this arrangement of {name} is not raised", node, "the blocked one is")
    return Collective(name, who, does, element, sizes, int(items.value.real))
