"""What ``main`` reads from outside, and what it gives back (contract, section 6: I/O is dropped).

A number of the command line (``n = atoi(argv[1])``) is a parameter of ``main``, with the constant that it has without
one as its default; so is an array that is filled from ``rand()``, a file, or a function that does that. ``main``
returns what it copies back from the device; if that is nothing, the numbers that it prints, then its managed memory.

Side condition, checked: nothing reads such a number or array before it is filled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import host_again, host_effects
from kraise.frontends.cuda_c.c_types import Pointer, Reference
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee, concept
from kraise.frontends.cuda_c.trees import Node, last_name, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import stored
from kraise.ir.host_names import read_within, set_within
from kraise.ir.types import ScalarType

PARSERS = frozenset(
    ("atoi", "atol", "atoll", "atof", "strtol", "strtoul", "strtof", "strtod", "stoi", "stol", "stof", "stod",
     "stoul", "stoll", "std::stoi", "getCmdLineArgumentInt", "getCmdLineArgumentFloat")
)  # fmt: skip
OUTSIDE = frozenset(
    ("rand", "srand", "drand48", "random", "rand_r", "fscanf", "scanf", "fread", "fgets", "fopen", "getline", "mt19937",
     "default_random_engine", "uniform_real_distribution", "normal_distribution", "uniform_int_distribution",
     "ifstream", "time")
)  # fmt: skip
READERS = frozenset(("fread", "fscanf", "scanf"))  # that store what they read where an argument points
MARK = "@input"
_WAYS = (
    "subscript_expression",
    "member_expression",
    "unary_expression",
    "additive_expression",
)  # from a place to its owner
_DEVICE = frozenset(("malloc", "memcpy", "memset", "launch", "launch.api", "memcpy.to_symbol", "memcpy.2d"))
PARAMETER = "the command line: a parameter"  # why what reads a number of it is dropped


def parsed(reader: Any, node: Node) -> bool:
    """Is an expression a number of the command line?"""
    node = strip(node)
    words = {str(t) for t in tokens(node)}
    called = callee(node.children[0]) if isinstance(node, Tree) and node.data == "call_expression" else ""
    return called in PARSERS and bool(words & reader.arguments_of_main)


def outside(reader: Any, node: Node) -> bool:
    """Does a piece of text take its data from outside of the program, itself or by what it names: a generator, a
    distribution, a file, a function that uses one?"""
    seen: set[str] = set()
    waiting: list[Any] = [node]
    while waiting:
        words = {str(t) for t in tokens(waiting.pop())} - seen
        if words & OUTSIDE:
            return True
        seen |= words
        waiting += [reader.functors[w] for w in sorted(words) if w in reader.functors]
    return bool(seen & _outside_functions(reader.program))


def random(reader: Any, node: Node) -> bool:
    """Is an expression a number from outside, and does nothing else?"""
    if isinstance(node, Tree) and reader.name == "main" and outside(reader, node) and not _takes_time(node):
        found = host_effects.of_tree(reader.program, node, frozenset(reader.arrays))
        return not found.changes and not found.variables
    return False


def _takes_time(node: Tree) -> bool:
    return "time" in {str(t) for t in tokens(node)}


def outside_of(program: Any, d: Any) -> bool:
    """Does a function take its data from outside of the program?"""
    return d.name in _outside_functions(program)


def _words(program: Any, d: Any) -> set[str]:
    toks = program.unit.tokens
    return {toks[n].text for n in range(d.item.first + 1, d.item.last + 1)} if d.item is not None else set()


def _outside_functions(program: Any) -> set[str]:
    """The functions of the file that take data from outside and do nothing on the device."""
    if program.outside is None:
        words = {n: set().union(*(_words(program, d) for d in ds)) for n, ds in program.functions.items()}
        quiet = {n: w for n, w in words.items() if not any(x in ("<<<", "main") or concept(x) in _DEVICE for x in w)}
        found = {n for n, w in quiet.items() if w & OUTSIDE}
        while more := {n for n, w in quiet.items() if n not in found and w & found}:
            found |= more
        program.outside = {n for n in found - {"main"} if not host_effects.of_function(program, n).works}
    return program.outside  # type: ignore[no-any-return]


def assigned_places(t: Tree) -> list[Any]:
    """What an expression itself assigns to: the left of ``=``, the operand of ``++``."""
    if t.data == "assignment_expression":
        return [t.children[0]]
    steps = t.data in ("unary_expression", "postfix_expression") and {"++", "--"} & {str(c) for c in t.children}
    return trees(t)[:1] if steps else []


def filled_arrays(reader: Any, node: Tree) -> set[str] | None:
    """The arrays of the reader that a loop stores to, itself or by functions of the file that it gives them to; None
    where it may change other memory too."""
    found: set[str] = set()
    own = {str(n) for d in node.find_data("declarator_id") if (n := last_name(d)) is not None}
    aliases = host_effects.sees_others(reader.program, node)
    streamed = {id(t): trees(t)[-1] for t in host_effects.read_from_streams(node)}
    for t in node.iter_subtrees():
        targets = assigned_places(t) + ([streamed[id(t)]] if id(t) in streamed else [])
        if t.data == "call_expression" and reader.program.functions.get(callee(t.children[0])):
            effects = host_effects.of_function(reader.program, callee(t.children[0]))
            if effects.works:
                return None
            given = {str(w) for a in trees(t)[1:] for w in tokens(a)} & set(reader.arrays) - own
            if effects.memory and not given:
                return None
            found |= given if effects.memory else set()
        elif t.data == "call_expression" and callee(t.children[0]) in READERS:  # fscanf(file, "%f", &h[i])
            places = [strip(a) for a in trees(t)[1:]]
            targets = [p.children[1] for p in places if isinstance(p, Tree) and str(p.children[0]) == "&"]
        for target in targets:
            name, through = root(target)
            if name in aliases:  # float *p = h; for (auto &v : h) v = …
                seen = {str(w) for w in tokens(reader.placed(node, choose=False))} & set(reader.arrays)
                if not seen:
                    return None
                found |= seen
            elif through and name in reader.arrays and name not in own:
                found.add(name)
            elif through and name not in own:
                return None
    return found


def root(node: Any) -> tuple[str, bool]:
    """The variable that a store goes to, and whether through a subscript, a pointer or a member."""
    node, through = strip(node), False
    while isinstance(node, Tree) and node.data in _WAYS:
        node, through = strip(trees(node)[-1 if node.data == "unary_expression" else 0]), True
    return callee(node), through


def choice(reader: Any, node: Node) -> Tree | None:
    """``1024`` of ``argc > 1 ? atoi(argv[1]) : 1024``, None for any other expression."""
    node = strip(node)
    if isinstance(node, Tree) and node.data == "conditional_expression":
        test, one, other = trees(node)[:3]
        if parsed(reader, one) and {str(t) for t in tokens(test)} & reader.arguments_of_main:
            return other
    return None


def with_inputs(reader: Any, params: list[k.Param], body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The body in which marked numbers and arrays are parameters; the 0 of C for a variable of the file is no default
    that the program means. Raises Refused (KR211)."""
    again: set[int] = set()
    while (found := _first(params, body, reader.inputs, reader.zeroed, reader.undefaulted, again)) is not None:
        body = found
    stores = {f.name: stored(f) for f in (*reader.functions.values(), *reader.outlined)}
    body = host_again.spelled_out(params, body, reader.inputs, again, _marked, stores)
    params.sort(key=lambda p: p.default is not None)
    return body


