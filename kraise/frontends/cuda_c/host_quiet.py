"""Methods of a CUDA C file's classes, and those that only print: ``void usage() { fprintf(stderr, …); }``."""

from __future__ import annotations

from itertools import pairwise

from kraise.frontends.cuda_c.brackets import closing
from kraise.frontends.cuda_c.host_names import dropped
from kraise.frontends.cuda_c.program import Program

_CHANGES = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "++", "--", "<<<", ">>", "new", "delete"))
_WORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "exit"))


def only_prints(program: Program, method: str) -> bool:
    """Does each method of this name, of whatever class of the file, change nothing and call nothing but what prints?"""
    toks = program.unit.tokens
    found = False
    for item in program.unit.items:
        if item.kind != "type" and item.name != method:
            continue
        for at in range(item.first, item.last):
            if toks[at].text != method or toks[at].kind != "NAME" or toks[at + 1].text != "(":
                continue
            start = closing(toks, at + 1) + 1
            start += toks[start].text == "const"
            if toks[start].text != "{":
                continue  # a call of it, or a declaration
            inner = toks[start : closing(toks, start) + 1]
            calls = {a.text for a, b in pairwise(inner) if a.kind == "NAME" and b.text == "("}
            if any(t.text in _CHANGES for t in inner) or not all(dropped(c) or c in _WORDS for c in calls):
                return False
            found = True
    return found


def methods(program: Program) -> set[str]:
    """The names that classes of the file may have for methods: what a call of one does is not looked at."""
    if program.methods is None:
        toks = program.unit.tokens
        ranges = [toks[i.first : i.last + 1] for i in program.unit.items if i.kind == "type"]
        program.methods = {
            a.text for text in ranges for a, b in pairwise(text) if a.kind == "NAME" and b.text == "("
        }  # fmt: skip
    return program.methods
