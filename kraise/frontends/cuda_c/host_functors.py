"""Functors that CUDA C hosts give to kernels: ``apply<<<g, b>>>(d, n, Affine{2.0f, 1.0f})``, themselves or by a name.

A lambda is an object of a class of its own (``functor_1``), whose members are what it takes from around it.

Side conditions, each checked: a variable of such a class, or for a lambda, is what it was made of: nothing in its
initializer changes; a lambda has copies of what it takes, numbers and pointers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.c_types import SPELLED, Struct
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.host_renames import declared_names
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import Node, child, end, kind, position, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace

_MARKS = frozenset(("__device__", "__host__", "const", "noexcept"))


def type_of(reader: Any, node: Node) -> Struct | None:
    """The class of an object that a launch is given, None for any other argument."""
    inner: Any = strip(node)
    if kind(inner) == "id_expression" and callee(inner) in reader.kinds:
        return reader.kinds[callee(inner)]  # type: ignore[no-any-return]
    found = _made(reader, node)
    return found[0] if found is not None else None


def _made(reader: Any, node: Node) -> tuple[Struct, list[Any]] | None:
    """The class, and what the object is made of."""
    inner: Any = strip(node)
    if kind(inner) == "lambda_expression":
        return _of_lambda(reader, inner)
    if kind(inner) == "id_expression" and callee(inner) in reader.functor_values:
        return reader.functor_values[callee(inner)]  # type: ignore[no-any-return]
    if kind(inner) == "id_expression" and callee(inner) in reader.functors:
        declared = [d for d in trees(reader.functors[callee(inner)], "init_declarator") if len(trees(d)) == 2]
        given = strip(trees(declared[0])[1]) if len(declared) == 1 else None
        if not isinstance(given, Tree) or given.data != "lambda_expression":
            return None
        return _of_lambda(reader, given)
    if kind(inner) not in ("functional_cast", "braced_cast") or child(inner, "simple_type_specifier") is None:
        return None
    try:
        t = reader.low.specifiers(Tree("decl_specifiers", [inner.children[0]], inner.meta)).type
    except Refused:
        return None
    if not isinstance(t, Struct) or t.vector or t.name in ("dim3", "uint3"):
        return None
    return t, trees(inner)[1:]


def named(reader: Any, node: Tree) -> str:
    """The variable that such an object becomes, "" where it is none. Raises Refused (KR211)."""
    found = _made(reader, node)
    if found is None:
        return ""
    t, initial = found
    by_name = kind(strip(node)) == "id_expression"
    free = {str(w) for i in initial for w in tokens(i) if w.type == "NAME"}
    changing = sorted(n for n in free - reader.settled_numbers if reader.low.lookup(n) is not None)
    if by_name and changing:
        reason = f"{callee(strip(node))} is made of {changing[0]}, which changes"
        raise reader.low.refuse("KR211", reason, node, "make the object in the launch")
    own: str = reader.own_name(f"{callee(strip(node))}_value" if by_name else "functor")
    args = [reader.placed(strip(a)) for i in initial for a in (trees(i) if kind(i) == "braced_init_list" else [i])]
    built_of = reader.record(own, t, node) + reader.default_members(own, t, node)
    built = reader.constructed(own, t, args, node)
    if built is None:
        for (member, of), value in zip(t.members, args, strict=False):
            built_of += reader.member_given(reader.records[own][member], of, value, node)
    reader.pending += built_of + (built or [])
    return own


def _of_lambda(reader: Any, node: Tree) -> tuple[Struct, list[Any]] | None:
    """The class of a lambda and the variables that it takes; None where it refers to some, or has a state."""
    program = reader.program
    toks = program.unit.tokens
    text = toks[position(node) : end(node)]
    captured = closing(text, 0)
    at = next((n for n in range(captured, len(text)) if text[n].text in ("(", "{")), None)
    if at is None or text[at].text != "(" or {t.text for t in text[1:captured]} & {"&", "this"}:
        return None
    if any(t.text == "=" and n > 1 for n, t in enumerate(text[:captured])):
        return None  # [k = 2 * n]
    stop = closing(text, at)
    start = next((n for n in range(stop, len(text)) if text[n].text == "{"), None)
    if start is None or any(t.text not in _MARKS for t in text[stop + 1 : start]):
        return None
    inner = text[at + 1 : stop] + text[start : len(text)]
    own = {p[-1].text for p in split(text[at + 1 : stop]) if p} | declared_names(node)
    members: list[str] = []
    names: list[str] = []
    for name in dict.fromkeys(t.text for n, t in enumerate(inner) if t.kind == "NAME" and inner[n - 1].text != "."):
        spelled = reader.renames.get(name) or [Raw("NAME", name)]
        now = spelled[0].text if len(spelled) == 1 else ""
        place = reader.low.lookup(now)
        if name in own or not now:
            continue
        if now in reader.arrays:
            element = reader.arrays[now]
            words = getattr(element, "name", "") or SPELLED.get(str(element), "")
            if not words:
                return None
            members.append(f"{words} * {name} ;")
        elif isinstance(place, VarPlace) and str(place.type) in SPELLED:
            members.append(f"{SPELLED[str(place.type)]} {name} ;")
        else:
            continue
        names.append(now)
    returns = "auto" if any(t.text == "return" and text[n + 1].text != ";" for n, t in enumerate(text)) else "void"
    head = f"struct functor {{ {' '.join(members)} __device__ {returns} operator ( ) (".split()
    key = (position(node), *members)
    if key not in program.closures:
        name = f"functor_{len(program.closures) + 1}"
        while name in program.entities or name in program.functions:
            name += "_"
        first = len(toks)
        toks.extend(replace(t) for w in head for t in made(w if w != "functor" else name, text[0]))
        toks.extend(replace(t) for t in [*text[at + 1 : stop], *made(") const", text[0]), *text[start:]])
        toks.extend(made("} ;", text[0]))
        tree = program.parse(Item("type", name, first, len(toks) - 1))
        inside = program.lowering(program)
        inside.scopes = [{}]
        program.closures[key] = program.define_struct(inside, next(iter(tree.find_data("class_specifier"))), {}, name)
    values = [Tree("id_expression", [Token("NAME", n)], node.meta) for n in names]
    return program.closures[key], [Tree("braced_init_list", values, node.meta)]