def _first(
    params: list[k.Param],
    body: tuple[h.Stmt, ...],
    types: dict[str, Any],
    zeroed: set[str],
    undefaulted: set[str],
    again: set[int],
) -> tuple[h.Stmt, ...] | None:
    """The body without its first mark, whose name is a parameter; None where none is left but those of ``again``,
    which need parameters of their own."""
    for at, stmt in enumerate(body):
        name = _marked(stmt)
        if not name or id(stmt) in again:
            continue
        before, rest = body[:at], body[at + 1 :]
        next_ = next(
            (n for n, s in enumerate(rest) if not _only_sets(s, name) and name in read_within((s,))), len(rest)
        )
        if any(_marked(s) == name for s in rest[:next_]):  # the input is the array after the last of its fills
            return before + rest
        makers: list[h.Stmt] = [s for s in before if isinstance(s, h.Alloc | h.Assign) and s.name == name]
        makers += [s for s in before if _only_sets(s, name)]
        others = [s for s in before if s not in makers and name in read_within((s,)) | set_within((s,))]
        if others or any(p.name == name for p in params):
            again.add(id(stmt))
            continue
        last = next((s for s in reversed(makers) if isinstance(s, h.Alloc | h.Assign)), None)
        meant = isinstance(last, h.Assign) and (name not in zeroed or len(makers) > 1)
        meant = meant and name not in undefaulted
        default = fold(_known(last.value, before)) if isinstance(last, h.Assign) and meant else None
        params.append(k.Param(name, types[name], default, span=stmt.span))
        return (*(s for s in before if s not in makers), *rest)
    return None


