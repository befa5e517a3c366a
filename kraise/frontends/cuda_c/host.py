"""CUDA C host functions to Host IR: declarations, loops, branches; calls are in :mod:`host_calls`.

Scalars and pointer arithmetic are lowered as in kernels; a pointer is an array of Host IR.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c import (
    host_effects,
    host_file,
    host_graphs,
    host_lost,
    host_main,
    host_pairs,
    host_ranges,
    host_refusals,
    host_statuses,
    host_taken,
    host_times,
)
from kraise.frontends.cuda_c.c_types import CType, Pointer, Struct
from kraise.frontends.cuda_c.host_algorithms import without_algorithms
from kraise.frontends.cuda_c.host_arrays import without_arrays
from kraise.frontends.cuda_c.host_branches import Branches, declared_first
from kraise.frontends.cuda_c.host_declarations import Declarations
from kraise.frontends.cuda_c.host_expressions import HostExpressions
from kraise.frontends.cuda_c.host_extrema import without_places
from kraise.frontends.cuda_c.host_higher import without_functions_as_arguments
from kraise.frontends.cuda_c.host_hoist import Hoisting
from kraise.frontends.cuda_c.host_lambdas import without_lambdas
from kraise.frontends.cuda_c.host_loops import stepping
from kraise.frontends.cuda_c.host_lowering import HostLowering
from kraise.frontends.cuda_c.host_methods import Methods
from kraise.frontends.cuda_c.host_names import handed
from kraise.frontends.cuda_c.host_references import References, set_parameters
from kraise.frontends.cuda_c.host_renames import (
    changed_names,
    changed_objects,
    declared_names,
    declared_once,
    with_names,
)
from kraise.frontends.cuda_c.host_rounds import Rounds
from kraise.frontends.cuda_c.host_stepped import SteppedLoops
from kraise.frontends.cuda_c.host_tokens import text_of, with_text
from kraise.frontends.cuda_c.host_vectors import without_loops_over_vectors
from kraise.frontends.cuda_c.instantiate import Instantiation, bindings_of
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import PointerPlace, PointerValue, VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import set_within
from kraise.ir.types import INT32, ScalarType

ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


class HostReader(
    Declarations, HostExpressions, Branches, Methods, Hoisting, References, Rounds, SteppedLoops, host_pairs.Pairs
):
    """One host function."""

    def __init__(self, program: Program, functions: dict[str, k.Function], hosts: dict[str, tuple[bool, ...]]):
        self.program = program
        self.low: Any = HostLowering(program, True)
        self.functions, self.hosts = functions, hosts
        self.arrays: dict[str, CType] = {}
        self.structs: dict[str, tuple[str, ...]] = {}
        self.struct_types: set[str] = set()
        self.dims: dict[str, tuple[k.Expr, ...]] = {}
        self.definitions: dict[str, k.Expr] = {}
        self.ignored: set[str] = set()
        self.unknown, self.aliases = set[str](), set[str]()  # those of them that are made of data, or may be memory
        self.packs: dict[str, tuple[Node, ...]] = {}
        self.dropped: list[h.Dropped] = []
        self.problems: list[Diagnostic] = []
        self.failed: dict[str, Diagnostic] = {}  # names without a meaning, by the problem that is the cause
        self.outlined: list[k.Function] = []
        self.texts: dict[tuple[str, ...], k.Function] = {}  # those of them, by their text
        self.plans: dict[str, tuple[tuple[k.Expr, ...], k.Expr]] = {}  # of cuFFT: sizes and batch
        self.functors: dict[str, Tree] = {}  # declarations of names that are no numbers and no arrays
        self.null: set[str] = set()  # pointers to storage of a library that nothing was allocated for yet
        self.storage: set[str] = set()  # all of these pointers
        self.containers, self.made, self.members_made = set[str](), set[str](), set[str]()
        self.banks: dict[str, tuple[str, ...]] = {}
        self.base_classes: dict[str, Any] = {}
        self.places: set[str] = set()
        self.moved: dict[str, tuple[str, k.Expr | None]] = {}  # pointers that are set once: the array, and where in it
        self.alone = False  # does it give what it shows, since it gives nothing else?
        self.others_alone: set[str] = set()  # other hosts that do
        self.functor_values: dict[str, Any] = {}  # variables of classes that are called: the class, the initializer
        self.listed: dict[str, tuple[k.Expr, ...]] = {}  # arrays with the numbers that they begin with
        self.grids: dict[str, str] = {}  # rows of memory: the length of one
        self.unset_dims: set[str] = set()  # members of type dim3 that nothing was given to yet
        self.records: dict[str, dict[str, str]] = {}
        self.racks: dict[str, Struct] = {}
        self.kinds: dict[str, Struct] = {}
        self.choices, self.chosen_names = 0, set[str]()
        self.instances: dict[str, list[Instantiation]] = {}
        self.notes: list[Diagnostic] = []
        self.host_params: dict[str, tuple[k.Param, ...]] = {}
        self.bound: dict[str, Any] = {}  # what its own template parameters stand for
        self.host_bound: dict[str, dict[str, Any]] = {}  # those of the other host functions
        self.on_device: set[str] = set()  # other hosts that work on variables of the device, which are one for all
        self.shared, self.members, self.single = set[str](), set[str](), set[str]()
        self.inlining: list[str] = []
        self.written_numbers, self.repeating, self.repeated_calls = list[tuple[Any, ...]](), set[str](), 0
        self.written_out: set[str] = set()
        self.skipped: set[int] = set()  # places of parameters without a part in the values
        self.finished: dict[str, h.Host] = {}
        self.skips: dict[str, set[int]] = {}  # those of the other host functions
        self.pending: list[h.Stmt] = []  # what a library call inside an expression needs before it
        self.low.library = self.library_in
        self.plain: dict[str, k.Function | None] = {}
        self.refused: dict[str, list[Diagnostic]] = {}
        self.symbols: dict[str, bool] = {}
        self.depth = 0
        self.rows: dict[str, tuple[k.Expr, ...]] = {}  # the inner extents of parameters that are arrays of arrays
        self.host_copied: dict[str, set[int]] = {}  # of host functions: the parameters that they copy back to
        self.host_timed: dict[str, set[int]] = {}  # those that take times
        self.timed, self.warned = set[str](), list[Diagnostic]()
        self.unset: set[str] = set()  # numbers that were declared, and nothing was assigned to yet
        self.renames: dict[str, list[Raw] | None] = {}
        self.references, self.exits, self.name = set[str](), set[str](), ""
        self.arguments_of_main: set[str] = set()
        self.inputs: dict[str, Any] = {}
        self.copied: dict[str, None] = {}
        self.printed: dict[str, None] = {}
        self.managed: dict[str, None] = {}
        self.device_vectors: set[str] = set()
        self.suppressed: list[Diagnostic] = []  # why statements were left out that no result needs
        self.lost: dict[str, Refused] = {}  # arrays that a statement of main may have changed which was not read
        self.returns: ScalarType | None = None
        self.of_file: set[str] = set()  # variables of the file that are main's
        self.zeroed, self.undefaulted = set[str](), set[str]()  # of main: set to 0 by C; of no known default
        self.worked = False  # was something launched, or computed by a library?

    def read(self, d: Definition, name: str) -> h.Host:
        """The host function. Raises Refused."""
        text = text_of(self.program, d)
        plain = without_lambdas(
            without_functions_as_arguments(self.program, without_algorithms(without_places(text)), self.written_out)
        )
        plain = self.by_members(without_loops_over_vectors(without_arrays(plain)))
        if plain != text:
            d = with_text(self.program, d, plain)
        tree = self.program.load(d)
        declarator, body = child(tree, "function_declarator"), child(tree, "compound_statement")
        if tree.data != "function_definition" or declarator is None or body is None:
            hint = "kernels are raised without it; write the launches in a function"
            raise self.low.refuse("KR211", f"{name} is no plain function", tree, hint)
        self.name = name
        bound, static, self.notes = bindings_of(self.program, d, self.instances.get(name, []))
        self.low.scopes = [{**d.scope, **bound}, {}]
        self.bound = bound
        self.returns = self.result_type(tree, declarator)
        self.gives_numbers = self.returns is not None and host_statuses.gives_numbers(body)
        self.struct_result = host_pairs.returned_struct(self, tree, declarator)
        params, copied = list[k.Param](), list[h.Stmt]()
        self.handed = handed(body)
        self.set_parameters = set_parameters(self, declarator, body)
        self.settled_numbers = declared_once(declarator, body) - changed_names(body)
        self.changed_objects = changed_objects(body)
        for at, p in enumerate(trees(declarator, "parameter_declaration")):
            copied += self.parameter(at, p, params)
        params += static
        for number in static:
            self.scalar(number.name, number.type)  # type: ignore[arg-type]
        of_file = host_file.declared(self, name, params)
        body = with_names(body, self.set_parameters) if self.set_parameters else body
        out = (*of_file, *self.block(body))
        if self.problems:
            raise Refused(*self.suppressed, *self.problems)
        out = host_times.without(self, host_graphs.replayed(out, self.finished), params)
        out = host_file.stepped(self, params, self.with_symbols(params, out))
        moved = sorted((self.shared | self.members) & set_within(out))
        if moved:
            reason = f"{name} changes {moved[0]}, which is a member of its caller's struct"
            raise self.low.refuse("KR211", reason, tree, "functions that call it are raised with it written out")
        self.alone = host_main.gives_nothing(self, params, declarator, out)
        if self.alone:
            out = host_main.results(self, out)
        if name == "main":
            out = host_lost.without(self, host_main.results(self, out))
            out = host_main.with_inputs(self, params, out)
        doc = self.program.comment_before(tree, d.item)
        return h.Host(
            name, tuple(params), (*copied, *out), doc, tuple(self.dropped), span=self.low.span(declarator),
            rows=tuple(self.rows.items()), in_place=name != "main",
        )  # fmt: skip

    def result_type(self, tree: Tree, declarator: Tree) -> ScalarType | None:
        """The type of the number that the function returns, None if it returns none."""
        specifiers = child(tree, "decl_specifiers")
        inner = child(declarator, "declarator")
        if specifiers is None or inner is None:
            return None
        _, found = self.low.declarator(inner, self.low.specifiers(specifiers).type)
        return found if isinstance(found, ScalarType) else None

    # --- names

    def array(self, name: str, element: CType) -> None:
        """Declares an array."""
        self.arrays[name] = element
        self.low.names[name] = "taken"
        self.low.declare(name, PointerPlace(name, Pointer(element), PointerValue(name, (), None, element)))

    def scalar(self, name: str, t: ScalarType) -> None:
        """Declares a number."""
        self.low.names[name] = t
        self.low.declare(name, VarPlace(name, t))

    def drop(self, node: Node, what: str) -> list[h.Stmt]:
        """Notes a statement that has no part in the values."""
        found = h.Dropped(" ".join(self.low.text(node).split()), what, self.low.span(node))
        self.dropped += [found] if found not in self.dropped else []
        if what != host_main.PARAMETER:
            self.unfollow(node)
        return []

    def unfollow(self, node: Node) -> None:
        """The numbers that a dropped expression sets (``CHECK((k++, …))``) are not followed any more."""
        if isinstance(node, Tree):
            changed = host_effects.of_tree(self.program, node, frozenset(self.arrays)).variables - self.counters(node)
            lost = {n for n in changed if isinstance(self.low.lookup(n), VarPlace)}
            self.ignored |= lost
            if {str(t) for t in tokens(node)} & (self.unknown | set(self.arrays)):
                self.unknown |= lost

    # --- statements

    def block(self, node: Node) -> tuple[h.Stmt, ...]:
        """The statements of a block; problems are collected."""
        out: list[h.Stmt] = []
        self.low.scopes.append({})
        around, self.pending = self.pending, []
        renames = self.renames
        inside = kind(node) == "loop_body"  # of a loop: a continue skips the rest
        node = trees(node)[0] if inside else node  # type: ignore[arg-type]
        parts: list[Tree] = trees(node) if kind(node) == "compound_statement" else [node]  # type: ignore
        for at in range(len(parts)):
            parts[at:] = self.under_own_names(self.shadowing(parts[at], self.low.scopes[1:-1]), *parts[at:])
            parts[at + 1 :] = self.without_references(parts[at], parts[at + 1 :])
            skips = inside and self.skipping(parts[at]) is not None
            out += self.read_or_left(parts[at], parts[at + 1 :] if skips else None)
            if skips:
                break
        self.low.scopes.pop()
        self.pending, self.renames = around, renames
        return tuple(out)

    def read_or_left(self, node: Tree, rest: list[Tree] | None = None) -> list[h.Stmt]:
        """A statement (of a loop, with the ``rest`` that it skips); one that is not read may be none of ours."""
        before, known = len(self.problems), set(self.ignored)
        found: list[h.Stmt] = []
        try:
            read = self.skip(node, rest) if rest is not None else self.statement(node)
            found = [*self.flushed(), *read]
        except Refused as refused:
            self.flushed()
            self.low.out.clear()
            self.low.after.clear()
            self.problems += refused.diagnostics
        if len(self.problems) == before and host_taken.lets_go(self, node, known, found):
            found = host_taken.taken(self, node) or found  # while ((c = getopt(argc, argv, …)) != -1) …
        if len(self.problems) > before:
            left = host_taken.taken(self, node)
            if left is None:
                left = host_lost.marked(self, node, Refused(*self.problems[before:]))
            if left is not None:
                del self.problems[before:]
                found = left
            host_refusals.without_followers(self, node, before)
        self.worked = self.worked or host_taken.computes(found)
        return found

    def declares(self, node: Tree) -> list[str]:
        """The names that a statement declares for those after it."""
        found = trees(node, "declaration") if node.data == "declaration_statement" else []
        return [n for d in found for n in declared_names(d)]

    def shadowing(self, node: Tree, scopes: list[dict[str, Any]]) -> list[str]:
        """The names that a declaration declares though ``scopes`` have them."""
        found = trees(node, "declaration") if node.data in ("declaration_statement", "for_init") else []
        names = [n for d in found for n in declared_names(d)]
        return sorted(n for n in names if any(n in scope for scope in scopes))

    def statement(self, node: Any) -> list[h.Stmt]:
        """One statement."""
        span = self.low.span(node)
        match kind(node):
            case "compound_statement":
                return list(self.block(node))
            case "declaration_statement":
                parts = [s for d in trees(node, "structured_binding") for s in self.unpacked(d)]
                return parts + [s for d in trees(node, "declaration") for s in self.declaration(d)]
            case "expression_statement":
                return self.effect(self.hoisted(self.placed(node.children[0]))) if node.children else []
            case "if_statement" | "if_else_statement":
                declared = declared_first(node)
                return self.branch(node) if declared is None else list(self.block(declared))
            case "for_statement":
                return self.for_loop(node)
            case "while_statement":
                node = self.placed(node, choose=False)
                test, body = [c for c in node.children if isinstance(c, Tree)][:2]
                nest = self.nest(node)
                if nest is not None:
                    return nest
                if (stepped := stepping(test)) is not None and not any(body.find_data("break_statement")):
                    return self.stepped_while(stepped, body, span)
                if (tested := self.head_tested(test, body)) is not None:
                    return [h.While(k.Const(True, INT32), self.rounds(tested), span=span)]
                return [h.While(self.repeated(test), self.rounds(body), span=span)]
            case "do_statement":
                body, test = [c for c in self.placed(node, choose=False).children if isinstance(c, Tree)][:2]
                if (stepped := stepping(test)) is not None and not any(body.find_data("break_statement")):
                    return self.stepped_do(stepped, body, span)
                if (tested := self.end_tested(test, body)) is not None:
                    return [h.While(k.Const(True, INT32), self.rounds(tested), span=span)]
                condition = self.repeated(test)
                if isinstance(condition, k.Const) and not condition.value:
                    return list(self.block(body))  # a macro's do { … } while (0)
                return [h.While(condition, self.rounds(body), True, span=span)]
            case "range_for_statement" if (loop := host_ranges.counted(self, node)) is not None:
                return self.statement(loop)
            case "break_statement":
                return [h.Break(span=span)]
            case "return_statement":
                value = next(
                    (self.hoisted(c, top=False) for c in self.placed(node).children if isinstance(c, Tree)), None
                )
                lost = (
                    sorted({str(t) for t in tokens(value)} & self.unknown & self.ignored) if value is not None else []
                )
                if lost and self.name != "main":
                    raise self.low.refuse("KR211", f"the value of {lost[0]} is not known here", node, "return another")
                if value is None:
                    return [h.Return((), span=span)]
                if (
                    self.name == "main"
                    or self.runtime_call(value)
                    or self.is_ignored(value)
                    or self.is_error_test(value)
                ):
                    if self.gives_numbers and (found := host_statuses.returned(self, value)) is not None:
                        return found
                    return [*self.kept(value), h.Return((), span=span)]
                if self.returns is None and (several := self.returned_members(value, node)) is not None:
                    return several
                if self.returns is None and (array := self.pointer_name(strip(value))):
                    return [h.Return((k.ArrayRef(array, span=span),), span=span)]
                found = self.number(value)
                if self.returns is not None and found.type != self.returns:
                    found = self.low.convert(found, self.returns, value)  # as C does
                return [h.Return((found,), span=span)]
            case "throw_statement":
                return self.drop(node, "error check")
            case "switch_statement":
                return self.switch(node)
            case "base_constructor":
                return self.base_made(node)
            case "member_constructor":
                return self.member_made(node)
            case "labeled_statement":
                return self.statement(trees(node)[-1])
            case "pragma_statement":
                return [s for c in trees(node) for s in self.statement(c)]
        raise self.low.refuse("KR211", f"{kind(node).replace('_', ' ')} in a host function is not raised", node)
