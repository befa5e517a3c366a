"""What an expression does on its way, whose value has no part in the values: tests for errors and what is printed.

``if (fill(h, n) != 0) return 1;``, ``assert(step(d) == 0)`` and ``printf("%f\\n", advance(d, n))`` go, but what their
calls do to memory and to numbers stays, in the order of evaluation.

Side condition, checked: it is done whenever the expression is looked at; a call in an arm of ``?:`` or behind ``&&`` is
none such. Behind ``||`` it is done where nothing has failed yet, which is where the program goes on (``fails``).
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import host_effects, host_helpers, host_statuses, host_times
from kraise.frontends.cuda_c.host_names import callee, concept, dropped
from kraise.frontends.cuda_c.host_renames import changed_names, declared_names
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h

_OWNERS = frozenset(("unique_ptr", "shared_ptr", "string", "string_view", "span"))
_WRITING = frozenset(("write", "append", "insert", "push_back"))


class Asides:
    """The part of the reader that leaves calls out."""

    program: Program
    low: Any
    ignored: set[str]
    printed: dict[str, None]
    drop: Any
    effect: Any
    gives_status: Any
    method_of: Any
    member: Any
    pointer_name: Any
    arrays: dict[str, Any]
    banks: dict[str, tuple[str, ...]]
    packs: dict[str, tuple[Node, ...]]
    aliases: set[str]  # names that are not followed, and may stand for memory or for work on it

    def runtime_call(self, node: Node) -> Any:
        """The call of the runtime with an effect on memory inside an expression that only tests it, or None."""
        node = strip(node)
        if not isinstance(node, Tree):
            return None
        if node.data == "launch_expression":
            return node
        if node.data == "call_expression":
            name = callee(node.children[0])
            if host_statuses.tests_status(self, node):  # ok(cudaMalloc(…))
                return self.runtime_call(trees(node)[1])
            runtime = (concept(name) and not concept(name).startswith("host.")) or name.startswith("cuda")
            if runtime or self.gives_status(name, trees(node)[1:]) or self.reports(name):
                return node
            return None
        if node.data in ("assignment_expression", "equality_expression", "cast_expression"):
            return next((f for c in trees(node) if (f := self.runtime_call(c)) is not None), None)
        return None

    def left_out(self, name: str, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """A call without a part in the values; what its arguments do on their way stays."""
        before = [s for a in args for s in self.kept(a)]
        for a in args:  # cudaEventElapsedTime(&ms, …)
            self.ignored.update(_referenced(a))
        if self.is_dropped(name) == "printing":
            self.says(node)
        before += host_times.taken_by(self, self.is_dropped(name), args, node)
        return before + self.drop(node, self.is_dropped(name))  # type: ignore[no-any-return]

    def says(self, node: Tree) -> None:
        """Notes the numbers that a statement prints."""
        names = [str(t) for t in tokens(node) if t.type == "NAME"]
        self.printed.update(dict.fromkeys(n for n in names if isinstance(self.low.lookup(n), VarPlace)))

    def kept(self, node: Any) -> list[h.Stmt]:
        """What an expression does whose value is not followed: ``return cudaMemcpy(…)``, ``auto job = start(d, n)``."""
        if kind(strip(node)) == "lambda_expression":
            return []  # it is done where it is called
        call = self.runtime_call(node)
        done = self.effect(call) if call is not None else asides(self, node)
        self.known_calls(node, call)
        return done  # type: ignore[no-any-return]

    def known_calls(self, node: Any, but: Any = None) -> None:
        """Refuses a call of a function of elsewhere that may change memory (KR213)."""
        for call in node.find_data("call_expression") if isinstance(node, Tree) else ():
            name = callee(call.children[0])
            if call is but or self.method_of(call) is not None or self.program.functions.get(name):
                continue
            if self.runtime_call(call) is not None or (name and self.is_dropped(name)) or concept(name):
                continue
            method = strip(call.children[0])
            plain = kind(method) != "member_expression" or self.member(method) in _WRITING
            given = not plain and any(self.pointer_name(a) for a in trees(call)[1:])
            hidden = {str(t) for t in tokens(call)} & (self.aliases | set(self.packs))
            if given or hidden or host_effects.of_tree(self.program, call, frozenset(self.arrays)).memory:
                what = self.low.text(call.children[0])
                reason = f"the call of {what} is not known in a host function, and may change what it is given"
                raise self.low.refuse("KR213", reason, call, "give its file, too (with --entry), or leave the call out")

    def reports(self, name: str) -> bool:
        """Does a function of the file return an error code of the runtime or of a library?"""
        toks = self.program.unit.tokens
        for d in self.program.functions.get(name, []):
            if d.kind == "host" and d.item is not None:
                words = [t.text for t in toks[d.item.first : d.item.last + 1]]
                before = words[: words.index(d.name)]
                if host_statuses.STATUS & set(before) and "*" not in before:
                    return True
        return False

    def made_elsewhere(self, name: str, given: list[Tree], node: Tree) -> None:
        """Refuses an object of a class of elsewhere that is made of memory, or of a function that works on some;
        pointers of other types are remembered."""
        words = {str(t) for t in tokens(node)}
        for one in given:
            inner = strip(one)
            made = kind(inner) in ("new_expression", "braced_init_list")
            parts = [strip(c) for c in trees(inner)] if made else [inner]  # type: ignore[arg-type]
            memory = [c for c in parts if callee(c) in self.banks or self.pointer_name(c)]
            works = [c for c in parts if host_effects.of_function(self.program, callee(c)).works]
            if node.data == "init_declarator" and not made or words & _OWNERS:
                self.aliases |= {name} if memory or works else set()
            elif memory or works:
                reason = f"{name} is made of `{self.low.text((memory or works)[0])}` by a class that is not known here"
                raise self.low.refuse("KR211", reason, node, "give the file of the class, too, or work on the array")

    def again(self, target: Node) -> bool:
        """Is a place the same when it is looked at once more, and one of a number?"""
        parts = list(target.iter_subtrees()) if isinstance(target, Tree) else []
        steps = any({"++", "--", "="} & {str(c) for c in t.children} for t in parts)
        known = isinstance(self.low.lookup(callee(target)), VarPlace) or kind(strip(target)) == "subscript_expression"
        return known and not steps and not any(t.data == "call_expression" for t in parts)

    def is_dropped(self, name: str) -> str:
        """What a call of ``name`` is dropped as, "" if it is not, or if the file itself defines it."""
        found = [d for d in self.program.functions.get(name, []) if d.item is not None]
        toks = self.program.unit.tokens
        own = any(toks[d.item.first].file == self.program.file for d in found if d.item is not None)
        if found and host_helpers.takes_time(self.program, name):
            return "timing"
        return "" if own else dropped(name)


def asides(reader: Any, node: Any, fails: bool = False) -> list[h.Stmt]:
    """The statements for what an expression does on its way. Raises Refused (KR211)."""
    inner = strip(node)
    if not isinstance(inner, Tree) or not _works(reader, inner):
        return []
    match inner.data:
        case "lambda_expression":
            reason = "a function without a name that does something, and is called elsewhere"
            raise reader.low.refuse("KR211", reason, inner, "write what it does where it is called")
        case "call_expression":
            if (once := run_once(inner)) is not None:
                return list(reader.statement(once))
            if reader.runtime_call(inner) is not None:
                return list(reader.effect(inner))
            if (read := reader.read_in(callee(inner.children[0]), trees(inner)[1:], inner)) is not None:
                return list(read)
            if _calls_the_file(reader, inner):
                return list(reader.read_or_left(Tree("expression_statement", [inner], inner.meta)))
        case "assignment_expression" if _followed(reader, callee(inner.children[0])):
            return list(reader.effect(inner))
        case "unary_expression" | "postfix_expression" if {"++", "--"} & {str(c) for c in inner.children}:
            return list(reader.effect(inner))
        case "conditional_expression" | "logical_and_expression" | "logical_or_expression":
            first, *rest = trees(inner)
            always = fails and inner.data == "logical_or_expression"
            late = next((c for c in rest if _works(reader, c)), None)
            if late is not None and not always:
                reason = f"`{reader.low.text(late)}` does something, in a part of an expression that may not run"
                raise reader.low.refuse("KR211", reason, late, "give it a line of its own")
            return [s for c in (first, *rest) for s in asides(reader, c, fails)]
    return [s for c in trees(inner) for s in asides(reader, c, fails)]


def _works(reader: Any, node: Tree) -> bool:
    """Does an expression change memory of others or a number that is followed, or does a function of the file that it
    calls work on the device?"""
    found = host_effects.of_tree(reader.program, node, frozenset(reader.arrays))
    if any(_followed(reader, n) for n in found.variables) or any(node.find_data("launch_expression")):
        return True
    return found.changes and any(
        _calls_the_file(reader, c) or _reads(reader, c) or reader.runtime_call(c) is not None
        for c in node.find_data("call_expression")
    )


def run_once(call: Tree) -> Tree | None:
    """The statements of ``[&] { … }()`` and ``std::async([&] { … })``, which take nothing and give nothing back."""
    alone = kind(call.children[0]) == "lambda_expression" and len(trees(call)) == 1
    started = callee(call.children[0]) == "async" and kind(strip(trees(call)[-1])) == "lambda_expression"
    if not alone and not started:
        return None
    function: Any = strip(trees(call)[-1])
    body = child(function, "compound_statement")
    if body is None or any(body.find_data("return_statement")) or "deferred" in {str(t) for t in tokens(call)}:
        return None
    copies = [c for c in trees(function, "capture") if [str(t) for t in tokens(c)][:1] != ["&"]]
    return None if copies and changed_names(body) - declared_names(body) else body


def _reads(reader: Any, call: Tree) -> bool:
    from kraise.frontends.cuda_c.host_main import READERS

    return reader.name == "main" and callee(call.children[0]) in READERS


def _calls_the_file(reader: Any, call: Tree) -> bool:
    """Is it a call of a function or a method of the file that changes something?"""
    if reader.method_of(call) is not None:
        return True
    name = callee(call.children[0])
    if kind(call.children[0]) != "id_expression" or not reader.program.functions.get(name) or reader.is_dropped(name):
        return False
    found = host_effects.of_function(reader.program, name)
    return found.changes or bool(found.variables & reader.of_file)


def _followed(reader: Any, name: str) -> bool:
    return name in reader.arrays or (name not in reader.ignored and isinstance(reader.low.lookup(name), VarPlace))


def _referenced(node: Node) -> set[str]:
    node = strip(node)
    if isinstance(node, Tree) and node.data == "unary_expression" and str(node.children[0]) == "&":
        return {callee(node.children[1])} - {""}
    return set()
