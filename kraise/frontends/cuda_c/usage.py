"""Where a function's tree modifies names: decides which pointers move, which loop variables are a loop's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from lark import Token, Tree

from kraise.frontends.cuda_c.trees import Node, child, end, last_name, position, strip, tokens, trees


@dataclass
class Usage:
    """Token positions by name: all uses, modifications, loops that start by setting a name, casts of its address."""

    uses: dict[str, list[int]] = field(default_factory=dict)
    modified: dict[str, list[int]] = field(default_factory=dict)
    own_loops: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    plain_declarations: dict[str, list[int]] = field(default_factory=dict)
    seen: dict[str, list[tuple[int, Tree]]] = field(default_factory=dict)  # the types that an address is cast to

    def modified_in(self, name: str, first: int, last: int) -> bool:
        """Is ``name`` modified by a token between ``first`` and ``last`` (exclusive)?"""
        return any(first <= p < last for p in self.modified.get(name, ()))

    def read_outside(self, name: str, first: int, last: int) -> bool:
        """May the value that a loop over [first, last) leaves in ``name`` be read after it?"""
        loops = self.own_loops.get(name, [])
        declared = self.plain_declarations.get(name, [])
        for p in self.uses.get(name, ()):
            if first <= p < last or p in declared or any(a <= p < b for a, b in loops):
                continue
            return True
        # inside another own loop of the same name that encloses this one: its test reads the value
        return any(a < first and last < b for a, b in loops)


def usage(body: Tree, reference_calls: frozenset[str] = frozenset()) -> Usage:
    """Collect the uses of names in a body. ``reference_calls``: functions that take arguments by reference."""
    found = Usage()
    for t in tokens(body):
        if t.type == "NAME":
            found.uses.setdefault(str(t), []).append(position(t))
    for tree in body.iter_subtrees():
        match tree.data:
            case "assignment_expression":
                _mark(found, tree.children[0], tree)
            case "postfix_expression" if len(tree.children) == 2:
                _mark(found, tree.children[0], tree)
            case "unary_expression" if str(tree.children[0]) in ("++", "--", "&"):
                _mark(found, tree.children[1], tree)
            case "call_expression":
                callee = strip(tree.children[0])
                name = last_name(callee) if isinstance(callee, Tree) and callee.data == "id_expression" else None
                if name is not None and str(name) in reference_calls:
                    for argument in tree.children[1:]:
                        _mark(found, argument, tree)
            case "for_statement":
                _own_loop(found, tree)
            case "cast_expression" | "cxx_cast_expression":
                _cast(found, tree)
            case "init_declarator" if len(tree.children) == 1:
                for t in tokens(tree):
                    if t.type == "NAME":
                        found.plain_declarations.setdefault(str(t), []).append(position(t))
                        break
    return found


def _mark(found: Usage, target: Node, where: Tree) -> None:
    target = strip(target)
    if isinstance(target, Tree) and target.data == "comma_expression":
        _mark(found, target.children[-1], where)
        return
    if isinstance(target, Tree) and target.data == "member_expression" and str(target.children[1]) == ".":
        _mark(found, target.children[0], where)
        return
    if isinstance(target, Tree) and target.data == "id_expression":
        name = last_name(target)
        if name is not None:
            found.modified.setdefault(str(name), []).append(position(target))


def _cast(found: Usage, tree: Tree) -> None:
    target, plain = child(tree, "type_id"), strip(trees(tree)[-1])
    if target is None or not isinstance(plain, Tree) or plain.data != "unary_expression" or len(plain.children) != 2:
        return
    symbol, inner = plain.children[0], strip(plain.children[1])
    name = last_name(inner) if isinstance(inner, Tree) and inner.data == "id_expression" else None
    if str(symbol) == "&" and name is not None:
        found.seen.setdefault(str(name), []).append((position(tree), target))


def _own_loop(found: Usage, tree: Tree) -> None:
    init = child(tree, "for_init")
    inner = strip(init.children[0]) if init is not None and init.children else None
    parts: list[Node] = [inner] if inner is not None else []
    while parts:
        part = strip(parts.pop())
        if isinstance(part, Tree) and part.data in ("expression_statement", "comma_expression"):
            parts += list(part.children)
        elif isinstance(part, Tree) and part.data == "assignment_expression":
            symbol = "".join(str(t) for t in tokens(part.children[1]))
            target = strip(part.children[0])
            if symbol == "=" and isinstance(target, Tree) and target.data == "id_expression":
                name = last_name(target)
                found.own_loops.setdefault(str(name), []).append((position(tree), end(tree)))


def names_in(node: Node) -> set[str]:
    """The identifiers in an expression."""
    return {str(t) for t in tokens(node) if isinstance(t, Token) and t.type == "NAME"}
