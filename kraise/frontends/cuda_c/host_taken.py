"""What ``main`` makes before its first launch and cannot be read here: options, files, generators, objects. Its numbers
and arrays are parameters of ``main`` (contract, section 6: I/O is dropped), as if the program were given them.

Side conditions, each checked: nothing was launched or computed by a library before it; the statement neither works on
the device nor ends the function; it reads no array and no floating-point number but those that it changes, so that no
gradient passes through it; all that it changes are numbers and arrays that are known by name. That nothing reads them
before is checked by :func:`kraise.frontends.cuda_c.host_main.with_inputs`.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects, host_file
from kraise.frontends.cuda_c.c_types import CType, Pointer, Reference, leaf
from kraise.frontends.cuda_c.host_main import MARK, PARAMETER, READERS, assigned_places, root
from kraise.frontends.cuda_c.host_names import callee, dropped
from kraise.frontends.cuda_c.trees import child, last_name, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import flat
from kraise.ir.host_names import set_within
from kraise.ir.types import ScalarType

_MAKES = frozenset(("new", "malloc", "calloc", "aligned_alloc", "cudaMallocHost", "cudaHostAlloc", "posix_memalign"))
_STREAMS = frozenset(("ifstream", "fstream", "istream", "istringstream", "stringstream"))
_ENDS = ("return_statement", "goto_statement", "launch_expression", "throw_statement")


def computes(body: list[h.Stmt]) -> bool:
    """Do statements launch, or compute by a library: is there data after them that no input is?"""
    return any(
        isinstance(s, h.CallHost) or (isinstance(s, h.Launch) and s.grid is not None) or _is_library(s)
        for s in flat(body)
    )


def _is_library(stmt: h.Stmt) -> bool:
    waiting: list[Any] = [getattr(stmt, "value", None), getattr(stmt, "condition", None)]
    while waiting:
        e = waiting.pop()
        if isinstance(e, h.Library):
            return True
        waiting += list(getattr(e, "args", ())) + [getattr(e, "arg", None)] if e is not None else []
    return False


def taken(reader: Any, node: Tree) -> list[h.Stmt] | None:
    """Marks of the numbers and arrays that a statement of ``main``, which was refused, makes; None where it cannot be
    left to the caller."""
    if reader.name != "main" or reader.depth or reader.worked:
        return None
    node = _without_failures(reader, node)
    if any(any(node.find_data(t)) for t in _ENDS):
        return None
    placed = reader.placed(node, choose=False)
    effects = host_effects.of_tree(reader.program, placed, frozenset(reader.arrays))
    declared = _declared(reader, placed)
    if effects.works or declared is None:
        return None
    names = _changed(reader, placed, effects)
    if names is None or _gives_old_memory(reader, placed):
        return None
    numbers: dict[str, ScalarType] = {}
    out: list[h.Stmt] = []
    span = reader.low.span(node)
    declared_first = {n: at for at, n in enumerate(reader.low.names)}
    order = sorted(names, key=lambda n: (declared_first.get(n, len(declared_first)), n))
    for name in order:
        place = reader.low.lookup(name)
        if name in reader.arrays:
            continue
        if not isinstance(place, VarPlace):
            return None
        numbers[name] = place.type
    read = {str(t) for t in tokens(placed) if t.type == "NAME"} - names - set(declared)
    if any(_is_data(reader, n) for n in read):
        return None
    for name, t in declared.items():
        found = _made(reader, name, t, node, numbers)
        if found is None:
            return None
        out += found
    for name in (n for n in order if n in reader.arrays):
        out += reader.filled(name, node)
    if not {str(t) for t in tokens(placed)} & reader.arguments_of_main or placed.data == "if_else_statement":
        reader.undefaulted |= set(numbers)
    for name, number in numbers.items():
        reader.forget(name)
        reader.unset.discard(name)
        reader.ignored.discard(name)
        reader.unknown.discard(name)
        reader.inputs[name] = number
        out.append(h.Assign(name, k.Var(name + MARK, number), number, span=span))
    if not out and not (effects.variables and effects.variables <= reader.ignored):  # image.load(path)
        return None
    reader.drop(node, PARAMETER)
    return out


def _without_failures(reader: Any, node: Tree) -> Tree:
    """A statement without the branches in which ``main`` gives up (``if (!file) { …; return 1; }``)."""
    if node.data in ("if_statement", "if_else_statement"):
        test, *branches = trees(node)
        left = [_without_failures(reader, b) for b in branches if not _fails(reader, test, b)]
        if len(left) < len(branches):
            made = Tree("expression_statement", [test], node.meta)
            return Tree("compound_statement", [made, *left], node.meta) if left else made
    children = [_without_failures(reader, c) if isinstance(c, Tree) else c for c in node.children]
    made = Tree(node.data, children, node.meta)
    return _without_failing_cases(reader, made) if node.data == "switch_statement" else made


def _without_failing_cases(reader: Any, node: Tree) -> Tree:
    """A ``switch`` over options without the cases in which ``main`` says how it is called, and ends."""
    body = trees(node)[-1]
    try:
        groups = reader.low._cases(body) if body.data == "compound_statement" else []
    except Refused:
        return node
    whole = [Tree("compound_statement", statements, node.meta) for _, statements in groups]
    kept = [s for g in whole if not reader.gives_up(g, True) for s in trees(g) if s.data != "break_statement"]
    return Tree("compound_statement", [trees(node)[0], *kept], node.meta) if kept else node


def _fails(reader: Any, test: Tree, branch: Tree) -> bool:
    """Does ``main`` end in a branch without having done anything: it fails, or says how it is called?"""
    asked = bool({str(t) for t in tokens(test)} & reader.arguments_of_main)
    return bool(reader.gives_up(branch, asked))


def lets_go(reader: Any, node: Tree, known: set[str], found: list[h.Stmt]) -> bool:
    """Did a statement of ``main`` that looks at the command line leave nothing but numbers that are not followed any
    more, or one that looks at an object, a device or a file an integer of this kind?"""
    words = {str(t) for t in tokens(node) if t.type == "NAME"}
    lost = {n for n in reader.ignored - known if isinstance(reader.low.lookup(n), VarPlace)}
    from kraise.frontends.cuda_c.host_renames import declared_names

    sizes = {n for n in lost if reader.low.lookup(n).type.is_integer} and not _tells_time(node)
    looks = words & reader.arguments_of_main or (sizes and words & known)
    if not (looks and lost) or computes(found):
        return False
    return set_within(tuple(found)) <= lost | declared_names(node)


def _tells_time(node: Tree) -> bool:
    return any(dropped(callee(c.children[0])) == "timing" for c in node.find_data("call_expression"))


def from_arguments(reader: Any, node: Any) -> bool:
    """Is a number of ``main`` made of the command line and of nothing that a gradient may be wanted for?"""
    words = {str(t) for t in tokens(node) if t.type == "NAME"}
    given = bool(words & reader.arguments_of_main) and reader.name == "main"
    return given and not any(_is_data(reader, w) for w in words) and not host_effects.of_tree(
        reader.program, Tree("expression", [node], getattr(node, "meta", None))  # type: ignore[arg-type]
    ).changes  # fmt: skip


def _is_data(reader: Any, name: str) -> bool:
    """Is it an array, or a number that a gradient may be wanted for?"""
    place = reader.low.lookup(name)
    number = isinstance(place, VarPlace) and not place.type.is_integer and name not in reader.unset
    return name in reader.arrays or name in reader.banks or number


def _declared(reader: Any, node: Tree) -> dict[str, CType] | None:
    """The names that a statement declares for those after it, and their types; None where a type is not known."""
    found: dict[str, CType] = {}
    for d in trees(node, "declaration") if node.data == "declaration_statement" else []:
        specifiers = child(d, "decl_specifiers")
        if specifiers is None:
            return None
        for one in trees(d, "init_declarator", "constructor_declarator", "braced_declarator"):
            declarator = child(one, "declarator")
            if declarator is None:
                return None
            try:
                token, t = reader.low.declarator(declarator, reader.low.specifiers(specifiers).type)
            except Refused:
                return None
            found[str(token)] = t
    return found


def _made(reader: Any, name: str, t: CType, node: Tree, numbers: dict[str, ScalarType]) -> list[h.Stmt] | None:
    """The declaration of a name whose value is not read; its numbers go to ``numbers``."""
    from kraise.frontends.cuda_c.host_places import record_behind

    record = record_behind(t)
    if isinstance(t, ScalarType):
        reader.scalar(name, t)
        numbers[name] = t
        return []
    if record is not None and not isinstance(t, Pointer | Reference):
        made = reader.record(name, record, node) if name not in reader.records else []
        made += reader.default_members(name, record, node)
        for member, of in record.members:
            own = reader.records[name][member]
            if isinstance(of, ScalarType):
                numbers[own] = of
            elif own in reader.arrays or own in reader.banks or own in reader.records:
                return None
        return made  # type: ignore[no-any-return]
    if isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
        reader.array(name, t.to)
        return reader.filled(name, node)  # type: ignore[no-any-return]
    return None


def _changed(reader: Any, node: Tree, effects: host_effects.Effects) -> set[str] | None:
    """The numbers and arrays that a statement changes; None where one of them has no name here."""
    found = {n for n in effects.variables if reader.low.lookup(n) is not None or n in reader.arrays}
    if effects.variables & (set(reader.records) | set(reader.banks) | set(reader.dims) | set(reader.plans)):
        return None
    stored = _stored(reader, node)
    if stored is None:
        return None
    places = stored
    for call in node.find_data("call_expression"):
        d = reader._helper(call)
        if d is None:
            given = {n for a in trees(call)[1:] for n in _handed(a)} & set(reader.arrays)
            called = callee(call.children[0])
            if given and _reads_a_stream(reader, call, node):
                places |= given
            elif given and called not in READERS and not dropped(called) and not host_effects.reads(called):
                return None  # a function of elsewhere may read and change what it is given
            continue
        places |= host_file.reached(reader, d.name) & set(reader.arrays)
        params = _parameters(reader, d)
        if params is None:
            return None
        for p, arg in zip(params, trees(call)[1:], strict=False):
            if not isinstance(p.type, Reference | Pointer) or p.const:
                continue
            owner = reader.record_of(arg)
            name = callee(arg) or callee(_addressed(arg))
            if owner:
                own = set(reader.records[owner].values())
                places |= {n for n in own if isinstance(reader.low.lookup(n), VarPlace)} | own & set(reader.arrays)
                if own & {*reader.banks, *reader.records}:
                    return None
            elif name and isinstance(reader.low.lookup(name), VarPlace):
                places.add(name)
            else:  # u, u + n, &u[2], an array of structs
                places |= {str(t) for t in tokens(arg)} & set(reader.arrays)
                places |= {reader.pointer_name(p) for p in reader.parts(arg).values()} - {""}
    for t in node.find_data("shift_expression"):  # file >> n >> h[0]
        first = strip(t.children[0])
        while isinstance(first, Tree) and first.data == "shift_expression":
            first = strip(first.children[0])
        if ">>" in {str(c) for c in t.children} and (callee(first) == "cin" or callee(first) in reader.ignored):
            for to in map(strip, trees(t)[1:]):
                owner = callee(strip(to.children[0])) if to.data == "subscript_expression" else callee(to)  # type: ignore[union-attr]
                if owner in host_effects.sees_others(reader.program, node):
                    continue  # of _stored
                if owner not in reader.arrays and not isinstance(reader.low.lookup(owner), VarPlace):
                    return None
                places.add(owner)
    return found - reader.ignored.difference(n for n in found if isinstance(reader.low.lookup(n), VarPlace)) | places


def _handed(node: Any) -> set[str]:
    """The names in an argument, but those of containers that are only asked for their size."""
    if not isinstance(node, Tree):
        return {str(node)}
    method = strip(node.children[0]) if node.data == "call_expression" else None
    if isinstance(method, Tree) and method.data == "member_expression" and len(node.children) == 1:
        words = [str(t) for t in tokens(method)]
        if words[-1] in ("size", "empty", "length") and callee(trees(method)[0]):
            return set()
    return {n for c in node.children for n in _handed(c)}


def _reads_a_stream(reader: Any, call: Tree, node: Tree) -> bool:
    """``file.read(h, bytes)`` of a stream of the standard library, which is declared before or in the statement."""
    method = strip(call.children[0])
    if not isinstance(method, Tree) or method.data != "member_expression":
        return False
    owner = callee(trees(method)[0])
    declared = [d for d in node.find_data("declaration") if owner in {str(t) for t in tokens(d)}]
    if not declared and owner in reader.ignored and owner in reader.functors:
        declared = [reader.functors[owner]]
    words = {str(t) for d in declared for t in tokens(d)}
    return reader.member(method) in ("read", "getline", "get") and bool(words & _STREAMS)


def _stored(reader: Any, node: Tree) -> set[str] | None:
    """The arrays that a statement itself stores to; None where it may store to memory without a name here."""
    found: set[str] = set()
    own = {str(n) for d in node.find_data("declarator_id") if (n := last_name(d)) is not None}
    aliases = host_effects.sees_others(reader.program, node)
    streamed = {id(t): trees(t)[-1] for t in host_effects.read_from_streams(node)}
    for t in node.iter_subtrees():
        targets = assigned_places(t) + ([streamed[id(t)]] if id(t) in streamed else [])
        if t.data == "call_expression" and callee(t.children[0]) in ("memcpy", "memset", "memmove", *READERS):
            targets = [Tree("subscript_expression", [a], t.meta) for a in trees(t)[1:2]]
            found |= {str(w) for a in trees(t)[1:] for w in tokens(a)} & set(reader.arrays)
        for target in targets:
            name, through = root(target)
            if name in aliases:
                seen = {str(w) for w in tokens(node)} & set(reader.arrays)
                if not seen:
                    return None
                found |= seen
            elif through and name in reader.arrays:
                found.add(name)
            elif through and name not in own and t.data != "call_expression":
                return None
    return found


def _gives_old_memory(reader: Any, node: Tree) -> bool:
    """May a function of the file that a statement calls give a pointer to memory that has another name?"""
    toks = reader.program.unit.tokens
    for call in node.find_data("call_expression"):
        d = reader._helper(call)
        if d is None or d.item is None:
            continue
        words = [t.text for t in toks[d.item.first : d.item.last + 1]]
        if "*" in words[: words.index(d.name)] and not _MAKES & set(words):
            return True
    return False


def _addressed(node: Any) -> Any:
    inner = strip(node)
    if isinstance(inner, Tree) and inner.data == "unary_expression" and str(inner.children[0]) == "&":
        return inner.children[1]
    return node


def _parameters(reader: Any, d: Any) -> list[Any] | None:
    try:
        declarator = child(reader.program.load(d), "function_declarator")
        return reader.low.parameters(declarator) if declarator is not None else None  # type: ignore[no-any-return]
    except Refused:
        return None
