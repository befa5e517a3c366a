"""Helpers of a CUDA C file that do little: they read a clock, give new memory, set variables that nothing reads."""

from __future__ import annotations

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects, library_table
from kraise.frontends.cuda_c.host_effects import MAKES, written
from kraise.frontends.cuda_c.host_names import concept, dropped
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import child, tokens


def takes_time(program: Program, name: str) -> bool:
    """Is this a helper of the file that reads a clock and does nothing else, given no memory: ``rtclock()``?"""
    found = [d for d in program.functions.get(name, []) if d.item is not None]
    if len(found) != 1 or found[0].kind != "host":
        return False
    words = _tokens(program, found[0])
    clocks = {w for w in words if dropped(w) == "timing"}
    calls = (words & set(program.functions)) - {name}
    works = "<<<" in words or calls or any(concept(w) or library_table.is_known(w) for w in words)
    toks, item = program.unit.tokens, found[0].item
    assert item is not None
    head = [t.text for t in toks[item.first : item.last + 1]]
    given = head[head.index("(") + 1 : head.index(")")] if "(" in head else ["?"]
    return bool(clocks) and not works and given in ([], ["void"])


def allocates(program: Program, name: str, above: tuple[str, ...] = ()) -> bool:
    """Does a function of the file do nothing but give new memory, as ``void *``?"""
    found = [d for d in program.functions.get(name, []) if d.item is not None]
    if len(found) != 1 or name in above:
        return False
    words = _tokens(program, found[0])
    try:
        tree = program.load(found[0])
    except Refused:
        return False
    declarator, specifiers = child(tree, "function_declarator"), child(tree, "decl_specifiers")
    inner = child(declarator, "declarator") if declarator is not None else None
    if specifiers is None or inner is None or "void" not in written(specifiers) or "*" not in written(inner):
        return False
    what = host_effects.of_function(program, name)
    makes = bool(words & MAKES) or any(allocates(program, w, (*above, name)) for w in words & set(program.functions))
    return makes and not what.changes and not what.variables


def idle(program: Program) -> set[str]:
    """The variables of the file that only functions without any other effect mention, and that return nothing: timers
    and the like. Their values reach nothing."""
    if program.idle is None:
        program.idle = _idle(program)
    return program.idle


def _idle(program: Program) -> set[str]:
    mentions: dict[str, set[str]] = {}
    for name, definitions in program.functions.items():
        for d in definitions:
            for t in _tokens(program, d):
                mentions.setdefault(t, set()).add(name)
    found = {n: host_effects.of_function(program, n) for n in program.functions}
    silent = {n for n, e in found.items() if not e.changes and _returns_nothing(program, n)}
    names = {v for n in silent for v in found[n].variables}
    while True:
        kept = {v for v in names if mentions.get(v, set()) <= silent}
        quiet = {n for n in silent if found[n].variables <= kept}
        if kept == names and quiet == silent:
            return names
        names, silent = kept, quiet


def _tokens(program: Program, d: Definition) -> set[str]:
    toks = program.unit.tokens
    return {toks[n].text for n in range(d.item.first, d.item.last + 1)} if d.item is not None else set()


def _returns_nothing(program: Program, name: str) -> bool:
    for d in program.functions[name]:
        try:
            specifiers = child(program.load(d), "decl_specifiers")
        except Refused:
            return False
        if specifiers is None or "void" not in {str(t) for t in tokens(specifiers)}:
            return False
    return True
