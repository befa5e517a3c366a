"""Arrays of structs in CUDA C host functions, written as an array for each member before the function is read.

``Body *d; cudaMalloc(&d, n * sizeof(Body)); cudaMemcpy(d, h, bytes, …); h[i].x = 0;`` becomes ``float *d_x; …``, one
statement for each member. Only what is the same for the whole and for its members is written so: declarations,
allocations, copies, swaps and assignments of pointers and elements. A launch keeps its argument: the reader puts the
members together (:func:`kraise.frontends.cuda_c.host_launches.Launches.given`).

Side conditions, each checked: a kernel of the file takes an array of the struct; its members are numbers and vectors
of CUDA's; no constructor of its own; a name is an array of structs wherever it stands in the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.c_types import CONTAINERS, SPELLED, CType, Struct
from kraise.frontends.cuda_c.host_names import concept
from kraise.frontends.cuda_c.structs import StructDefinition
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.values import TypeName
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType, StructType

_BYTES = {"malloc": 1, "memcpy": 2, "memset": 2, "host.malloc": 0}  # where such a call has its number of bytes
_MEMORY = frozenset(("malloc", "memcpy", "memset", "host.malloc", "host.calloc", "swap"))
_PLAIN = frozenset(("sizeof", "data", "begin", "end", "get", "size", "raw_pointer_cast", "copy", "free", "cudaFree"))
_WORDS = frozenset(("if", "for", "while", "switch"))


def structs_of(body: list[Raw], lookup: Callable[[str], object], functions: Iterable[k.Function]) -> dict[str, Struct]:
    """The structs that the function names and kernels take arrays of."""
    taken = {p.type.name for f in functions for p in f.params if isinstance(p.type, StructType) and p.type.is_array}
    found: dict[str, Struct] = {}
    for name in dict.fromkeys(t.text for t in body if t.kind == "NAME"):
        entity = lookup(name)
        t = entity.type if isinstance(entity, TypeName) else None
        if isinstance(t, Struct) and not t.vector and t.name in taken and all(map(_kept, (m for _, m in t.members))):
            own = t.defined
            if not (isinstance(own, StructDefinition) and (own.constructors or own.defaults)):
                found[name] = t
    return found


def _kept(t: CType) -> bool:
    return isinstance(t, ScalarType) or (isinstance(t, Struct) and t.vector)


def by_members(
    body: list[Raw], structs: Mapping[str, Struct], sizes: Mapping[str, int]
) -> tuple[list[Raw], dict[str, str]]:
    """The function with arrays for the members, and its arrays of structs with the names of their types; ``sizes`` are
    the structs' bytes."""
    arrays, records = _declared(body, structs)
    if not arrays:
        return body, {}
    return _Rewriting(structs, sizes, arrays, records).function(body), arrays


def member_name(name: str, member: str) -> str:
    """The array of a member."""
    return f"{name}_{member}"


def _declared(body: list[Raw], structs: Mapping[str, Struct]) -> tuple[dict[str, str], dict[str, str]]:
    """The arrays of structs, and the structs by value, with their types."""
    arrays: dict[str, str] = {}
    records: dict[str, str] = {}
    for n, t in enumerate(body[:-2]):
        if t.text not in structs or body[n - 1].text in (".", "->", "::"):
            continue
        inside = body[n - 1].text == "<" and body[n - 2].text in CONTAINERS
        at = n + 1
        while at < len(body) - 1 and body[at].text in ("const", "*", "__restrict__", "&", ">"):
            at += 1
        marks = [x.text for x in body[n + 1 : at]]
        stars, name = marks.count("*"), body[at]
        if name.kind != "NAME" or body[at + 1].text not in (";", "=", ",", ")", "[", "(", "{"):
            continue
        if (stars == 1 and not inside) or (inside and ">" in marks) or body[at + 1].text == "[":
            arrays[name.text] = t.text
            if stars == 1:
                arrays |= dict.fromkeys(_others(body, at + 1), t.text)
        elif not stars:
            records[name.text] = t.text
    return arrays, {n: t for n, t in records.items() if n not in arrays}


