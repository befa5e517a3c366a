"""What ``main`` reads from outside, and what it gives back (contract, section 6: I/O is dropped).

A number of the command line (``n = atoi(argv[1])``) is a parameter of ``main``, with the constant that it has without
one as its default; so is an array that is filled from ``rand()``, a file, or a function that does that. ``main``
returns what it copies back from the device; if that is nothing, the numbers that it prints, then its managed memory.

Side condition, checked: nothing reads such a number or array before it is filled.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import refuse
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import Node, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import read_within, set_within
from kraise.ir.types import ArrayType, ScalarType

PARSERS = frozenset(
    ("atoi", "atol", "atoll", "atof", "strtol", "strtoul", "strtof", "strtod", "stoi", "stol", "stof", "stod",
     "stoul", "stoll", "std::stoi", "getCmdLineArgumentInt", "getCmdLineArgumentFloat")
)  # fmt: skip
OUTSIDE = frozenset(
    ("rand", "srand", "drand48", "random", "rand_r", "fscanf", "scanf", "fread", "fgets", "fopen", "getline", "mt19937",
     "default_random_engine", "uniform_real_distribution", "normal_distribution", "uniform_int_distribution",
     "ifstream", "time")
)  # fmt: skip
MARK = "@input"
PARAMETER = "the command line: a parameter"  # why what reads a number of it is dropped


def parsed(reader: Any, node: Node) -> bool:
    """Is an expression a number of the command line?"""
    node = strip(node)
    words = {str(t) for t in tokens(node)}
    called = callee(node.children[0]) if isinstance(node, Tree) and node.data == "call_expression" else ""
    return called in PARSERS and bool(words & reader.arguments_of_main)


def outside(node: Tree) -> bool:
    """Does a piece of text take its data from outside of the program?"""
    return bool({str(t) for t in tokens(node)} & OUTSIDE)


def outside_of(program: Any, d: Any) -> bool:
    """Does a function take its data from outside of the program?"""
    toks = program.unit.tokens
    return any(toks[n].text in OUTSIDE for n in range(d.item.first, d.item.last + 1))


def choice(reader: Any, node: Node) -> Tree | None:
    """``1024`` of ``argc > 1 ? atoi(argv[1]) : 1024``, None for any other expression."""
    node = strip(node)
    if isinstance(node, Tree) and node.data == "conditional_expression":
        test, one, other = trees(node)[:3]
        if parsed(reader, one) and {str(t) for t in tokens(test)} & reader.arguments_of_main:
            return other
    return None


def with_inputs(
    params: list[k.Param], body: tuple[h.Stmt, ...], types: dict[str, ScalarType | ArrayType]
) -> tuple[h.Stmt, ...]:
    """The body in which marked numbers and arrays are parameters. Raises Refused (KR211)."""
    for at, stmt in enumerate(body):
        name = _marked(stmt)
        if not name:
            continue
        before, rest = body[:at], body[at + 1 :]
        makers = [s for s in before if isinstance(s, h.Alloc | h.Assign) and s.name == name]
        others = [s for s in before if s not in makers and name in read_within((s,)) | set_within((s,))]
        constant = all(isinstance(s, h.Alloc) or fold(s.value) is not None for s in makers)
        if others or not constant or any(p.name == name for p in params):
            raise refuse("KR211", f"{name} is read from outside after it was used", stmt.span, "read it first")
        last = makers[-1] if makers else None
        default = fold(last.value) if isinstance(last, h.Assign) else None
        params.append(k.Param(name, types[name], default, span=stmt.span))
        return with_inputs(params, (*(s for s in before if s not in makers), *rest), types)
    params.sort(key=lambda p: p.default is not None)
    return body


def is_input(stmt: h.Stmt) -> bool:
    """Is a statement one that takes a value from outside?"""
    return bool(_marked(stmt))


def _marked(stmt: h.Stmt) -> str:
    match stmt:
        case h.Assign(name=name, value=k.Var(name=source)) if source == name + MARK:
            return name
        case h.Update(array=name, value=h.Whole(array=source)) if source == name + MARK:
            return name
    return ""


def results(reader: Any, body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The body of ``main`` with a return of what it gives back."""
    if body and isinstance(body[-1], h.Return):
        body = body[:-1]
    made = {n for s in body for n in _made(s)}
    copied = [n for n in reader.copied if n in made]
    if not copied:
        copied = [n for n in reader.printed if n in made and n not in reader.arrays]
    if not copied:
        copied = [n for n in reader.managed if n in made]
    values: list[Any] = []
    for name in copied:
        place = reader.low.names.get(name)
        values.append(k.ArrayRef(name) if name in reader.arrays else k.Var(name, place))
    return (*body, h.Return(tuple(values))) if values else body


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
