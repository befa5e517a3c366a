"""Graphs of CUDA: what a stream captures does not run, and runs as often as the graph is launched.

Between ``cudaStreamBeginCapture`` and ``cudaStreamEndCapture`` the host's own statements run as they stand (a swap, a
counter), launches and copies are only noted down, with the pointers and numbers of that moment. While a function is
read, marks stand for these calls; :func:`replayed` puts the statements in where ``cudaGraphLaunch`` stands.

Side conditions, each checked: a capture ends in the block in which it begins; it computes no number from memory and
makes no memory; a graph that is not captured before it is launched, in the same block or around it, uses only names
that nothing changes afterwards, and one capture makes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lark import Tree

from kraise.diagnostics import Span, refuse
from kraise.frontends.cuda_c.trees import Node, strip
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import fresh, live_before, read_within, set_within
from kraise.ir.rename import renamed, within

BEGIN, END, MAKE, RUN = "graph.begin", "graph.end", "graph.make", "graph.run"


@dataclass(frozen=True)
class Mark:
    """One of these calls: ``graph`` is the graph that a capture makes, or the one that is made ready (``MAKE``, from
    ``of``) or run."""

    what: str
    graph: str = ""
    of: str = ""
    span: Span | None = None


def mark(low: Any, what: str, args: list[Tree], node: Tree) -> Mark:
    """The mark of a call that captures, makes or runs a graph."""
    names = [low.text(_pointed_at(a)) for a in args]
    graph = {END: names[1:2], BEGIN: [""]}.get(what, names[:1])
    return Mark(what, graph[0], names[1] if what == MAKE else "", low.span(node))


def _pointed_at(node: Tree) -> Node:
    inner = strip(node)
    if isinstance(inner, Tree) and inner.data == "unary_expression" and str(inner.children[0]) == "&":
        return inner.children[1]
    return inner


@dataclass(frozen=True)
class _Capture:
    graph: str
    body: tuple[Any, ...]
    span: Span | None = None


def replayed(body: tuple[Any, ...], hosts: Mapping[str, h.Host]) -> tuple[h.Stmt, ...]:
    """The statements of a function without marks. Raises Refused."""
    if not any(isinstance(s, Mark) for s in _all(body)):
        return body
    return _Replay(body, hosts).run()


class _Replay:
    def __init__(self, body: tuple[Any, ...], hosts: Mapping[str, h.Host]):
        self.hosts = hosts
        self.ready: dict[str, str] = {}  # by what is launched: the graph
        for mark in [s for s in _all(body) if isinstance(s, Mark) and s.what == MAKE]:
            if self.ready.setdefault(mark.graph, mark.of) != mark.of:
                raise refuse("KR211", f"{mark.graph} is made of two graphs", mark.span, "use a name for each")
        self.body = self.captured(body)
        self.taken = set_within(self.expanded(self.body)) | read_within(self.expanded(self.body))

    def run(self) -> tuple[h.Stmt, ...]:
        return self.block(self.body, {})

    def captured(self, body: tuple[Any, ...]) -> tuple[Any, ...]:
        """The block with each capture as one statement."""
        out: list[Any] = []
        inside: list[Any] | None = None
        begun: Span | None = None
        for stmt in body:
            if isinstance(stmt, Mark) and stmt.what == BEGIN:
                if inside is not None:
                    raise refuse("KR211", "a capture within a capture is not raised", stmt.span)
                inside, begun = [], stmt.span
            elif isinstance(stmt, Mark) and stmt.what == END:
                if inside is None:
                    raise refuse("KR211", "this capture begins in another block", stmt.span, "begin it in this one")
                for s in inside:
                    self.check(s, stmt.span)
                out.append(_Capture(stmt.graph, tuple(inside), stmt.span))
                inside = None
            else:
                (out if inside is None else inside).append(_with_blocks(stmt, self.captured))
        if inside is not None:
            raise refuse("KR211", "this capture ends in another block", begun, "end it in this one")
        return tuple(out)

    def check(self, stmt: Any, span: Span | None, above: tuple[str, ...] = ()) -> None:
        """Refuses what a graph does not hold, and what would mean another thing when it runs."""
        at = getattr(stmt, "span", None) or span
        callee = self.hosts.get(stmt.function) if isinstance(stmt, h.CallHost) else None
        if callee is not None and not stmt.results and callee.name not in above:
            for s in callee.body:
                self.check(s, at, (*above, callee.name))
            return
        plain = isinstance(stmt, h.Assign | h.Point | h.Update | h.For | h.While | h.If)
        launch = isinstance(stmt, h.Launch) and stmt.grid is not None and not stmt.results
        bare = replace(stmt, **{n: () for n in ("body", "orelse") if hasattr(stmt, n)}) if plain else stmt
        ends = bool(above) and isinstance(stmt, h.Return) and not stmt.values
        if not (plain or launch or ends) or within(bare, k.Load) or within(bare, h.Library):
            reason = "a graph holds launches and copies; this is neither, or takes a number from memory"
            raise refuse("KR211", reason, at, "compute it before the capture")
        for block in h.children(stmt):
            for s in block:
                self.check(s, at, above)

    def expanded(self, body: tuple[Any, ...]) -> tuple[h.Stmt, ...]:
        """What the host itself runs, with the statements of captures, for the names in it."""
        out: list[Any] = []
        for s in body:
            if isinstance(s, _Capture):
                out += self.expanded(s.body)
            elif not isinstance(s, Mark):
                out.append(_with_blocks(s, self.expanded))
        return tuple(out)

    def block(self, body: tuple[Any, ...], known: dict[str, tuple[h.Stmt, ...]]) -> tuple[h.Stmt, ...]:
        """``body`` without marks; ``known`` are the graphs captured before it, with what each launch of them runs."""
        known = dict(known)
        out: list[h.Stmt] = []
        for at, stmt in enumerate(body):
            if isinstance(stmt, _Capture):
                saved, known[stmt.graph] = self.noted(stmt, body[at + 1 :])
                out += [*saved, *_of_the_host(stmt.body)]
            elif isinstance(stmt, Mark):
                if stmt.what == RUN:
                    graph = self.ready.get(stmt.graph, stmt.graph)
                    out += known[graph] if graph in known else self.elsewhere(graph, stmt)
            else:
                out.append(_with_blocks(stmt, lambda b: self.block(b, known)))  # noqa: B023 - called at once
        return tuple(out)

    def noted(self, stmt: _Capture, rest: tuple[Any, ...]) -> tuple[list[h.Stmt], tuple[h.Stmt, ...]]:
        """What keeps the pointers and numbers of a capture, and what each launch of its graph runs."""
        needed = live_before(stmt.body, frozenset())
        own = set_within(stmt.body)
        moved = sorted(needed & (own | set_within(self.expanded(rest))))
        kept = {n: fresh(self.taken, f"{n}_captured") for n in moved}
        work = {n: fresh(self.taken, f"{n}_in_graph") for n in sorted(own)}
        numbers = {v.name: v for v in within(stmt.body, k.Var)}
        saved = [_same(kept[n], n, numbers, stmt.span) for n in moved]
        starts = [_same(work[n], kept[n], numbers, stmt.span, n) for n in moved if n in own]
        return saved, (*starts, *renamed(stmt.body, {**kept, **work}))

    def elsewhere(self, graph: str, mark: Mark) -> tuple[h.Stmt, ...]:
        """What a graph runs that another block captures (``if (!created) { … }``)."""
        for at, stmt in enumerate(self.body):
            found = [s for s in _all((stmt,)) if isinstance(s, _Capture) and s.graph == graph]
            if not found:
                continue
            others = [s for s in _all(self.body[at + 1 :]) if isinstance(s, _Capture) and s.graph == graph]
            (capture, *more) = found
            needed, own = live_before(capture.body, frozenset()), set_within(capture.body)
            changed = sorted(needed & set_within(self.expanded(self.body[at:])))
            if more or others or changed:
                why = f"{changed[0]} changes after it" if changed else "it is captured in several places"
                reason = f"what the graph {graph} runs is not known here: {why}"
                raise refuse("KR211", reason, mark.span, "capture it before the loop that launches it")
            return renamed(capture.body, {n: fresh(self.taken, f"{n}_in_graph") for n in sorted(own)})  # type: ignore[no-any-return]
        reason = f"what the graph {graph} runs is not known here: no stream of this function captures it"
        raise refuse("KR211", reason, mark.span, "capture it by cudaStreamBeginCapture")


def _same(to: str, name: str, numbers: Mapping[str, k.Var], span: Span | None, first: str = "") -> h.Stmt:
    """``to`` is what ``name`` is; ``first`` is what the source calls it."""
    number = numbers.get(first or name)
    if number is not None:
        return h.Assign(to, replace(number, name=name), number.type, span=span)
    return h.Point((to,), (k.ArrayRef(name, span=span),), span=span)


def _of_the_host(body: tuple[Any, ...]) -> list[h.Stmt]:
    """What the host runs itself while its stream captures: its numbers and pointers."""
    out: list[h.Stmt] = []
    for stmt in body:
        if isinstance(stmt, h.Assign | h.Point):
            out.append(stmt)
        elif isinstance(stmt, h.For | h.While | h.If):
            kept = _with_blocks(stmt, lambda b: tuple(_of_the_host(b)))
            out += [kept] if any(h.children(kept)) else []
    return out


def _with_blocks(stmt: Any, change: Any) -> Any:
    """The statement with its blocks changed."""
    blocks = {n: change(getattr(stmt, n)) for n in ("body", "orelse") if h.children(stmt) and hasattr(stmt, n)}
    return replace(stmt, **blocks) if blocks else stmt


def _all(body: tuple[Any, ...]) -> Iterator[Any]:
    for stmt in body:
        yield stmt
        for block in h.children(stmt):
            yield from _all(block)
