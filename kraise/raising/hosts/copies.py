"""Numbers that a host function only copies: ``n_ = n; size = n_`` is one name (copy propagation; Muchnick, Advanced
Compiler Design and Implementation, section 12.5).

Objects and helpers that are written out leave such chains: a constructor's parameter becomes a member, and so on.

Side conditions, checked: a copy is made once, in the statements of the function itself (not in a loop or a branch), of
a number of the same kind that is set once, too, or of a parameter that never is. A number that is set several times
there, and nowhere else, is several names first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import fresh, set_within, sets
from kraise.ir.rename import renamed
from kraise.ir.types import ScalarType


def without_copies(host: h.Host) -> h.Host:
    """The function with one name for a number and its copies."""
    if not any(isinstance(s, h.Assign) and _copied(s) for s in host.body):
        return host
    params = {p.name for p in host.params}
    body, parts = _apart(host.body, params, set_within(host.body) | params)
    times = _times(body)
    own = {s.name for s in body if isinstance(s, h.Assign)}
    stays = {n for n in own if times[n] == 1 and n not in params} | {n for n in params if not times[n]}
    names: dict[str, str] = {}  # what stands for a name
    for s in body:
        source = _copied(s) if isinstance(s, h.Assign) else ""
        if isinstance(s, h.Assign) and source in stays and s.name in stays and s.name not in params:
            old, new = names.get(source, source), names.get(s.name, s.name)
            if old in parts and old not in names.values():  # one of several values of a helper's own number
                names[old] = new
            else:
                names[new] = old
    known = {n: _last(n, names) for n in names}
    body = tuple(s for s in body if not (isinstance(s, h.Assign) and _is_known(s, known)))
    return replace(host, body=renamed(body, known))


def _copied(s: h.Assign) -> str:
    """The number that a statement copies, "" where it does something else."""
    value = s.value
    while isinstance(value, k.Cast) and _alike(value.type, value.arg.type):
        value = value.arg
    return value.name if isinstance(value, k.Var) and _alike(s.type, value.type) else ""


def _alike(a: object, b: object) -> bool:
    """Is a number of one type, as a size, the same in the other?"""
    if a == b:
        return True
    whole = [t for t in (a, b) if isinstance(t, ScalarType) and t.is_integer and (t.bits or 64) >= 32]
    wraps = any(t.kind == "uint" and t.bits == 32 for t in whole)  # a size_t is a size; an unsigned may be a hash
    return len(whole) == 2 and not wraps


def _apart(body: tuple[h.Stmt, ...], params: set[str], taken: set[str]) -> tuple[tuple[h.Stmt, ...], frozenset[str]]:
    """The statements with a name for each value of a number that only they set, and these names."""
    times = _times(body)
    own = Counter(s.name for s in body if isinstance(s, h.Assign))
    copied = {n for s in body if isinstance(s, h.Assign) and (source := _copied(s)) for n in (source, s.name)}
    several = {n for n in copied if own[n] > 1 and own[n] == times[n] and n not in params}
    now: dict[str, str] = {}
    parts: set[str] = set()
    out: list[h.Stmt] = []
    for s in body:
        if isinstance(s, h.Assign) and s.name in several:
            value = renamed(s.value, now)
            now = {**now, s.name: s.name if s.name not in now else fresh(taken, s.name)}
            parts.add(now[s.name])
            out.append(replace(s, name=now[s.name], value=value))
        else:
            out.append(renamed(s, now))
    return tuple(out), frozenset(parts)


def _times(body: tuple[h.Stmt, ...]) -> Counter[str]:
    """How often a name is set, in all blocks."""
    found: Counter[str] = Counter()
    for s in body:
        found.update(sets(s))
        for block in h.children(s):
            found += _times(block)
    return found


def _last(name: str, names: dict[str, str]) -> str:
    while name in names:
        name = names[name]
    return name


def _is_known(s: h.Assign, known: dict[str, str]) -> bool:
    """Does a copy set a name to itself?"""
    source = _copied(s)
    return bool(source) and known.get(source, source) == known.get(s.name, s.name)
