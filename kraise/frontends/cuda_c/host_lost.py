"""What ``main`` does with what it computed and cannot be read here: checks against a reference, statistics, tables.

Such a statement is no refusal where nothing that ``main`` gives back needs what it changes. It must neither launch nor
move memory of the device, nor end the function; the arrays that it may change are marked, and none of them may be read
after it by what a result needs; a pointer that it sets may see each array that it mentions. Statements that were read,
and that no result needs, go the same way.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects
from kraise.frontends.cuda_c.host_main import filled_arrays
from kraise.frontends.cuda_c.host_names import callee, dropped
from kraise.frontends.cuda_c.trees import tokens
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Needed, flat, stored
from kraise.ir.host_names import reads, sets
from kraise.ir.types import BOOL

_LOST = "@lost"
_ENDS = ("return_statement", "goto_statement", "launch_expression", "throw_statement")
_LEAVES = frozenset(("exit", "abort", "throw", "_exit", "quick_exit", "longjmp"))


def marked(reader: Any, node: Tree, refused: Refused) -> list[h.Stmt] | None:
    """Marks of the arrays that a statement of ``main`` may change, which was refused; None where it cannot be left."""
    if reader.name != "main" or reader.depth:
        return None
    if any(any(node.find_data(t)) for t in _ENDS) or {str(t) for t in tokens(node)} & _LEAVES:
        return None
    effects = host_effects.of_tree(reader.program, node, frozenset(reader.arrays))
    arrays = filled_arrays(reader, node) if effects.memory else set()
    if effects.works or arrays is None:
        return None
    calls = {callee(t.children[0]) for t in node.find_data("call_expression")}
    given = {n for n in calls if n and not (reader.program.functions.get(n) or dropped(n) or host_effects.reads(n))}
    names = {str(t) for t in tokens(node)}
    if given:  # of elsewhere: it may change what it is given
        arrays = arrays | (names & set(reader.arrays))
    arrays = arrays | (effects.variables & set(reader.arrays))
    span = reader.low.span(node)
    pointers = host_effects.points_elsewhere(reader.program, node, set(reader.arrays) - reader.containers)
    seen = {str(t) for t in tokens(reader.placed(node, choose=False))} & set(reader.arrays) - pointers
    seen -= {callee(t.children[0]) for t in node.find_data("call_expression")}
    same = [h.Point((p,), (k.ArrayRef(n),), span=span) for p in sorted(pointers) for n in sorted(seen)]
    scalars = effects.variables - arrays
    if scalars & (set(reader.dims) | set(reader.records) | set(reader.banks) | set(reader.plans)):
        return None
    reader.ignored |= scalars | (set(reader.declares(node)) - set(reader.arrays))
    for name in scalars:
        reader.forget(name)
    reader.suppressed += refused.diagnostics
    reader.drop(node, "work that no result needs")
    for name in arrays | pointers:
        reader.lost.setdefault(name, refused)
    marks: list[h.Stmt] = [h.If(k.Var(_LOST, BOOL), tuple(same), span=span)] if same else []
    return marks + [h.Update(name, h.Whole(name + _LOST), span=span) for name in sorted(arrays)]


def without(reader: Any, body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The body without what its results do not need. Raises Refused where they need what was lost."""
    if not h.returned(body):
        if reader.lost:
            raise next(iter(reader.lost.values()))
        return body
    stores = {f.name: stored(f) for f in (*reader.functions.values(), *reader.outlined)}
    needed = Needed(body, stores)
    for at, stmt in enumerate(body):
        if (name := _mark(stmt)) and needed.memory(name) in {
            needed.memory(n) for s in body[at + 1 :] if not _mark(s) and needed.is_needed(s) for x in flat((s,))
            for n in reads(x)
        }:  # fmt: skip
            raise reader.lost[name]
    for at, stmt in enumerate(body):
        for name in sorted(set().union(*map(sets, stmt.body))) if _joins(stmt) else ():  # type: ignore[union-attr]
            _stays_out(reader, name, body[at + 1 :], needed)
    plain = tuple(s for s in body if not _mark(s) and not _joins(s))
    left: list[h.Stmt] = []
    kept = needed.kept(plain, left.append)
    if any(map(_works, flat(plain))) and not any(map(_works, flat(kept))):
        if reader.lost:
            raise next(iter(reader.lost.values()))
        return plain  # what is given back has nothing to do with the device: main is read as it stands
    for stmt in left:
        _note(reader, stmt)
    return kept


def _works(stmt: h.Stmt) -> bool:
    return isinstance(stmt, h.CallHost) or (isinstance(stmt, h.Launch) and stmt.grid is not None)


def _mark(stmt: h.Stmt) -> str:
    match stmt:
        case h.Update(array=name, value=h.Whole(array=source)) if source == name + _LOST:
            return name
    return ""


def _joins(stmt: h.Stmt) -> bool:
    return isinstance(stmt, h.If) and isinstance(stmt.condition, k.Var) and stmt.condition.name == _LOST


def _stays_out(reader: Any, pointer: str, rest: tuple[h.Stmt, ...], needed: Needed) -> None:
    """Refuses where a pointer that may see other memory is read, or stored through, by what a result needs."""
    later = [s for s in flat(rest) if not _mark(s)]
    names = {pointer}
    while more := {n for s in later if isinstance(s, h.Point) and reads(s) & names for n in s.names} - names:
        names |= more
    wanted = {needed.memory(n) for s in later if needed.is_needed(s) for n in reads(s)}
    changes = [s for s in later if isinstance(s, h.Update | h.Store | h.Launch | h.CallHost)]
    stores = any(names & needed.changed_names(s) for s in changes)
    looks = any(needed.is_needed(s) and reads(s) & names and not isinstance(s, h.Point) for s in later)
    if looks or (stores and needed.memory(pointer) in wanted):
        raise reader.lost[pointer]


def _note(reader: Any, stmt: h.Stmt) -> None:
    if isinstance(stmt, h.Launch | h.CallHost):
        reader.dropped.append(h.Dropped(f"{stmt.function}(…)", "work that no result needs", stmt.span))
