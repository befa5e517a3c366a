"""Arrays of open type that are only copied to arrays of floats of a named width: they are taken as these, at once.

``tile = cuda.shared.array((8, 8), float32)`` holds floats of 32 bits whatever ``a`` holds, and so does what is computed
with its cells. The tile goes where it only stages; ``a = a.astype(jnp.result_type(a, jnp.float32))`` at the head of the
function is what stays of it (it works in wider floats, too). The side condition: the function does nothing with ``a``
but copy elements of it to arrays of one such type, as they are or instead of a number. (An integer array cuts its
elements off where they are stored.)
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import NUMBER, ArrayType, ScalarType

Types = tuple[tuple[str, ScalarType], ...]


def with_staged_types(function: k.Function) -> tuple[k.Function, Types]:
    """The function whose arrays have the types of what they are copied to, and these."""
    types = _types(function)
    if not types:
        return function, ()

    def visit(node: object) -> object | None:
        match node:
            case k.Load(array=a, subscripts=subscripts) if a in types:
                return replace(node, subscripts=tuple(rewritten(s, visit) for s in subscripts), type=types[a])
            case k.Op(name="select", args=(c, *arms), type=kind) if kind == NUMBER:
                own = {types[a] for arm in arms for a in _copied(arm) if a in types}
                return replace(node, args=rewritten((c, *arms), visit), type=own.pop()) if own else None
        return None

    params = []
    for p in function.params:
        known = isinstance(p.type, ArrayType) and p.name in types
        params.append(replace(p, type=replace(p.type, element=types[p.name])) if known else p)  # type: ignore[arg-type]
    return replace(function, params=tuple(params), body=rewritten(function.body, visit)), tuple(types.items())


def _types(function: k.Function) -> dict[str, ScalarType]:
    nodes = list(walked(function.body))
    made = {n.name: n.element for n in nodes if isinstance(n, k.LocalArray) and n.element.kind == "float"}
    if not any(t.bits for t in made.values()):
        return {}
    uses: dict[str, int] = {}
    copies: dict[str, list[ScalarType | None]] = {}
    for n in nodes:
        match n:
            case k.Load(array=a) | k.ArrayRef(array=a) | k.Store(array=a) | k.Atomic(array=a) | k.LocalArray(like=a):
                uses[a] = uses.get(a, 0) + 1
        match n:
            case k.Store(array=a, value=v) if a in made and made[a].bits:
                for source in _copied(v):
                    copies.setdefault(source, []).append(made[a])
    found = {}
    for p in function.params:
        to = copies.get(p.name, [])
        open_ = isinstance(p.type, ArrayType) and p.type.element == NUMBER
        if open_ and to and len(set(to)) == 1 and len(to) == uses[p.name] and to[0] is not None:
            found[p.name] = to[0]
    return found


def _copied(value: k.Expr) -> list[str]:
    """The arrays of which elements are copied, as they are or where some condition holds."""
    match value:
        case k.Load(array=a):
            return [a]
        case k.Op(name="select", args=(_, a, b)):
            return [*_copied(a), *_copied(b)]
    return []


__all__ = ["with_staged_types"]