def _others(body: list[Raw], at: int) -> list[str]:
    """The further pointers of ``Body *a = make(n), *b;``."""
    found: list[str] = []
    while at < len(body) - 2 and body[at].text not in (";", ")"):
        if body[at].text == "," and body[at + 1].text == "*":
            found.append(body[at + 2].text)
        at = closing(body, at) + 1 if body[at].text in ("(", "[", "{") else at + 1
    return found


class _Rewriting:
    """One function."""

    def __init__(
        self,
        structs: Mapping[str, Struct],
        sizes: Mapping[str, int],
        arrays: Mapping[str, str],
        records: Mapping[str, str],
    ):
        self.structs, self.sizes, self.arrays, self.records = structs, sizes, arrays, records

    def function(self, body: list[Raw]) -> list[Raw]:
        """Its parameters and its statements."""
        opened = next((n for n, t in enumerate(body) if t.text == "("), None)
        start = next((n for n, t in enumerate(body) if t.text == "{"), None)
        if opened is None or start is None or opened > start:
            return body
        stop = closing(body, opened)
        params: list[Raw] = []
        for p in split(body[opened + 1 : stop]):
            for each in self.parts(p) if self.whole(p) else [p]:
                params += [*([] if not params else made(",", body[opened])), *each]
        return [*body[: opened + 1], *params, *body[stop:start], *self.block(self.elements(body[start:]))]

    # --- elements

    def elements(self, body: list[Raw]) -> list[Raw]:
        """``a[i].x`` as ``a_x[i]``, ``a->x`` and ``(*a).x`` as ``a_x[0]``, ``a.size()`` as that of the first member."""
        out: list[Raw] = []
        n = 0
        while n < len(body):
            t = body[n]
            if not self._is(body, n):
                out.append(t)
                n += 1
                continue
            stop = closing(body, n + 1) if body[n + 1].text == "[" else n
            after = [x.text for x in body[stop + 1 : stop + 3]]
            members = dict(self._members(t.text))
            if stop > n and after[0] == "." and after[1] in members:
                inner = self.elements(body[n + 2 : stop])
                out += [*made(f"{member_name(t.text, after[1])} [", t), *inner, *made("]", t)]
                n = stop + 3
            elif stop == n and after[0] == "->" and after[1] in members:
                out += made(f"{member_name(t.text, after[1])} [ 0 ]", t)
                n += 3
            elif after[0] == "." and after[1] in ("size", "empty"):
                out += made(member_name(t.text, next(iter(members))), t)
                n += 1
            else:
                out.append(t)
                n += 1
        return out

    def _is(self, body: list[Raw], n: int) -> bool:
        return body[n].text in self.arrays and body[n - 1].text not in (".", "->", "::")

    def _members(self, name: str) -> tuple[tuple[str, CType], ...]:
        return self.structs[self.arrays[name]].members

    def whole(self, statement: list[Raw]) -> list[str]:
        """The arrays of structs that a statement names."""
        return [t.text for n, t in enumerate(statement) if self._is(statement, n)]

    # --- statements

    def block(self, body: list[Raw]) -> list[Raw]:
        """The statements of a function, those that name an array of structs once for each member."""
        out: list[Raw] = []
        n, bare = 0, False
        while n < len(body):
            text = body[n].text
            if text in ("{", "}"):
                out.append(body[n])
                n, bare = n + 1, False
            elif text in ("else", "do"):
                out.append(body[n])
                n, bare = n + 1, True
            elif text in _WORDS and n + 1 < len(body) and body[n + 1].text == "(":
                stop = closing(body, n + 1)
                out += self.named(body[n : stop + 1])
                n, bare = stop + 1, True
            else:
                stop = n
                while stop < len(body) - 1 and body[stop].text not in (";", "}"):
                    stop = closing(body, stop) + 1 if body[stop].text in ("(", "[", "{") else stop + 1
                stop -= body[stop].text == "}"
                out += self.statement(body[n : stop + 1], bare)
                n, bare = stop + 1, False
        return out

    def named(self, head: list[Raw]) -> list[Raw]:
        """A condition: the array of the first member stands for all."""
        out = []
        for n, t in enumerate(head):
            first = member_name(t.text, self._members(t.text)[0][0]) if self._is(head, n) else ""
            out += made(first, t) if first else [t]
        return out

    def statement(self, s: list[Raw], bare: bool) -> list[Raw]:
        """A statement that ends with ``;``: itself, or one for each member."""
        if not s or not self.whole(s) or not self.alike(s):
            return s
        own = next((n for n in (0, 1) if s[n].text in self.structs), None)
        head: list[Raw] = []
        if own is not None and s[own + 1].text in self.records and s[own + 2].text == "=":  # Body q = h[i]
            head = [*s[own : own + 2], *made(";", s[0])]
            s = s[own + 1 :]
        out = [*head, *(t for part in self.parts(s) for t in part)]
        return [*made("{", s[0]), *out, *made("}", s[0])] if bare else out

    def alike(self, s: list[Raw]) -> bool:
        """Does a statement do to each member what it does to the whole?"""
        words = {t.text for t in s}
        if "<<<" in words or "return" in words or "hipLaunchKernelGGL" in words or "[ ]" in words:
            return False
        calls = [n for n, t in enumerate(s[:-1]) if t.kind == "NAME" and s[n + 1].text == "("]
        for n in calls:
            if concept(s[n].text) in _MEMORY:
                inside = self.whole(s[n + 1 : closing(s, n + 1) + 1])
                if sorted(inside) == sorted(self.whole(s)):
                    return True  # CHECK(cudaMalloc(&d, bytes))
        braces = any(t.text == "{" for t in s)
        known = _PLAIN | set(self.arrays)
        return not braces and all(concept(s[n].text) in (*_MEMORY, "pointer") or s[n].text in known for n in calls)

    def parts(self, s: list[Raw]) -> list[list[Raw]]:
        """A statement or a parameter for each member."""
        of = self.arrays[self.whole(s)[0]]
        return [self.part(s, of, name, kind) for name, kind in self.structs[of].members]

    def part(self, s: list[Raw], of: str, member: str, kind: CType) -> list[Raw]:
        """A statement for one member."""
        s = self.in_bytes(s, of)
        spelled = kind.name if isinstance(kind, Struct) else SPELLED[str(kind)]
        out: list[Raw] = []
        for n, t in enumerate(s):
            if self._is(s, n):
                out += made(member_name(t.text, member), t)
            elif t.text in self.records and s[n - 1].text not in (".", "->", "::"):
                out += made(f"{t.text} . {member}", t)
            elif t.text == of:
                out += made(spelled, t)
            elif t.text == "struct" and n + 1 < len(s) and s[n + 1].text == of:
                continue
            else:
                out.append(t)
        return out

    def in_bytes(self, s: list[Raw], of: str) -> list[Raw]:
        """A statement whose numbers of bytes are some of ``sizeof(of)``: ``bytes`` is ``bytes / sizeof(of) *
        sizeof(of)``, of which the second becomes the member's."""
        for n, t in enumerate(s[:-1]):
            at = _BYTES.get(concept(t.text), -1) if t.kind == "NAME" and s[n + 1].text == "(" else -1
            if at < 0:
                continue
            stop = closing(s, n + 1)
            args = split(s[n + 2 : stop])
            if at < len(args) and "sizeof" not in {x.text for x in args[at]}:
                size = self.sizes[of]
                args[at] = [*made("(", t), *args[at], *made(f") / {size} * sizeof ( {of} )", t)]
                joined = [x for m, a in enumerate(args) for x in ([*made(",", t), *a] if m else a)]
                return [*s[: n + 2], *joined, *s[stop:]]
        return s