def _known(e: Any, before: tuple[h.Stmt, ...]) -> Any:
    """An expression with the numbers that are set once, to a constant, by their values."""
    times = [n for s in _all(before) for n in set_within((s,))]
    values = {
        s.name: v for s in before
        if isinstance(s, h.Assign) and times.count(s.name) == 1 and (v := fold(s.value)) is not None
    }  # fmt: skip

    def put(e: Any) -> Any:
        match e:
            case k.Var(name=own) if own in values:
                return values[own]
            case k.Op(args=args):
                return replace(e, args=tuple(map(put, args)))
            case k.Cast(arg=arg):
                return replace(e, arg=put(arg))
        return e

    return put(e)


def _only_sets(stmt: h.Stmt, name: str) -> bool:
    """Does a statement change an array and nothing else? The input is the array as it is after all of it."""
    match stmt:
        case h.Store(array=array) | h.Update(array=array):
            return array == name
        case h.Launch(args=args, grid=None, results=()):
            return {array for a in args for array in h.arrays_in(a)} == {name}
    return False


def _all(body: tuple[h.Stmt, ...]) -> Iterator[h.Stmt]:
    for stmt in body:
        yield stmt
        for block in h.children(stmt):
            yield from _all(block)


def is_input(stmt: h.Stmt) -> bool:
    """Is a statement one that takes a value from outside?"""
    return bool(_marked(stmt))


def are_inputs(body: tuple[h.Stmt, ...]) -> bool:
    """Do statements take values from outside, and set none but the constants that these have else?"""
    return are_defaults(body, body)


def are_defaults(body: tuple[h.Stmt, ...], inputs: tuple[h.Stmt, ...]) -> bool:
    """Do statements set what ``inputs`` take to the constants that it has without them, or take it, too?"""
    taken = {_marked(s) for s in inputs} - {""}
    return all(is_input(s) or (isinstance(s, h.Assign) and s.name in taken and fold(s.value)) for s in body)


def _marked(stmt: h.Stmt) -> str:
    match stmt:
        case h.Assign(name=name, value=k.Var(name=source)) if source == name + MARK:
            return name
        case h.Update(array=name, value=h.Whole(array=source)) if source == name + MARK:
            return name
    return ""


def gives_nothing(reader: Any, params: list[k.Param], declarator: Tree, body: tuple[h.Stmt, ...]) -> bool:
    """Does a function other than ``main`` return nothing and have nothing of its caller to change?"""
    types = [p.type for p in reader.low.parameters(declarator)]
    numbers = all(isinstance(p.type, ScalarType) for p in params)
    places = any(isinstance(t, Pointer | Reference) for t in types)
    given = any(isinstance(s, h.Return) and s.values for s in _all(body))
    return reader.name != "main" and numbers and not (places or given or reader.symbols or reader.of_file)


def results(reader: Any, body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The body of ``main`` with a return of what it gives back."""
    if body and isinstance(body[-1], h.Return):
        body = body[:-1]
    made = {n for s in body for n in _made(s)}
    copied = [n for n in dict.fromkeys((*reader.copied, *_from_vectors(reader, body))) if n in made]
    if not copied:
        copied = [n for n in reader.printed if n in made and n not in reader.arrays]
    if not copied:
        copied = [n for n in reader.managed if n in made]
    values: list[Any] = []
    for name in copied:
        place = reader.low.names.get(name)
        values.append(k.ArrayRef(name) if name in reader.arrays else k.Var(name, place))
    return (*body, h.Return(tuple(values))) if values else body


def _from_vectors(reader: Any, body: tuple[h.Stmt, ...]) -> Iterator[str]:
    """The arrays of the host that a ``thrust::device_vector`` is copied to, or that a host function gives."""
    for stmt in _all(body):
        if isinstance(stmt, h.CallHost):
            yield from (n for n, is_array in zip(stmt.results, stmt.arrays, strict=True) if is_array)
        to = stmt.name if isinstance(stmt, h.Bind) else stmt.array if isinstance(stmt, h.Update) else ""
        value = getattr(stmt, "value", None)
        if isinstance(value, h.Whole) and value.array in reader.device_vectors and to not in reader.device_vectors:
            yield to


def _made(stmt: h.Stmt) -> set[str]:
    """The names that a statement gives a value that comes from the device, or memory."""
    match stmt:
        case h.Assign(name=name, value=value):
            return set() if isinstance(value, k.Const) else {name}
        case h.Alloc(name=name) | h.Bind(name=name) | h.Update(array=name):
            return {name}
        case h.Launch(results=names) | h.CallHost(results=names):
            return set(names)
        case h.Point(names=names):
            return set(names)
    return {n for block in h.children(stmt) for s in block for n in _made(s)}
