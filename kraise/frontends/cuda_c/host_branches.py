"""Branches of CUDA C host functions: ``if`` with error tests and ``continue``, ``switch``."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c import host_asides, host_effects, host_main, host_statuses
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_loops import stepping
from kraise.frontends.cuda_c.host_names import callee, concept
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import Node, kind, last_name, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import BOOL

_FINE = frozenset(("cudaSuccess", "CUBLAS_STATUS_SUCCESS", "CUFFT_SUCCESS", "CURAND_STATUS_SUCCESS"))
_ERRORS = frozenset(("cudaSuccess", "hipSuccess", "CUBLAS_STATUS_SUCCESS", "CUFFT_SUCCESS", "EXIT_SUCCESS"))
_FILES = frozenset(("FILE", "ifstream", "ofstream", "fstream"))
_NULL = frozenset(("NULL", "nullptr", "0"))


class Branches:
    """The part of the reader that knows branches; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    program: Program
    low: Any
    name: str
    arrays: dict[str, Any]
    ignored: set[str]
    functors: dict[str, Tree]
    unknown: set[str]
    arguments_of_main: set[str]
    depth: int
    placed: Any
    runtime_call: Any
    effect: Any
    drop: Any
    block: Any
    truth: Any
    number: Any
    only_says: Any
    is_ignored: Any
    own_name: Any
    decided: Any
    scalar: Any
    hoisted: Any
    calls: Any

    def branch(self, node: Tree) -> list[h.Stmt]:
        """``if``: one that tests for an error is dropped with what it does then."""
        parts = [c for c in node.children if isinstance(c, Tree)]
        test, then = self.placed(parts[0]), parts[1]
        calls = self.tested_calls(test)
        if calls:  # if (cudaMalloc(…) != cudaSuccess) …
            return [*(s for c in calls for s in self.effect(c)), *self.checked(test, then, parts[2:3], node)]
        if self.arguments_of_main & {str(t) for t in tokens(test)}:
            inputs = self.block(then)  # if (argc > 1) n = atoi(argv[1])
            if host_effects.of_tree(self.program, test, frozenset(self.arrays)).changes:
                raise self.low.refuse(
                    "KR211", "work that depends on the command line", node, "give it a line of its own"
                )
            others = self.block(parts[2]) if len(parts) > 2 else ()
            if all(isinstance(s, h.Return) and not s.values for s in inputs):  # if (argc != 2) { usage(); return 1; }
                self.drop(test, "a check of the command line")
                return list(others)
            if host_main.are_inputs(inputs) and host_main.are_defaults(others, inputs):
                return [*(s for s in others if not host_main.is_input(s)), *inputs]
            raise self.low.refuse("KR211", "work that depends on the command line", node, "name another function")
        if self.name == "main" and self.gives_up(then):  # if (n > MAX) { usage(); return 1; }
            found = host_asides.asides(self, test, fails=True)  # if (fscanf(…) != 1) return 1;
            self.drop(test, host_main.PARAMETER if host_main.are_inputs(tuple(found)) else "a check of the arguments")
            return found + (list(self.block(parts[2])) if len(parts) > 2 else [])
        test = self.without_errors(test)
        both = strip(test)
        if len(parts) == 2 and kind(both) == "logical_and_expression" and self.calls(both):  # if (a && f(x) > tol) …
            for side in reversed(trees(both)):  # type: ignore[arg-type]
                then = Tree("if_statement", [side, then], node.meta)
            return self.branch(then)
        test = self.hoisted(test, top=False)
        if self.is_error_test(test):
            return self.checked(test, then, parts[2:3], node)
        steps = stepping(test)
        if steps is not None and steps.gate is None and steps.first and steps.name not in self.ignored:
            before = self.effect(steps.step)  # if (++it % 10 == 0) …
            rest = node.children[node.children.index(parts[0]) + 1 :]
            return [*before, *self.branch(Tree(node.data, [steps.plain, *rest], node.meta))]
        if self.is_ignored(test):
            return self.unfollowed(test, node)
        condition = self.truth(test)
        if (decided := self.decided(condition)) is not None:
            return [s for side in (parts[1:2] if decided else parts[2:3]) for s in self.block(side)]
        body, orelse = self.alternatives([then, *parts[2:3]])
        if not body and not orelse:
            return self.drop(node, "a branch without effects")  # type: ignore[no-any-return]
        return [h.If(condition, body, orelse, span=self.low.span(node))]

    def gives_up(self, then: Tree, anyway: bool = False) -> bool:
        """Does a block of ``main`` end the program with a failure (``anyway``: or having said how it is called), and do
        nothing else that others see?"""
        last = trees(then)[-1:] if then.data == "compound_statement" else [then]
        words = [str(t) for t in tokens(last[0])] if last else []
        if not last or (last[0].data != "return_statement" and words[:1] != ["exit"]):
            return False
        code = "".join(w for w in words if w not in ("return", "exit", "(", ")", ";"))
        found = host_effects.of_tree(self.program, then, frozenset(self.arrays))
        fails = code not in ("", "0", "EXIT_SUCCESS", "cudaSuccess")
        plain = code.lstrip("-+").isdigit() or code.isidentifier()
        says = anyway and not (found.variables or found.memory)
        return (fails or says) and (plain or not code) and not found.works

    def checked(self, test: Node, then: Tree, other: list[Tree], node: Tree) -> list[h.Stmt]:
        """A branch that an error code decides: what runs where there is no error, and runs always."""
        failed = self.on_error(test)
        if failed is None:
            return self.unfollowed(test, node)
        self.drop(test, "error check")
        taken = other if failed else [then]
        return [s for branch in taken for s in self.block(branch)]

    def tested_calls(self, test: Node) -> list[Tree]:
        """The calls of the runtime that a test makes, where none of them fails; all of them are then made."""
        inner = strip(test)
        joined = isinstance(inner, Tree) and inner.data in ("logical_or_expression", "logical_and_expression")
        if joined:
            found = [c for side in trees(inner) for c in self.tested_calls(side)]  # type: ignore[arg-type]
            sides = {self.on_error(c) for c in trees(inner)} if found else set()  # type: ignore[arg-type]
            if found and sides != {inner.data == "logical_or_expression"}:  # type: ignore[union-attr]
                raise self.low.refuse("KR211", "work that depends on an error code", inner, "test errors by itself")
            return found
        if isinstance(inner, Tree) and inner.data == "unary_expression" and str(inner.children[0]) == "!":
            return self.tested_calls(inner.children[1])
        call = self.runtime_call(inner)
        return [call] if call is not None else []

    def on_error(self, test: Node) -> bool | None:
        """Does a test of error codes hold after an error only, or (False) where there is none? None: it is no such
        test."""
        test = strip(test)
        if not isinstance(test, Tree):
            return None
        match test.data:
            case "id_expression" if callee(test) in self.arrays:
                return False
            case "id_expression" if self._is_status(callee(test)):
                return True  # if (err) …
            case "call_expression" if host_statuses.tests_status(self, test):
                return not host_statuses.value(self, test)
            case "call_expression" if self.runtime_call(test) is not None:
                return True
            case "unary_expression" if str(test.children[0]) == "!":
                if self._is_file(callee(test.children[1])):
                    return True
                inner = self.on_error(test.children[1])
                return None if inner is None else not inner
            case "equality_expression":
                return self._compared(test)
            case "logical_or_expression" | "logical_and_expression":
                sides = {self.on_error(c) for c in trees(test)}
                if len(sides) == 1:
                    return sides.pop()
                alone = test.data == "logical_and_expression" and not self.tested_calls(test)
                if test.data == "logical_or_expression" and False in sides and not self.tested_calls(test):
                    return False
                return True if alone and True in sides else None  # one that fails is enough
        return None

    def is_error_test(self, node: Node) -> bool:
        """Does a condition look at an error code, or whether an allocation failed?"""
        names = {str(t) for t in tokens(node)}
        if any(n.startswith(("CUBLAS_STATUS_", "CUFFT_", "HIPBLAS_STATUS_", "HIPFFT_")) for n in names):
            return True
        if names & (_ERRORS | {"cudaGetLastError"}) or self._is_status(callee(strip(node))):
            return True
        return any(self.is_null_test(t) for t in node.iter_subtrees()) if isinstance(node, Tree) else False

    def is_null_test(self, node: Tree) -> bool:
        """Is an expression ``!p``, ``p == NULL`` or ``p != 0`` of a pointer itself (``!*p`` looks at what is there)?"""
        return any(n in self.arrays or self._is_file(n) for n in _tested_for_null(node))

    def _is_file(self, name: str) -> bool:
        """Is a name declared as a file, here or in the source file's scope?"""
        if not name or name in self.arrays or isinstance(self.low.lookup(name), VarPlace):
            return False
        words = {str(w) for w in tokens(self.functors[name])} if name in self.functors else set[str]()
        toks = self.program.unit.tokens
        for item in (i for i in self.program.unit.items if i.kind in ("variable", "other")):
            own = {t.text for t in toks[item.first : item.last + 1]}
            words |= own if name in own else set()
        return bool(words & _FILES)

    def _is_status(self, name: str) -> bool:
        """Is a name declared as a code that the runtime or a library returns?"""
        known = name in self.ignored and name in self.functors
        return known and bool({str(w) for w in tokens(self.functors[name])} & host_statuses.STATUS)

    def without_errors(self, test: Tree) -> Tree:
        """``n > 3`` of ``status == cudaSuccess && n > 3`` and of ``status != cudaSuccess || n > 3``: what is left of a
        test where there is no error."""
        inner = strip(test)
        if not isinstance(inner, Tree) or inner.data not in ("logical_or_expression", "logical_and_expression"):
            return test
        neutral = inner.data == "logical_or_expression"
        kept = [c for c in trees(inner) if self.on_error(c) is not neutral]
        if len(kept) == len(trees(inner)) or not kept or any(self.is_error_test(c) for c in kept):
            return test
        self.drop(test, "error check")
        return kept[0] if len(kept) == 1 else Tree(inner.data, kept, inner.meta)

    def _compared(self, test: Tree) -> bool | None:
        """``status != cudaSuccess``, ``p == NULL``."""
        one, other = (strip(c) for c in trees(test))
        same = any(str(c) == "==" for c in test.children)
        for what, value in ((one, other), (other, one)):
            word = callee(value) if kind(value) == "id_expression" else "".join(str(t) for t in tokens(value))
            if word in _FINE and (self.is_ignored(what) or self.runtime_call(what) is not None):
                return not same
            if word in _NULL and (callee(what) in self.arrays or self._is_file(callee(what))):
                return same
        return None

    def unfollowed(self, test: Node, node: Tree) -> list[h.Stmt]:
        """A branch that something which is not followed decides: what it assigns is not followed either."""
        self.without_effects(node)
        if _leaves_the_round(node) and not self._asks_for_a_file(test):
            reason = (
                "the rounds of a loop depend on what is not followed here (timing, a stream, input or an error code)"
            )
            raise self.low.refuse("KR211", reason, node, "pass the number that decides as a parameter")
        found = host_effects.of_tree(self.program, node, frozenset(self.arrays))
        if found.memory or found.variables & set(self.arrays):
            reason = "memory changes by what is not followed here (timing, a stream, input or an error code)"
            raise self.low.refuse("KR211", reason, node, "pass the number that decides as a parameter")
        self.ignored |= found.variables
        if {str(t) for t in tokens(test)} & self.unknown:
            self.unknown |= found.variables
        return self.drop(node, "error check")  # type: ignore[no-any-return]

    def _asks_for_a_file(self, test: Node) -> bool:
        """Is it ``!file``, ``file == NULL`` or ``file != NULL``: what a program cannot work without?"""
        inner = strip(test)
        return isinstance(inner, Tree) and any(n in self.ignored for n in _tested_for_null(inner))

    def alternatives(self, nodes: list[Tree]) -> tuple[tuple[h.Stmt, ...], tuple[h.Stmt, ...]]:
        """The two sides of a branch; what one of them loses is lost after it."""
        known, lost = set(self.ignored), set(self.ignored)
        self.depth += 1
        found: list[tuple[h.Stmt, ...]] = []
        for node in nodes:
            self.ignored = set(known)
            found.append(self.block(node))
            lost |= self.ignored
        self.depth -= 1
        self.ignored = lost
        return found[0], found[1] if len(found) > 1 else ()

    def without_effects(self, node: Tree) -> None:
        """Refuses to drop what launches or moves memory."""
        for inner in node.iter_subtrees():
            if inner.data == "launch_expression" or inner.data == "call_expression":
                name = callee(inner.children[0])
                defined = name in self.program.functions and not self.only_says(name)
                if inner.data == "launch_expression" or concept(name) or defined:
                    raise self.low.refuse("KR211", "work that depends on an error code", node, "test errors by itself")

    # --- continue

    def skipping(self, node: Tree) -> tuple[Tree, Tree] | None:
        """The test, and what is done before the next round, of ``if (test) { …; continue; }`` in the body of a loop."""
        parts = [c for c in node.children if isinstance(c, Tree)]
        if node.data != "if_statement" or len(parts) != 2:
            return None
        then = trees(parts[1]) if parts[1].data == "compound_statement" else [parts[1]]
        if not then or then[-1].data != "continue_statement":
            return None
        return parts[0], Tree("compound_statement", list(then[:-1]), parts[1].meta)

    def skip(self, node: Tree, rest: list[Tree]) -> list[h.Stmt]:
        """``if (test) { …; continue; }`` with the rest of the round after it."""
        found = self.skipping(node)
        assert found is not None
        test, then = self.placed(found[0]), found[1]
        if self.is_ignored(test) or self.is_error_test(test) or self.runtime_call(test) is not None:
            raise self.low.refuse("KR211", "a round that depends on an error code or a time", node)
        condition = self.truth(test)
        after = Tree("compound_statement", rest, node.meta)
        body, orelse = self.alternatives([then, Tree("loop_body", [after], node.meta)])
        return [h.If(condition, body, orelse, span=self.low.span(node))]

    # --- switch

    def switch(self, node: Tree) -> list[h.Stmt]:
        """``switch`` is a chain of tests; a case that falls through runs the next one's statements too."""
        test, body = [c for c in node.children if isinstance(c, Tree)][:2]
        test = self.placed(test)
        if self.is_ignored(test):
            return self.unfollowed(test, node)
        if kind(body) != "compound_statement":
            raise self.low.refuse("KR211", "a switch without braces is not raised", node)
        value = self.number(test)
        before: list[h.Stmt] = []
        if not isinstance(value, k.Const | k.Var):
            own = self.own_name("choice")
            self.scalar(own, value.type)
            before, value = [h.Assign(own, value, value.type, span=self.low.span(node))], k.Var(own, value.type)
        groups = self.low._cases(body)
        runs = [Tree("compound_statement", self._run([s for _, s in groups[at:]], node), node.meta)
                for at in range(len(groups))]  # fmt: skip
        default = next((at for at, (labels, _) in enumerate(groups) if None in labels), None)
        tests = [self._any_of(value, labels) for labels, _ in groups]
        if fold(value) is not None:
            at = next((at for at, t in enumerate(tests) if t is not None and fold(t).value), default)  # type: ignore[union-attr]
            return [*before, *self.block(runs[at])] if at is not None else before
        known, lost = set(self.ignored), set(self.ignored)
        self.depth += 1
        chain: tuple[h.Stmt, ...] = ()
        order = sorted(range(len(groups)), key=lambda at: (at != default, -at))
        for at in order:
            self.ignored = set(known)
            here = self.block(runs[at])
            lost |= self.ignored
            condition = tests[at]
            chain = here if at == default or condition is None else (
                h.If(condition, here, chain, span=self.low.span(node)),)  # fmt: skip
        self.depth -= 1
        self.ignored = lost
        return [*before, *chain]

    def _any_of(self, value: k.Expr, labels: list[k.Const | None]) -> k.Expr | None:
        tests = [self.low.binary("==", value, c) for c in labels if c is not None]
        found = tests[0] if tests else None
        for t in tests[1:]:
            found = k.Op("or", (found, t), BOOL)  # type: ignore[arg-type]
        return found

    def _run(self, groups: list[list[Tree]], node: Tree) -> list[Tree]:
        """The statements from a case to the break that ends it. Refused where a break lies deeper."""
        out: list[Tree] = []
        for statements in groups:
            flat: list[Tree] = []
            for s in statements:  # case 1: { …; break; }
                inner = trees(s) if s.data == "compound_statement" else []
                ends = bool(inner) and inner[-1].data == "break_statement"
                flat += [Tree("compound_statement", list(inner[:-1]), s.meta), inner[-1]] if ends else [s]
            for s in flat:
                if s.data == "break_statement":
                    return out
                if s.data not in ("for_statement", "while_statement", "do_statement") and any(
                    s.find_data("break_statement")
                ):
                    hint = "end each case with its break, or return"
                    raise self.low.refuse("KR211", "a break inside a branch of a switch", node, hint)
                out.append(s)
                if s.data == "return_statement":
                    return out
        return out


