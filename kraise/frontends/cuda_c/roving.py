"""Pointers that change places (``t = p; p = q; q = t``): which they are, and what each may point to.

Such a pointer is a number that says which of a fixed few it is now; what it points to is chosen by that number where it
is followed. A pointer that also moves (``p++``) is none of them, nor one that is set to anything but the bare name of
a pointer or array, or a choice of such.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lark import Tree

from kraise.frontends.cuda_c.trees import Node, last_name, strip, tokens


@dataclass
class _Moves:
    """What each name is set to, in assignments and where it is declared, and how often it is declared or changed."""

    sets: dict[str, list[Node]] = field(default_factory=dict)
    starts: dict[str, list[Node | None]] = field(default_factory=dict)
    swaps: list[tuple[str, str]] = field(default_factory=list)


def roving(body: Tree, parameters: tuple[str, ...], changes: dict[str, list[int]]) -> dict[str, tuple[str, ...]]:
    """The pointers that change places, each with the names of what it may point to (its own name: what it began with);
    ``changes``: how often each name is modified, whatever it is."""
    moves = _moves(body)
    for name in parameters:
        moves.starts.setdefault(name, []).append(None)
    links: dict[str, set[str]] = {}
    own: set[str] = set()
    for name, sources in moves.sets.items():
        named = [_names(s) for s in sources]
        if None not in named and len(changes.get(name, ())) == len(sources):
            links[name] = {n for found in named if found is not None for n in found}
    for a, b in moves.swaps:
        for x, y in ((a, b), (b, a)):
            if len(changes.get(x, ())) == len(moves.sets.get(x, ())) and (x in links or x not in moves.sets):
                links.setdefault(x, set()).add(y)
    while True:  # what is declared as a roving pointer's value roves, too
        more = {
            name: {n for s in starts for n in _names(s) or ()}
            for name, starts in moves.starts.items()
            if name not in links and not changes.get(name) and all((_names(s) or set()) & links.keys() for s in starts)
        }
        if not more:
            break
        links |= more
    for name in links:
        for start in moves.starts.get(name, ()):
            found = None if start is None else _names(start)
            if found is not None:
                links[name] |= found
            elif start is not None or name in parameters:
                own.add(name)
    out: dict[str, tuple[str, ...]] = {}
    for name in links:
        bases = _bases(name, links, own)
        steady = all(n in links or (not changes.get(n) and len(moves.starts.get(n, ())) == 1) for n in bases)
        once = all(len(moves.starts.get(n, ())) == 1 for n in own & set(bases))
        if len(bases) > 1 and steady and once:
            out[name] = bases
    return out


def _bases(name: str, links: dict[str, set[str]], own: set[str]) -> tuple[str, ...]:
    """What the pointers that are linked with ``name`` may point to, in order of their names."""
    seen, todo = {name}, [name]
    while todo:
        top = todo.pop()
        near = links[top] | {n for n, to in links.items() if top in to} if top in links else set()
        todo += [n for n in near if n not in seen]
        seen |= near
    return tuple(sorted(n for n in seen if n not in links or n in own))


def _moves(body: Tree) -> _Moves:
    found = _Moves()
    for tree in body.iter_subtrees_topdown():
        match tree.data:
            case "assignment_expression":
                target = _name(tree.children[0])
                if target and "".join(map(str, tokens(tree.children[1]))) == "=":
                    found.sets.setdefault(target, []).append(tree.children[2])
            case "init_declarator":
                declared = last_name(_declared(tree))
                if declared is not None:
                    value = tree.children[1] if len(tree.children) > 1 else None
                    found.starts.setdefault(str(declared), []).append(value)
            case "call_expression":
                called = strip(tree.children[0])
                word = last_name(called) if isinstance(called, Tree) and called.data == "id_expression" else None
                names = [_name(a) for a in tree.children[1:]]
                if word is not None and str(word) == "swap" and len(names) == 2 and all(names):  # noqa: PLR2004
                    found.swaps.append((names[0], names[1]))
    return found


def _declared(tree: Tree) -> Node:
    """The part of a declarator that holds the name."""
    return next((t for t in tree.iter_subtrees_topdown() if t.data == "declarator_id"), tree)


def _name(node: Node) -> str:
    """The bare name that an expression is, "" if it is something else."""
    node = strip(node)
    if isinstance(node, Tree) and node.data == "id_expression" and len(list(tokens(node))) == 1:
        return str(last_name(node) or "")
    return ""


def _names(node: Node | None) -> set[str] | None:
    """The names among which an expression chooses; None if it does anything else."""
    if node is None:
        return None
    node = strip(node)
    if isinstance(node, Tree) and node.data == "conditional_expression":
        first, second = _names(node.children[1]), _names(node.children[2])
        return None if first is None or second is None else first | second
    return {name} if (name := _name(node)) else None


__all__ = ["roving"]
