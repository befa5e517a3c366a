"""A loop of a host function over elements of host arrays becomes a plain function of its own: its text, as it stands,
between a head and a ``return`` of the numbers that it changes. In a helper that is written out, its names are those
that stand for them there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.c_types import Array, Struct
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import normal, rows_of
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import end, position
from kraise.frontends.cuda_c.values import Constant, TypeName, VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

_WORDS = {
    "float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned int", "int64": "long long",
    "uint64": "unsigned long long", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "uint16": "unsigned short", "bool": "bool", "float16": "__half", "bfloat16": "__nv_bfloat16",
}  # fmt: skip
_ASSIGNS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"))


def outline(reader: Any, node: Tree) -> list[h.Stmt]:
    """The call of the function that the loop became. Raises Refused where it has no one form."""
    low = reader.low
    toks = reader.program.unit.tokens
    first = position(node)
    body = toks[first : end(node)]
    lost = next((t.text for n, t in enumerate(body) if reader.renames.get(t.text, ()) is None and _free(body, n)), "")
    if lost:
        raise low.refuse("KR211", f"what stands for {lost} in this loop has no text here", node, "write a kernel of it")
    body = _with_types(renamed(body, reader.renames), low.scopes)
    body, extents = _with_extents(body, reader.dims)
    for _ in range(2):  # levels[0].u, s.u[0]
        body = _with_pointers(_with_members(body, reader.records), reader)
    body, sizes = _sized(reader.with_rows(body), reader)
    sizes |= extents
    names = dict.fromkeys(t.text for n, t in enumerate(body) if t.kind == "NAME" and _free(body, n))
    arrays = [n for n in names if n in reader.arrays]
    scalars = {n: p for n in names if isinstance(p := low.lookup(n), VarPlace)}
    counter = _counter(body)
    unset = [n for n in scalars if n in reader.unset and n != counter]
    changed = [n for n in scalars if n != counter and n not in unset and _changed(body, n)]
    returned = scalars[changed[0]].type if changed else None
    own = [n for n in scalars if n not in unset and (n != counter or not _sets_first(body, n))]
    lost = next((n for n in own if n in reader.ignored), "")
    if lost:
        reason = f"the value of {lost} is not followed here (timing, a stream, input or an error code)"
        raise low.refuse("KR211", reason, node, "pass the number as a parameter")
    for n in scalars:
        if n not in own:
            body = [*(_token(w, toks[first]) for w in f"{spelled(scalars[n].type)} {n} ;".split()), *body]
    if changed:
        body = [*body, *(_token(w, toks[first]) for w in ("return", changed[0], ";"))]
    function, name = registered(
        reader, "loop", [(reader.arrays[n], n) for n in arrays],
        [*((spelled(scalars[n].type), n) for n in own), *(("int", n) for n in sizes)],
        spelled(returned) if returned is not None else "void", body, toks[first], node,
        tuple(k.Var(n, scalars[n].type) for n in changed[1:]),
    )  # fmt: skip
    types = tuple(scalars[n].type for n in changed)
    for n in [counter, *unset]:
        if n in scalars:
            reader.ignored.add(n)  # its value after the loop is not followed
    for n in changed:
        reader.forget(n)
    args: list[Any] = [k.ArrayRef(n, None, rows_of(reader.arrays[n])) for n in arrays]
    args += [*(k.Var(n, scalars[n].type) for n in own), *sizes.values()]
    args += reader.symbols_of(function, len(args))
    return [h.Launch(name, tuple(args), None, None, None, tuple(changed), types, span=low.span(node))]


def _with_types(body: list[Raw], scopes: list[dict[str, Any]]) -> list[Raw]:
    """A text with the types that template parameters stand for: ``(T)(i % 4)``."""
    types = {n: e.type for s in scopes for n, e in s.items() if isinstance(e, TypeName)}
    words = {n: spelled(t).split() for n, t in types.items() if isinstance(t, ScalarType | Struct) and t != n}
    out: list[Raw] = []
    for n, t in enumerate(body):
        known = t.kind == "NAME" and t.text in words and _free(body, n)
        out += [_token(w, t) for w in words[t.text]] if known else [t]
    return out


def _with_extents(body: list[Raw], dims: dict[str, tuple[k.Expr, ...]]) -> tuple[list[Raw], dict[str, k.Var]]:
    """A text with the numbers that ``grid.x`` and ``block.y`` of ``dim3`` are, and those of them that have a name."""
    out: list[Raw] = []
    used: dict[str, k.Var] = {}
    at = 0
    while at < len(body):
        named = body[at].kind == "NAME" and _free(body, at) and body[at].text in dims and at + 2 < len(body)
        axis = "xyz".find(body[at + 2].text) if named and body[at + 1].text == "." else -1
        known = (*dims[body[at].text], k.Const(1, INT32), k.Const(1, INT32))[axis] if axis >= 0 else None
        if isinstance(known, k.Var):
            used[known.name] = known
            out += [_token(w, body[at]) for w in f"( unsigned int ) {known.name}".split()]
        elif isinstance(known, k.Const):
            out.append(_token(f"{int(known.value.real)}u", body[at]))
        at += 3 if isinstance(known, k.Var | k.Const) else 1
        if not isinstance(known, k.Var | k.Const):
            out.append(body[at - 1])
    return out, used


def _with_members(body: list[Raw], records: dict[str, dict[str, str]]) -> list[Raw]:
    """A text with the names of members: ``p.nx`` and ``s->grid.n`` of structs that are variables here."""
    out: list[Raw] = []
    at = 0
    while at < len(body):
        name = body[at].text if body[at].kind == "NAME" and _free(body, at) else ""
        stop = at
        while name in records and stop + 2 < len(body) and body[stop + 1].text in (".", "->"):
            member = records[name].get(body[stop + 2].text)
            if member is None:
                break
            name, stop = member, stop + 2
        out.append(body[at] if stop == at else replace(body[at], text=name))
        at = stop + 1
    return out


def _with_pointers(body: list[Raw], reader: Any) -> list[Raw]:
    """A text with the names of the pointers of an array of them: ``h[0]``, ``d[s]`` in a loop that is written out."""
    out: list[Raw] = []
    at = 0
    while at < len(body):
        names = reader.banks.get(body[at].text, ()) if body[at].kind == "NAME" and _free(body, at) else ()
        if names and [t.text for t in body[at + 1 : at + 4 : 2]] == ["[", "]"]:
            found = reader.low.lookup(body[at + 2].text)
            number = str(found.value.value) if isinstance(found, Constant) else body[at + 2].text
            if number.isdigit() and int(number) < len(names):
                out.append(replace(body[at], text=names[int(number)]))
                at += 4
                continue
        out.append(body[at])
        at += 1
    return out


def _sized(body: list[Raw], reader: Any) -> tuple[list[Raw], dict[str, Any]]:
    """A text with a number for each ``v.size()`` and each ``sizeof(a)`` of an array that is declared with its extent
    (in the function, it is a pointer), and what these numbers are."""
    out: list[Raw] = []
    sizes: dict[str, Any] = {}
    at = 0
    while at < len(body):
        owner = body[at].text
        if owner == "sizeof" and (held := _held(body, at)) and isinstance(reader.low.extents.get(held[0]), Array):
            whole = Tree("id_expression", [Token("NAME", held[0])])
            bytes_ = reader.number(Tree("sizeof_expression", [Token("SIZEOF", "sizeof"), whole]))
            if (known := fold(bytes_)) is None:
                name = reader.own_name(f"{held[0]}_bytes")
                sizes[name] = normal(bytes_)
            text = f"( unsigned long long ) {name}" if known is None else f"{int(known.value.real)}ull"
            out += [_token(w, body[at]) for w in text.split()]
            at += held[1]
            continue
        called = [t.text for t in body[at + 1 : at + 5]] == [".", "size", "(", ")"]
        if called and owner in reader.containers and _free(body, at):
            name = next((n for n, s in sizes.items() if s.array == owner), "") or reader.own_name(f"{owner}_size")
            sizes[name] = k.Shape(owner, 0)
            out.append(_token(name, body[at]))
            at += 5
        else:
            out.append(body[at])
            at += 1
    return out, sizes


def _held(body: list[Raw], at: int) -> tuple[str, int] | None:
    """The name of ``sizeof(a)`` and ``sizeof a``, and how many tokens that is; None for ``sizeof(a[0])``."""
    words = [t.text for t in body[at : at + 5]]
    if words[1] == "(":
        return (words[2], 4) if words[3] == ")" and words[4:] not in (["["], ["."], ["->"]) else None
    plain = body[at + 1].kind == "NAME" and words[2] not in ("[", ".", "->", "::")
    return (words[1], 2) if plain else None


def registered(
    reader: Any, word: str, arrays: list[tuple[Any, str]], numbers: list[tuple[str, str]], returns: str,
    body: list[Raw], place: Raw, node: Tree, also: tuple[k.Var, ...] = (),
) -> tuple[k.Function, str]:  # fmt: skip
    """The plain function ``<host>_<word>`` with this body, lowered, and its name.

    ``arrays`` and ``numbers`` are (type, name) of its parameters, ``also`` what it returns beside the number that its
    text returns. Raises Refused.
    """
    program = reader.program
    toks = program.unit.tokens
    key = _as_text(arrays, numbers, returns, body, also)
    if (twin := reader.texts.get(key)) is not None:  # a helper written out twice
        return twin, twin.name
    taken = {f.name for f in reader.outlined} | set(program.functions)
    name, number = f"{reader.name}_{word}", 2
    while name in taken:
        name, number = f"{reader.name}_{word}_{number}", number + 1
    params = [_declared(t, n) for t, n in arrays] + [f"{t} {n}" for t, n in numbers]
    head = f"{returns} {name} ( {' , '.join(params)} ) {{".split()
    start = len(toks)
    toks.extend(_token(w, place) for w in head)
    toks.extend(replace(t) for t in body)
    toks.append(_token("}", place))
    item = Item("host", name, start, len(toks) - 1)
    from kraise.frontends.cuda_c.reader import read_function

    function, problems = read_function(program, Definition(name, "host", item, also=also), "plain", name, [])
    if function is None:
        raise Refused(*(d for d in problems if d.severity == "error"))
    function = replace(function, doc="")
    twin = next((f for f in reader.outlined if replace(f, name=name) == function), None)
    if twin is None:
        reader.outlined.append(function)
    reader.texts[key] = found = twin or function
    return found, found.name


def _as_text(
    arrays: list[tuple[Any, str]],
    numbers: list[tuple[str, str]],
    returns: str,
    body: list[Raw],
    also: tuple[k.Var, ...],
) -> tuple[str, ...]:
    """A function as words in which its parameters have no names of their own."""
    own = {n: f"${at}" for at, (_, n) in enumerate((*arrays, *numbers))}
    words = [own.get(t.text, t.text) if t.kind == "NAME" and _free(body, n) else t.text for n, t in enumerate(body)]
    return (
        *(_declared(t, own[n]) for t, n in arrays),
        *(t for t, _ in numbers),
        returns,
        *words,
        *(f"{v.type} {own.get(v.name, v.name)}" for v in also),
    )


def _declared(t: Any, name: str) -> str:
    """A parameter that points to ``t``."""
    if isinstance(t, Array):
        inner: Any = t
        while isinstance(inner, Array):
            inner = inner.of
        return f"{spelled(inner)} ( * {name} ) " + " ".join(f"[ {x.value} ]" for x in rows_of(t))  # type: ignore[union-attr]
    return f"{spelled(t)} * {name}"


def renamed(body: list[Raw], renames: dict[str, list[Raw] | None]) -> list[Raw]:
    """Tokens of the source with what stands for its names, each in its place."""
    out: list[Raw] = []
    for n, t in enumerate(body):
        new = renames.get(t.text) if t.kind == "NAME" and _free(body, n) else None
        if new is not None and [x.text for x in new[:2]] == ["(", "&"] and out and out[-1].text == "*":
            new = [Raw("OP", "("), *new[2:]]  # *&x
            out.pop()
        out += [t] if new is None else [replace(x, file=t.file, line=t.line, column=t.column) for x in new]
    return out


def _token(word: str, place: Raw) -> Raw:
    is_name = word[0].isalpha() or word[0] == "_"
    return Raw(
        "NAME" if is_name else "NUMBER" if word[0].isdigit() else "OP", word, place.file, place.line, place.column
    )


def spelled(t: Any) -> str:
    """A type as C spells it."""
    return t.name if isinstance(t, Struct) else _WORDS[str(t)] if isinstance(t, ScalarType) else str(t)


def _free(body: list[Raw], n: int) -> bool:
    return n == 0 or body[n - 1].text not in (".", "->", "::")


def _changed(body: list[Raw], name: str) -> bool:
    """Is the name assigned to (and not an element of it)?"""
    for n, t in enumerate(body):
        if t.text == name and _free(body, n):
            first, last = n, n
            while first and [t.text for t in body[first - 1 : last + 2 : last + 2 - first]] == ["(", ")"]:
                first, last = first - 1, last + 1  # (x) += …, what stands for *p in a helper
            after = body[last + 1].text if last + 1 < len(body) else ""
            before = body[first - 1].text if first else ""
            address = before == "&" and not (
                first > 1 and (body[first - 2].kind != "OP" or body[first - 2].text in (")", "]"))
            )
            if after in _ASSIGNS or before in ("++", "--") or address:
                return True
    return False


def _counter(body: list[Raw]) -> str:
    """``i`` of ``for (i = …``, "" where the loop declares its own or is no such loop."""
    if len(body) > 3 and body[0].text == "for" and body[2].kind == "NAME" and body[3].text == "=":
        return body[2].text
    return ""


def _sets_first(body: list[Raw], name: str) -> bool:
    return _counter(body) == name
