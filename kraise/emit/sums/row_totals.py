"""The total of a row whose running sums are there, too: the last of these.

``before = jnp.pad(sums[:, :-1], …); total = sums[:, -1]`` of ``sums = jnp.cumsum(rows, axis=1)``, as a block leaves its
sums up to each thread and its total. Side conditions: the same terms over the same axis, which has a place on every
call, and running sums that start at zero and go forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from kraise.emit import tree
from kraise.emit.context import Context, Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear, nonnegative
from kraise.emit.text.python import ALL
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import substitute

_found: WeakKeyDictionary[Context, Mapping[eq.Expr, eq.Scan]] = WeakKeyDictionary()


def ending(context: Context) -> Mapping[eq.Expr, eq.Scan]:
    """The totals and the running sums without a place's own term, each with the running sums that it is read from."""
    if context not in _found:
        _found[context] = _pairs(context.kernel)
    return _found[context]


def _pairs(kernel: eq.Kernel) -> dict[eq.Expr, eq.Scan]:
    scans: dict[object, eq.Scan] = {}
    sums: dict[object, list[eq.Reduce]] = {}
    for stmt in tree.statements(kernel.body):
        for node in tree.walk(*tree.statement_roots(stmt)):
            match node:
                case eq.Scan(op="add", axis=axis, body=body, inclusive=False, reverse=False, other=None):
                    zero = isinstance(node.init, eq.Const) and node.init.value == 0
                    if zero and axis.step == 1 and nonnegative(linear(axis.hi) - linear(axis.lo) + -1):
                        scans[_terms(axis, body, node)] = node
                case eq.Reduce(op="add", axes=(axis,), body=body, where=None):
                    sums.setdefault(_terms(axis, body, node), []).append(node)
    out: dict[eq.Expr, eq.Scan] = {}
    for key, scan in scans.items():
        if key in sums:
            out |= dict.fromkeys((scan, *sums[key]), replace(scan, inclusive=True))
    return out


def _terms(axis: eq.Axis, body: eq.Expr, node: eq.Expr) -> object:
    """What is summed, whatever the index is called."""
    named = {n: eq.Index("of the row", INT) for n in tree.walk(body) if isinstance(n, eq.Index) and n.name == axis.name}
    return axis.lo, axis.hi, axis.step, substitute(body, named), node.type


def last(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """The total as the last of the running sums, if these are there."""
    scan = ending(low.ctx).get(node)
    if scan is None or scan.axis in own:
        return None
    sums = low.as_name(scan, (*own, scan.axis), "sums").py
    return low.extend(py.Sub(sums, (*[ALL] * len(own), py.number(-1))), own, frame)


__all__ = ["ending", "last"]
