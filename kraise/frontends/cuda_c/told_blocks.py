"""How many threads a block has where the file launches a kernel, also in a ``main`` that is not read.

The size is a hint and nothing rests on it: what is raised with it says so, and checks it. A number is followed through
variables that the function sets once: ``int T = 32; dim3 block(T, T); k<<<grid, block>>>(…)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.instantiate import WHOLE
from kraise.frontends.cuda_c.parser import parse
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.values import Constant
from kraise.ir.kernel import Const
from kraise.ir.types import INT32

Block = tuple[int | None, ...]
_SET = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "|=", "&=", "^=", "++", "--"))
_DEPTH = 6


def told_blocks(program: Program, kernels: frozenset[str]) -> tuple[tuple[str, Block], ...]:
    """The sizes of blocks by kernel, each once, None for an extent that is no number."""
    kernels = frozenset(n for n in kernels if sum(d.kind == "kernel" for d in program.functions.get(n, [])) < 2)
    found: dict[tuple[str, Block], None] = {}
    toks = program.unit.tokens
    for item in program.unit.items:
        if item.kind != "host":
            continue
        for at in range(item.first, item.last + 1):
            if toks[at].text != "<<<":
                continue
            name = _launched(toks, at)
            meant = (name,) if name in kernels or name in program.functions else _pointed(toks, item, kernels)
            arguments = _arguments(toks, at + 1, ">>>") if kernels.intersection(meant) else []
            if len(arguments) > 1:
                block = _Reader(program, item).block(*arguments[1])
                found |= {(n, block): None for n in meant}
    return tuple(found)


def _pointed(toks: list[Raw], item: Item, kernels: frozenset[str]) -> tuple[str, ...]:
    """The kernels that a function speaks of without launching them: what its pointers to kernels may be."""
    named = (k for k in range(item.first + 1, item.last) if toks[k].text in kernels and toks[k].kind == "NAME")
    return tuple(dict.fromkeys(toks[k].text for k in named if toks[k + 1].text not in ("<<<", "<", "(")))


def _launched(toks: list[Raw], at: int) -> str:
    """The name before ``<<<``, with or without template arguments."""
    at -= 1
    depth = 0
    while at > 0 and (depth or toks[at].text == ">"):
        depth += {">": 1, ">>": 2, "<": -1}.get(toks[at].text, 0)
        at -= 1
    return toks[at].text


def _arguments(toks: list[Raw], first: int, close: str) -> list[tuple[int, int]]:
    """The first and the last token of each argument up to the closing one."""
    out: list[tuple[int, int]] = []
    depth, at = 0, first
    while at < len(toks) and (depth or toks[at].text != close):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(toks[at].text, 0)
        if not depth and toks[at].text == ",":
            out.append((first, at - 1))
            first = at + 1
        at += 1
    return [*out, (first, at - 1)] if at > first or out else out


@dataclass
class _Reader:
    program: Program
    item: Item

    def block(self, first: int, last: int) -> Block:
        toks = self.program.unit.tokens
        if first == last and (declared := self._declared(toks[first].text, "dim3")) is not None:
            first = declared + 1 + (toks[declared + 1].text == "=")
        if toks[first].text == "dim3":
            first += 1
        if toks[first].text in ("(", "{") and toks[first - 1].kind == "NAME":
            ends = _arguments(toks, first + 1, {"(": ")", "{": "}"}[toks[first].text])
            return tuple(self.number(a, b) for a, b in ends)
        return (self.number(first, last),)

    def number(self, first: int, last: int, depth: int = 0) -> int | None:
        """The value of an expression; None if it is not known here."""
        toks = self.program.unit.tokens
        scope: dict[str, object] = {}
        for name in {t.text for t in toks[first : last + 1] if t.kind == "NAME"}:
            at = self._declared(name, *WHOLE)
            if at is None or depth > _DEPTH or toks[at + 1].text != "=":
                continue
            stop = next((n for n in range(at, self.item.last) if toks[n].text == ";"), at)
            ends = _arguments(toks, at + 2, ";")
            value = self.number(*ends[0], depth + 1) if ends and stop > at else None
            if value is None:
                return None
            scope[name] = Constant(Const(value, INT32))
        low = self.program.lowering(self.program)
        low.scopes = [scope]
        try:
            value = low.constant(parse(self.program.unit, first, last, "expression")).value
        except Refused:
            return None
        return value if type(value) is int else None

    def _further(self, at: int, types: tuple[str, ...]) -> bool:
        """Is a name a further one of a declaration, ``dim3 grid(4), block(32)``?"""
        toks = self.program.unit.tokens
        if toks[at - 1].text != "," or toks[at + 1].text not in ("(", "=", "{"):
            return False
        depth, at = 0, at - 1
        while at > self.item.first and (depth or toks[at].text not in (";", "{", "}", "(")):
            depth += {")": 1, "}": 1, "(": -1, "{": -1}.get(toks[at].text, 0) if at else 0
            at -= 1
        return toks[at + 1].text in types

    def _declared(self, name: str, *types: str) -> int | None:
        """The token that declares a variable of the function, if nothing else sets it."""
        toks, places = self.program.unit.tokens, range(self.item.first + 1, self.item.last)
        mine = [at for at in places if toks[at].text == name and toks[at].kind == "NAME"]
        declared = [at for at in mine if toks[at - 1].text in types or self._further(at, types)]
        if len(declared) != 1:
            return None
        for at in mine:
            member = 2 if toks[at + 1].text == "." else 0
            is_set = toks[at + 1 + member].text in _SET or toks[at - 1].text in ("&", "++", "--", ">>")
            if is_set and at != declared[0]:
                return None
        return declared[0]


__all__ = ["told_blocks"]
