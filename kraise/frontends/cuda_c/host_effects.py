"""What a piece of a CUDA C host function, or a helper of the file, changes: decides what may be dropped.

A call or a loop is without a part in the values only if it changes no memory that others see, no variable that is
followed, and neither launches nor moves memory, itself or in what it calls. What is not known counts as a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import library_table
from kraise.frontends.cuda_c.host_names import callee, concept, dropped
from kraise.frontends.cuda_c.host_quiet import methods, only_prints
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import Node, child, kind, last_name, strip, tokens, trees

MAKES = frozenset(("malloc", "calloc", "aligned_alloc", "posix_memalign", "make_unique", "make_shared"))
_READS = frozenset(
    ("memcmp", "strcmp", "strncmp", "strlen", "strcasecmp", "strstr", "strchr", "atoi", "atol", "atof", "getenv",
     "access", "max_element", "min_element", "equal", "accumulate", "all_of", "any_of", "none_of", "is_sorted",
     "distance", "count", "count_if", "find", "find_if", "inner_product", "lower_bound", "upper_bound",
     "binary_search", "mismatch", "minmax_element", "adjacent_find")
)  # fmt: skip
_READING_METHODS = frozenset(
    ("size", "begin", "end", "cbegin", "cend", "data", "empty", "at", "c_str", "length", "front", "back", "count",
     "find", "get", "is_open", "good", "eof", "fail")
)  # fmt: skip
_OF_CONTAINERS = frozenset(
    ("size", "begin", "end", "data", "empty", "push_back", "emplace_back", "resize", "reserve", "assign", "clear",
     "back")
)  # fmt: skip
VALUE, ARRAY, POINTER, REFERENCE, CONSTANT = "value", "array", "pointer", "reference", "constant"


@dataclass
class Effects:
    """``memory``: of others, that is stored to; ``variables`` of others that are assigned; ``works``: it launches or
    moves memory of the device."""

    memory: bool = False
    variables: set[str] = field(default_factory=set)
    works: bool = False
    recursive: bool = False  # it calls what is being looked at, which is left out

    def add(self, other: Effects) -> None:
        """Joins what something inside does."""
        self.memory |= other.memory
        self.variables |= other.variables
        self.works |= other.works
        self.recursive |= other.recursive

    @property
    def changes(self) -> bool:
        """Does it change memory or work on the device?"""
        return self.memory or self.works


def reads(name: str) -> bool:
    """Is this a function of elsewhere that only looks at what it is given?"""
    return name in _READS or name in MAKES


def of_function(program: Program, name: str, above: tuple[str, ...] = ()) -> Effects:
    """What a function of the file changes, all its overloads together; what cannot be read changes memory."""
    if name in above:
        return Effects(recursive=True)
    if name in program.effects:
        return program.effects[name]
    found = Effects()
    for d in program.functions.get(name, []):
        if d.item is None:
            continue
        try:
            found.add(of_tree(program, program.load(d), frozenset(), (*above, name)))
        except Refused:
            found.memory = True
    if not above or not found.recursive:
        program.effects[name] = found
    return found


def of_tree(
    program: Program, tree: Tree, pointers: frozenset[str] = frozenset(), above: tuple[str, ...] = ()
) -> Effects:
    """What a statement or a whole function changes. ``pointers`` are the names around it that point to memory."""
    return _Reading(program, tree, pointers, above).run()


def sees_others(program: Program, tree: Tree) -> set[str]:
    """The pointers and references that a tree declares and that may see memory of others."""
    return {n for n, what in _Reading(program, tree, frozenset(), ()).own.items() if what in (POINTER, REFERENCE)}


def points_elsewhere(program: Program, tree: Tree, pointers: set[str]) -> set[str]:
    """The ``pointers`` that a tree sets, by themselves, to what is no new memory."""
    reading = _Reading(program, tree, frozenset(), ())
    targets = {callee(t.children[0]) for t in tree.find_data("assignment_expression")}
    return {n for n in pointers if (n in targets or n in reading.own) and not reading._is_made_here(n)}


def read_from_streams(tree: Tree) -> Iterator[Tree]:
    """Each ``>>`` whose value is not taken, or only tested: ``file >> n``, ``while (file >> x)``."""
    for t in tree.iter_subtrees():
        tested = t.data in ("expression_statement", "if_statement", "if_else_statement", "while_statement")
        waiting: list[Node] = list(trees(t)[:1]) if tested else []
        while waiting:
            e: Any = strip(waiting.pop())
            if kind(e) == "shift_expression" and ">>" in {str(c) for c in e.children}:
                yield e
                waiting.append(e.children[0])
            elif kind(e) in ("unary_expression", "logical_and_expression", "logical_or_expression"):
                waiting += trees(e)


class _Reading:
    """One tree."""

    def __init__(self, program: Program, tree: Tree, pointers: frozenset[str], above: tuple[str, ...]):
        self.program, self.tree, self.pointers, self.above = program, tree, pointers, above
        self.own = dict(_declared(tree))
        params = [d for p in tree.find_data("parameter_declaration") for d in trees(p, "declarator")]
        self.given = {n for d in params for n in _names(d)}
        for name in [n for n, what in self.own.items() if what == POINTER and self._is_made_here(n)]:
            self.own[name] = ARRAY
        self.found = Effects()

    def run(self) -> Effects:
        for t in self.tree.iter_subtrees():
            match t.data:
                case "assignment_expression":
                    self.target(t.children[0])
                case "unary_expression" | "postfix_expression" if {"++", "--"} & {str(c) for c in t.children}:
                    self.target(next(c for c in t.children if isinstance(c, Tree)))
                case "launch_expression" | "asm_statement":
                    self.found.works = True
                case "call_expression":
                    self.call(t)
                case "shift_expression" if ">>" in {str(c) for c in t.children}:
                    left = strip(t.children[0])
                    while kind(left) == "shift_expression":
                        left = strip(left.children[0])  # type: ignore[union-attr]
                    if callee(left) == "cin" or self.own.get(callee(left)) == VALUE and "stream" in written(self.tree):
                        self.target(trees(t)[-1])
        for t in read_from_streams(self.tree):
            self.target(trees(t)[-1])
        return self.found

    def target(self, node: Any) -> None:
        """Something is stored here."""
        node = strip(node)
        name = callee(node)
        if name:
            what = self.own.get(name)
            if what is None:
                self.found.variables.add(name)
            self.found.memory |= what == REFERENCE
            return
        through = False
        while isinstance(node, Tree):
            match node.data:
                case "subscript_expression":
                    node = strip(node.children[0])
                    if kind(node) == "member_expression":
                        through = True
                case "unary_expression" if [str(c) for c in node.children[:1]] == ["*"]:
                    node = strip(node.children[-1])
                    through = through or kind(node) != "id_expression"
                case "member_expression":
                    through = through or "->" in {str(t) for t in node.children if isinstance(t, Token)}
                    through = through or any(kind(c) == "arrow" for c in node.children)
                    node = strip(trees(node)[0])
                case _:
                    break
        here = self.own.get(callee(node), "") in (VALUE, ARRAY) and not through
        self.found.memory |= not here

    def call(self, t: Tree) -> None:
        """What a call changes."""
        name, args = callee(t.children[0]), trees(t)[1:]
        if self.program.functions.get(name):
            self.found.add(of_function(self.program, name, self.above))
            for a in args:  # a reference or a pointer that the callee sets
                if self.found.memory and (inner := _addressed(a)) is not None:
                    self.target(inner)
            return
        what = concept(name)
        if library_table.is_library_word(name):
            self.found.works = True
            return
        if name in self.given:  # what its caller gives it may do anything
            self.found.works = self.found.memory = True
            return
        if what.startswith("host.") or name in MAKES or name in _READS or self.own.get(name):
            return
        if what in ("memcpy", "memset") and not name.startswith("cuda") and args:
            inner = _addressed(args[0])
            self.target(inner if inner is not None else Tree("subscript_expression", [_uncast(args[0])], t.meta))
            return
        if what == "swap":
            for a in args:
                self.target(a)
            return
        if what and what != "pointer":
            self.found.works = True
            return
        method = strip(t.children[0])
        if kind(method) == "member_expression":
            word = next((str(x) for m in trees(method, "member_name") for x in tokens(m)), "")  # type: ignore[arg-type]
            owner = strip(trees(method)[0])  # type: ignore[arg-type]
            of_library = callee(owner) in self.pointers and word in _OF_CONTAINERS  # a vector around the tree
            if word in methods(self.program) and not of_library:
                if only_prints(self.program, word):
                    return
                self.found.works = self.found.memory = True
            if word not in _READING_METHODS and kind(owner) != "call_expression":
                self.target(owner)
            return
        for a in args:
            if (inner := _addressed(a)) is not None:
                self.target(inner)
            elif not dropped(name) and self._points(a):
                self.found.memory = True

    def _points(self, node: Node) -> bool:
        """Is an argument memory of others?"""
        node = strip(node)
        if not isinstance(node, Tree):
            return False
        match node.data:
            case "id_expression":
                name = callee(node)
                return name in self.pointers or self.own.get(name) in (POINTER, REFERENCE)
            case "additive_expression" | "cast_expression" | "cxx_cast_expression":
                return any(self._points(c) for c in trees(node))
            case "call_expression":
                method = strip(node.children[0])
                return kind(method) == "member_expression" and self._points(trees(method)[0])  # type: ignore[arg-type]
        return False

    def _is_made_here(self, name: str) -> bool:
        """Is every value of a pointer new memory?"""
        values: list[Node] = []
        for t in self.tree.iter_subtrees():
            if t.data == "init_declarator":
                d = child(t, "declarator")
                if d is not None and name in _names(d):
                    values += [c for c in trees(t) if c is not d]
            elif t.data == "assignment_expression" and callee(t.children[0]) == name:
                values.append(t.children[-1])
            address = _addressed(t) if t.data == "unary_expression" else None
            if t.data == "parameter_declaration" and name in _names(t):
                return False
            if address is not None and callee(address) == name:
                return False
        return bool(values) and all(_makes(v) for v in values)


def _makes(node: Node) -> bool:
    inner = _uncast(node)
    if kind(inner) in ("new_expression", "null_pointer") or written(inner) in ("NULL", "nullptr", "0"):
        return True
    return kind(inner) == "call_expression" and callee(inner.children[0]) in MAKES  # type: ignore[union-attr]


def _uncast(node: Node) -> Node:
    node = strip(node)
    while isinstance(node, Tree) and node.data in ("cast_expression", "cxx_cast_expression"):
        node = strip(trees(node)[-1])
    return node


def _addressed(node: Node) -> Tree | None:
    """``x`` of ``&x``, None for another expression."""
    inner = _uncast(node)
    if isinstance(inner, Tree) and inner.data == "unary_expression" and str(inner.children[0]) == "&":
        return inner.children[1]  # type: ignore[return-value]
    return None


def written(node: Node) -> str:
    return " ".join(str(t) for t in tokens(node))


def _names(node: Tree) -> set[str]:
    return {str(t) for d in node.find_data("declarator_id") if (t := last_name(d)) is not None}


def _declared(tree: Tree) -> Iterator[tuple[str, str]]:
    """The names that a tree declares, and what they are."""
    for t in tree.iter_subtrees():
        if t.data == "parameter_declaration":
            yield from _kinds(child(t, "declarator"), child(t, "decl_specifiers"), parameter=True)
        elif t.data in ("declaration", "range_for_statement", "condition_declaration"):
            specifiers = child(t, "decl_specifiers")
            for d in trees(t, "init_declarator", "constructor_declarator", "braced_declarator", "declarator"):
                inner = d if d.data == "declarator" else child(d, "declarator")
                yield from _kinds(inner, specifiers, parameter=False)


def _kinds(declarator: Tree | None, specifiers: Tree | None, parameter: bool) -> Iterator[tuple[str, str]]:
    if declarator is None:
        return
    is_array = any(t.data.endswith("array_declarator") for t in declarator.iter_subtrees())
    before = {str(t) for p in declarator.find_data("ptr_operator") for t in tokens(p)}
    unclear = specifiers is not None and "auto" in {str(t) for t in tokens(specifiers)}
    what = VALUE
    if "&" in before or "&&" in before or unclear:
        what = REFERENCE
    elif "*" in before and specifiers is not None and "FILE" in {str(t) for t in tokens(specifiers)}:
        what = CONSTANT  # a file is no memory
    elif "*" in before or (is_array and parameter):
        constant = specifiers is not None and "const" in {str(t) for t in tokens(specifiers)}
        stars = sum(str(t) == "*" for t in tokens(declarator))
        what = CONSTANT if constant and stars + (is_array and parameter) < 2 else POINTER
    elif is_array:
        what = ARRAY
    for name in _names(declarator):
        yield name, what
