"""Kernels whose own parameters are called like the launch's keywords of the emitted function."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kraise.ir import kernel as k
from kraise.ir.rename import names_in, with_names
from kraise.ir.types import StructType

KEYWORDS = ("grid", "block", "threads")


def with_underscores(module: k.Module, function: k.Function, launched: bool) -> tuple[k.Module, k.Function]:
    """The function, in its module, with an underscore to such names (``grid_``): where the emitted function has these
    keywords (``launched``), and of structs, whose members are called as what the launch says (``grid.x``).

    A name that the function has already stays, and so does what clashes with it.
    """
    taken = names_in(function.body) | {p.name for p in function.params}
    structs = {p.name for p in function.params if isinstance(p.type, StructType)}
    names = [p.name for p in function.params if p.name in (KEYWORDS[:2] if launched else ()) or p.name in structs]
    wanted = {n: f"{n}_" for n in names if n in KEYWORDS and f"{n}_" not in taken}
    if function.kind != "kernel" or not wanted:
        return module, function
    named = partial(_name, wanted)
    new = replace(
        function,
        params=tuple(replace(p, name=named(p.name)) for p in function.params),
        body=with_names(function.body, named),
        static=tuple(map(named, function.static)),
        multiples=tuple((named(n), by) for n, by in function.multiples),
    )
    return replace(module, functions=tuple(new if f is function else f for f in module.functions)), new


def _name(names: dict[str, str], name: str) -> str:
    head, dot, rest = name.partition(".")
    return names.get(head, head) + dot + rest


__all__ = ["with_underscores"]
