"""Variables of the file that ``main`` and its helpers change (``int rows; float *d_a;``) are variables of ``main``.

C has one of each for the whole program, and the program is ``main``: they are declared before its first statement, and
each function that mentions one is written out where it is called. Numbers start at 0, as C says. Arrays and objects of
the file, constants and what the device has are known otherwise.

Any other function has what it finds in them from its caller: they are its last parameters, but for pointers to memory
that it makes itself and numbers that it sets. Numbers that it reads and changes are given back, too. One that leaves
another place in a pointer is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused, refuse
from kraise.frontends.cuda_c.c_types import Array, Pointer, leaf, tail
from kraise.frontends.cuda_c.host_braces import braces_of
from kraise.frontends.cuda_c.host_names import normal, product, rows_of, with_known_rows
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.trees import child, trees
from kraise.frontends.cuda_c.values import GlobalVariable
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import live_before, set_within
from kraise.ir.types import INT32, ArrayType, ScalarType

_OTHERS = frozenset(
    ("const", "constexpr", "extern", "using", "namespace", "typedef", "template", "struct", "class", "enum", "union",
     "__device__", "__constant__", "__shared__", "__managed__", "operator")
)  # fmt: skip


def declared(reader: Any, name: str, params: list[k.Param]) -> list[h.Stmt]:
    """Declares the variables of the file that ``name`` and its helpers change, or (of any other function than ``main``)
    use: as further ``params``. ``reader.of_file`` knows them."""
    program = reader.program
    words, text = _reached(program, name)
    changed = _changed(text)
    if name != "main":
        return _given(reader, words, changed | _swapped(text), _made(text), params)
    out: list[h.Stmt] = []
    for item in program.unit.items:
        if item.kind not in ("variable", "other") or not _words(program, item) & words:
            continue
        for own, t, value in _variables(reader, item):
            if own in reader.low.scopes[1] or own not in words:
                continue
            if isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
                reader.low.names.setdefault(own, "taken")
                reader.array(own, t.to)
            elif isinstance(t, ScalarType) and own in changed:
                start = k.Const(0, t) if value is None else reader.low.convert(reader.number(value), t, value)
                reader.scalar(own, t)
                reader.zeroed |= {own} if value is None else set()
                out.append(h.Assign(own, start, t))
            elif isinstance(t, Array) and leaf(t)[0] is not None and own not in reader.symbols:
                out += _array(reader, own, t, value)
            else:
                continue
            reader.of_file.add(own)
    return out


def _array(reader: Any, own: str, t: Array, value: Any) -> list[h.Stmt]:
    """An array of the file as one of ``main``: zeros, and what it begins with."""
    t = with_known_rows(t, reader.defined)  # type: ignore[assignment]
    if t.extent is None or (isinstance(t.of, Array) and (value is not None or not rows_of(t))):
        return []
    reader.low.names.setdefault(own, "taken")
    reader.array(own, t.of)
    reader.low.extents[own] = t
    count = product(*rows_of(t)) if isinstance(t.of, Array) else normal(t.extent)
    made: list[h.Stmt] = [h.Alloc(own, leaf(t)[0], (count,), k.Const(0, INT32))]  # type: ignore[arg-type]
    values = [c for b in (braces_of(value) if value is not None else []) for c in trees(b)]
    for n, v in enumerate(values):
        made.append(h.Store(own, (k.Const(n, INT32),), reader.low.convert(reader.number(v), t.of, v)))
    return made


def _given(reader: Any, words: set[str], changed: set[str], made: set[str], params: list[k.Param]) -> list[h.Stmt]:
    """Variables of the file as parameters of a function that is not ``main``, numbers that it sets first and pointers
    to memory that it makes as its own."""
    for item in reader.program.unit.items:
        if item.kind not in ("variable", "other") or not _words(reader.program, item) & words:
            continue
        for own, t, _ in _variables(reader, item):
            if own not in words or own in reader.low.scopes[1] or _is_constant(reader.low.lookup(own)):
                continue
            if isinstance(t, Array) and rows_of(t) and leaf(t)[0] is not None:
                element, axes = leaf(t)
                reader.low.names.setdefault(own, "taken")
                reader.array(own, t.of)
                reader.low.extents[own] = t
                if isinstance(t.of, Array):
                    reader.rows[own] = rows_of(t.of)
                params.append(k.Param(own, ArrayType(element, axes, tail(t))))  # type: ignore[arg-type]
            elif isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
                if own in changed and own not in made:
                    reason = f"{reader.name} changes where {own} points to, a variable of the file"
                    raise refuse("KR211", reason, None, "swap pointers that are parameters or local variables")
                element, axes = leaf(t.to)
                reader.low.names.setdefault(own, "taken")
                reader.array(own, t.to)
                if own not in made:
                    params.append(k.Param(own, ArrayType(element, axes + 1, tail(t.to))))  # type: ignore[arg-type]
            elif isinstance(t, ScalarType):
                reader.scalar(own, t)
                if own not in changed:
                    params.append(k.Param(own, t))
            else:
                continue
            reader.of_file.add(own)
    return []


def stepped(reader: Any, params: list[k.Param], body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The body of a function that is not ``main``, in which numbers of the file that it reads and changes are
    parameters; what it leaves in them is given back behind its results."""
    needed = live_before(body, frozenset()) if reader.name != "main" else frozenset[str]()
    given = [n for n in reader.low.names if n in reader.of_file and n in needed and n not in {p.name for p in params}]
    numbers = {n: t for n in given if isinstance(t := reader.low.names[n], ScalarType)}
    if not numbers:
        return body
    params += [k.Param(n, t) for n, t in numbers.items()]
    left = tuple(k.Var(n, t) for n, t in numbers.items() if n in set_within(body))

    def ended(block: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
        return tuple(map(one, block))

    def one(s: h.Stmt) -> h.Stmt:
        match s:
            case h.Return(values=values):
                return replace(s, values=(*values, *left))
            case h.For(body=inner) | h.While(body=inner):
                return replace(s, body=ended(inner))
            case h.If(body=then, orelse=orelse):
                return replace(s, body=ended(then), orelse=ended(orelse))
        return s

    falls = reader.returns is None and not (body and isinstance(body[-1], h.Return))
    return ended((*body, h.Return()) if falls and left else body)


def _is_constant(known: Any) -> bool:
    """Is a name known by its value, which nothing in the file changes?"""
    return known is not None and (not isinstance(known, GlobalVariable) or known.constant)


def _made(text: list[str]) -> set[str]:
    """The pointers whose place a call takes to make memory: ``cudaMalloc(&d_a, …)``, ``(void **)&d_a``."""
    found, call = set[str](), ""
    for before, t in zip(["", *text], text, strict=False):
        call = t if t.startswith(("cudaMalloc", "hipMalloc")) else "" if t == ";" else call
        if call and before == "&":
            found.add(t)
    return found


def _swapped(text: list[str]) -> set[str]:
    """The names in calls of ``swap``."""
    found, call = set[str](), False
    for t in text:
        call = t == "swap" or (call and t != ";")
        found |= {t} if call else set()
    return found


def mentions(reader: Any, name: str) -> bool:
    """Does a function of the file, or one that it calls, mention such a variable?"""
    return bool(reached(reader, name))


def reached(reader: Any, name: str) -> set[str]:
    """Such variables that a function of the file, or one that it calls, mentions."""
    return _reached(reader.program, name)[0] & reader.of_file if reader.of_file else set()


def _words(program: Any, item: Item) -> set[str]:
    return {t.text for t in program.unit.tokens[item.first : item.last + 1]}


def _reached(program: Any, name: str) -> tuple[set[str], list[str]]:
    """The words of a host function and of those that it calls; their text."""
    seen: set[str] = set()
    text: list[str] = []
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for d in program.functions.get(one, []):
            if d.kind == "host" and d.item is not None:
                found = [t.text for t in program.unit.tokens[d.item.first : d.item.last + 1]]
                text += found
                waiting += [w for w in dict.fromkeys(found) if w in program.functions and w not in seen]
    return set(text), text


def _changed(text: list[str]) -> set[str]:
    """The names that a text may assign to, or take the place of."""
    found: set[str] = set()
    for before, t, after in zip(["", *text], text, [*text[1:], ""], strict=False):
        sets = after in ("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--", ">>")
        if sets or before in ("++", "--", "&", ">>"):
            found.add(t)
    return found


def _variables(reader: Any, item: Item) -> Iterator[tuple[str, Any, Any]]:
    """The plain variables that an item declares, with their types and initial values."""
    if _words(reader.program, item) & _OTHERS or item.template or item.namespace:
        return
    try:
        tree = reader.program.parse(item).children[0]
    except Refused:
        return
    specifiers = child(tree, "decl_specifiers") if isinstance(tree, Tree) and tree.data == "declaration" else None
    if specifiers is None:
        return
    for d in trees(tree, "init_declarator"):
        declarator = child(d, "declarator")
        if declarator is None:
            continue
        try:
            token, t = reader.low.declarator(declarator, reader.low.specifiers(specifiers).type)
        except Refused:
            continue
        values = [c for c in trees(d) if c is not declarator]
        if isinstance(token, Token):
            yield str(token), t, values[0] if values else None
