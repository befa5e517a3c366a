"""What the rounds of a host's loop share: a scatter, a scan or a sort of arrays that the loop leaves alone, made once.

A kernel that is launched in a loop makes the row of each entry anew in every round, though the row pointers never
change. XLA moves what does not change out of a loop, but not out of a branch in it, nor out of the rounds that a
gradient runs again. Such a kernel's function falls in two, ``f_once`` and ``f_round``, and is their composition; the
loop calls the first before its first round.

A value is shared where it is made, on every way through the function, of parameters whose arguments no round binds, or
of the shapes of arrays that a round begins with: a loop cannot change these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kraise.emit.blocks import Assign, Def, Do, Raw, Stmt
from kraise.emit.hosts.invariants import bound_by, mapped
from kraise.emit.loops.folds import mentioned
from kraise.emit.text import python as py
from kraise.emit.text.head import Signature
from kraise.emit.text.python import Atom, Py, flat

_DEAR = re.compile(r"\b(bincount|cumsum|cumprod|associative_scan|segment_\w+|searchsorted|sort|argsort|repeat)\(")
SAID = ("What {name} makes of arrays that a loop leaves alone.", "{name}, of what {name}_once made.")
ONCE, ROUND = "_once", "_round"
_GIVEN = {"grid", "block", "shared"}  # the launch, which each function takes apart for itself


@dataclass(frozen=True)
class Shared:
    """A kernel's function in two: ``once`` makes the ``values`` from parameters alone, ``rest`` takes these first."""

    function: str
    whole: Signature
    values: tuple[str, ...]
    once: Signature
    rest: Signature
    reads: Set[str]  # of the parameters of `once`
    asks: Set[str]  # for their shapes only
    first: tuple[Stmt, ...]
    body: tuple[Stmt, ...]

    @property
    def names(self) -> tuple[str, str]:
        """Of the two functions."""
        return names(self.function)

    def composed(self) -> list[Stmt]:
        """The statements of the kernel's own function."""
        first, rest = self.names
        made = Assign(", ".join(self.values), _called(first, self.once))
        given = replace(self.rest, positional=self.rest.positional[len(self.values) :])
        call = _called(rest, given)
        return [made, Assign(None, replace(call, args=(*map(Atom, self.values), *call.args)))]


def names(function: str) -> tuple[str, str]:
    """What the two parts of a function are called."""
    return function + ONCE, function + ROUND


def _called(name: str, head: Signature) -> py.Call:
    words = tuple((k.partition("=")[0], Atom(k.partition("=")[0])) for k in head.keywords)
    return py.Call(Atom(name), tuple(map(Atom, head.positional)), words)


def split(function: str, head: Signature, body: list[Stmt], fixed: Set[str], sized: Set[str]) -> Shared | None:
    """The function in two; None where nothing in it is dear and made from the ``fixed`` parameters and the shapes of
    ``sized`` ones alone."""
    bindings = [n for line in body for n in _targets(line)]
    known = set(bindings) | set(head.names)
    changing = {n for n in bindings if bindings.count(n) > 1 or n in head.names} | _GIVEN
    lines: dict[str, set[int]] = {n: set() for n in fixed - changing}  # of which a value is made
    values: list[str] = []
    for at, line in enumerate(body):
        if _leaves(line):
            break  # what comes after is not always computed
        targets = _targets(line)
        used = mentioned([line]) & known - (bound_by([line]) if isinstance(line, Def) else set())
        used -= {_shape_of(line)} & (sized - changing)
        if isinstance(line, Raw) or set(targets) & changing or not used <= set(lines):
            continue
        lines |= dict.fromkeys(targets, {at}.union(*(lines[n] for n in used)))
        dear = isinstance(line, Assign) and _DEAR.search(flat(line.value)) is not None
        values += [n for n in targets if dear and n != "_"]
    rest = _used([line for line in body if not set(_targets(line)) & set(values)])
    values = [n for n in values if n in mentioned(rest)]
    if not values:
        return None
    result: Py = Atom(values[0]) if len(values) == 1 else py.Tup(tuple(map(Atom, values)))
    first = [*(body[at] for at in sorted(set().union(*(lines[n] for n in values)))), Assign(None, result)]
    if isinstance(last := first[-2], Assign) and last.target == flat(result):
        first[-2:] = [replace(last, target=None)]
    once, later = (_with(head, mentioned(part)) for part in (first, rest))
    later = replace(later, positional=(*values, *later.positional))
    asks = {_shape_of(line) for line in first} - fixed - {""}
    reads = {n for n in once.names if n not in asks}
    return Shared(function, head, tuple(values), once, later, reads, asks, tuple(first), tuple(rest))


def _shape_of(line: Stmt) -> str:
    """``x`` of ``n = x.shape[0]`` or ``rows, cols = x.shape``."""
    found = re.fullmatch(r"(\w+)\.shape(\[\d+\])?", flat(line.value)) if isinstance(line, Assign) else None
    return found[1] if found else ""


def _used(body: list[Stmt]) -> list[Stmt]:
    """The statements without those whose values nothing reads any more."""
    while True:
        read = mentioned(body)
        kept = [s for s in body if not isinstance(s, Assign | Def) or not _targets(s) or set(_targets(s)) & read]
        if len(kept) == len(body):
            return kept
        body = kept


