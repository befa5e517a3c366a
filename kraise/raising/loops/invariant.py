"""Loops of which every round stands behind one test that the loop does not change (Kernel IR to Kernel IR).

``for t in …: if i < n: body`` is ``if i < n: for t in …: body``: the lanes in which nothing happens are left out as by
any other guard. The side conditions: the test reads no local that a round sets, loads nothing and calls nothing (a loop
without rounds does not reach it), and nobody asks for the loop's variable afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.raising.run.liveness import assigned, reads


def unswitched(s: k.For, live: frozenset[str]) -> k.If | None:
    """The test with the loop behind it, or None."""
    match s.body:
        case (k.If(condition=c, body=body, orelse=()),) if not s.orelse and s.var not in live:
            if reads(c) & {s.var, *assigned(body)} or not _plain(c) or not _by_thread(s, c):
                return None
            return k.If(c, (replace(s, body=body),), span=c.span)
    return None


def _plain(e: k.Expr) -> bool:
    """Whether a value is made of locals, parameters, indices and sizes alone."""
    match e:
        case k.Op(args=args):
            return all(map(_plain, args))
        case k.Cast(arg=a):
            return _plain(a)
    return isinstance(e, k.Const | k.Var | k.Hw | k.Shape)


def _by_thread(s: k.For, c: k.Expr) -> bool:
    """Whether the test may differ from thread to thread as the loop's range does not: it is no choice of the launch."""
    return not reads(c) <= frozenset().union(*(reads(e) for e in (s.start, s.stop, s.step)))