def declared_first(node: Tree) -> Tree | None:
    """``{ int e = f(); if (e) … }`` of ``if (int e = f()) …`` and ``if (int e = f(); e > 0) …``; None for others."""
    first, *rest = (c for c in node.children if isinstance(c, Tree))
    if first.data == "declaration":
        declared, test = first, rest.pop(0)
    elif first.data == "condition_declaration":
        specifiers, *parts = first.children
        declared = Tree("declaration", [specifiers, Tree("init_declarator", parts, first.meta)], first.meta)
        name = next((t for d in parts[0].find_data("declarator_id") if (t := last_name(d)) is not None), None)  # type: ignore[union-attr]
        if name is None:
            return None
        test = Tree("id_expression", [Token("NAME", str(name))], first.meta)
    else:
        return None
    lines = [Tree("declaration_statement", [declared], node.meta), Tree(node.data, [test, *rest], node.meta)]
    return Tree("compound_statement", lines, node.meta)


def _tested_for_null(node: Tree) -> list[str]:
    """The names of ``!p``, ``p == NULL`` and ``p != 0``."""
    if node.data == "unary_expression" and str(node.children[0]) == "!":
        return [callee(strip(node.children[1]))]
    sides = [strip(c) for c in trees(node)] if node.data == "equality_expression" else []
    null = any("".join(str(t) for t in tokens(s)) in _NULL for s in sides)
    return [callee(s) for s in sides] if null else []


def _leaves_the_round(node: Tree, breaks: bool = True) -> bool:
    """Does a statement hold a ``continue``, or (``breaks``) a ``break``, of a loop around it?"""
    if node.data == "continue_statement" or (breaks and node.data == "break_statement"):
        return True
    if node.data in ("for_statement", "while_statement", "do_statement", "range_for_statement"):
        return False
    return any(_leaves_the_round(c, breaks and node.data != "switch_statement") for c in trees(node))