def _with(head: Signature, read: set[str]) -> Signature:
    positional = tuple(n for n in head.positional if n in read)
    keywords = tuple(k for k in head.keywords if k.partition("=")[0] in read)
    have = {*positional, *(k.partition("=")[0] for k in keywords)}
    return replace(head, positional=positional, keywords=keywords, static=tuple(s for s in head.static if s in have))


def _targets(line: Stmt) -> list[str]:
    match line:
        case Assign(target=str() as target):
            return re.findall(r"[A-Za-z_]\w*", target)
        case Def(name=name):
            return [name]
        case Raw(body=body):
            return [n for s in body for n in _targets(s)]
    return []


def _leaves(line: Stmt) -> bool:
    """Whether a statement may return before the end of the function."""
    if isinstance(line, Raw):
        return line.text.lstrip().startswith("return") or any(map(_leaves, line.body))
    return isinstance(line, Assign) and line.target is None


def moved(
    lines: list[Stmt], bound: set[str], outside: Mapping[str, Py], parts: Parts, fresh: Callable[[str], str]
) -> tuple[list[Stmt], list[Stmt]]:
    """What goes before a loop, and a round's lines without it; a round binds ``bound`` and what its lines bind.

    A round begins with arrays that have the shapes of those ``outside``.
    """
    own = bound | bound_by(lines)
    before: dict[Py, tuple[str, ...]] = {}
    first: list[Stmt] = []
    kept: list[Stmt] = []
    begun = dict(outside)

    def change(node: Py) -> Py:
        if not isinstance(node, py.Call) or flat(node.func) not in parts.texts or flat(node.func) in own:
            return node
        name = flat(node.func)
        given = dict(zip(parts.texts[name].head.positional, node.args, strict=False)) | dict(node.keywords)
        fixed = {n for n, value in given.items() if not mentioned([Do(value)]) & own}
        sized = {n: begun[flat(value)] for n, value in given.items() if flat(value) in begun}
        shared = parts.of(name, fixed, set(sized))
        if shared is None:
            return node
        taken = sized | {n: given[n] for n in fixed}
        call = py.Call(Atom(shared.names[0]), tuple(taken[n] for n in shared.once.positional))
        if call not in before:
            before[call] = tuple(map(fresh, shared.values))
            first.append(Assign(", ".join(before[call]), call))
        rest = [given[n] for n in shared.rest.positional[len(shared.values) :]]
        words = tuple((k, v) for k, v in node.keywords if k in shared.rest.names)
        return replace(node, func=Atom(shared.names[1]), args=(*map(Atom, before[call]), *rest), keywords=words)

    def outwards(line: Stmt) -> Stmt | None:
        """What an inner loop has moved out of itself, with what it is before this one; None if that changes here."""
        shared = parts.once(line.value) if isinstance(line, Assign) else None
        if shared is None:
            return None
        assert isinstance(line, Assign) and isinstance(line.value, py.Call)
        args = [
            begun.get(flat(a), a) if n in shared.asks else a
            for n, a in zip(shared.once.positional, line.value.args, strict=True)
        ]
        fixed = [a for a, old in zip(args, line.value.args, strict=True) if a is old]
        return (
            None
            if mentioned([Do(a) for a in fixed]) & own
            else replace(line, value=replace(line.value, args=tuple(args)))
        )

    for line in lines:
        if (moves := outwards(line)) is not None:
            first.append(moves)
            continue
        inner = bound_by([line]) if isinstance(line, Def | Raw) else set()
        for name in inner & set(begun):
            del begun[name]
        kept.append(mapped(line, change))
        for name in bound_by([line]) & set(begun):
            del begun[name]
    return first, kept


class Text(Protocol):
    """A function's text that may fall in two."""

    def shared(self, fixed: Set[str], sized: Set[str]) -> Shared | None:
        """How, if a loop leaves the parameters ``fixed`` alone, and the shapes of those ``sized``."""
        ...

    head: Signature

    def in_two(self, shared: Shared) -> list[Any]:
        """The texts of both parts and of the function that they are."""
        ...


class Parts:
    """The functions of a module that fall in two, where a loop asks for it.

    The names of the parts are kept free from the beginning: ``taken`` are those that the source has itself.
    """

    def __init__(self, functions: Iterable[str], taken: Set[str]):
        self.free = {f for f in functions if not set(names(f)) & taken}
        self.names = frozenset(n for f in self.free for n in names(f))
        self.texts: Mapping[str, Text] = {}  # those of kernels
        self._found: dict[str, Shared] = {}

    def of(self, function: str, fixed: Set[str], sized: Set[str]) -> Shared | None:
        """A function in two for a loop that leaves parameters, or their shapes, alone; None where it stays whole. All
        calls of it share the same."""
        if function not in self._found:
            shared = self.texts[function].shared(fixed, sized)
            if shared is None:
                return None
            self._found[function] = shared
        shared = self._found[function]
        return shared if shared.reads <= fixed and shared.asks <= sized | fixed else None

    def once(self, value: Py) -> Shared | None:
        """The function of which a value is what its rounds share."""
        name = flat(value.func) if isinstance(value, py.Call) else ""
        return self._found.get(name.removesuffix(ONCE)) if name.endswith(ONCE) else None

    def apart(self, text: Any) -> list[Any]:
        """The texts of a function."""
        for name, shared in self._found.items():
            if self.texts[name] is text:
                return list(text.in_two(shared))
        return [text]
