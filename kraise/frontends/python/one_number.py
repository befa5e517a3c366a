"""Parameters that must be one number, or arrays of numbers: expressions over parts of arrays take them for that.

Nothing in ``M[:, j] -= x`` or ``(M[:, i] * x).sum()`` says whether ``x`` is a number or an array, and nothing in
``o[:] += M[i]`` whether ``M[i]`` is a number or a row. It is taken for a number; with an array the function would
compute something else (its axes align otherwise, and what is free of a sum is factored out), so the emitted function
asks. It need not where a whole array is assigned once, outside loops, and not read again, ``o[:] = np.maximum(x, w)``:
there JAX aligns the axes as NumPy does. Where a number alone has a meaning, ``o[i] = a[i] * x``, Python asks by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope, Summary
from kraise.ir.kernel import ArrayRef, Assign, Call, CallStmt, For, Load, Param, Stmt, Store
from kraise.ir.rewrite import walked
from kraise.ir.types import NUMBER, ArrayType


def parameters(
    scope: Scope, params: tuple[Param, ...], body: tuple[Stmt, ...], summaries: dict[str, Summary]
) -> tuple[tuple[str, str], ...]:
    """The parameters of open type that flow into such an expression, here or in a function that is called: with
    ``number``, or how many axes they must have."""
    nodes = [*walked(body)]
    aligned = {*_aligned(body, nodes)} if scope.definition.kind == "plain" else set()
    taken = {name for name, element in scope.numbers if element not in aligned}
    taken |= {*_passed(nodes, summaries)}
    flows = [(n.name, ex.values(n.value)) for n in nodes if isinstance(n, Assign)]
    before: set[str] = set()
    while before != taken:
        before = set(taken)
        taken |= {read for name, reads in flows if name in before for read in reads}
    found = [(p.name, p.type) for p in params if p.name in taken]
    axes = {n: str(t.ndim) if isinstance(t, ArrayType) else "number" for n, t in found}
    return tuple((n, axes[n]) for n, t in found if isinstance(t, ArrayType) or t == NUMBER)


def _aligned(body: tuple[Stmt, ...], nodes: list) -> Iterator[tuple[str, ...]]:
    """The indices of assignments to whole parts of arrays that nothing else reads, outside loops and branches."""
    loads = Counter(n.array for n in nodes if isinstance(n, Load))
    for stmt in body:
        indices: list[str] = []
        inner = stmt
        while isinstance(inner, For) and len(inner.body) == 1:
            indices.append(inner.var)
            inner = inner.body[0]
        if isinstance(inner, Store):
            own = sum(isinstance(n, Load) and n.array == inner.array for n in walked(stmt))
            if loads[inner.array] == own:
                yield tuple(indices)


def _passed(nodes: list, summaries: dict[str, Summary]) -> Iterator[str]:
    """The names in arguments for parameters of which this is so."""
    for node in nodes:
        if isinstance(node, Call | CallStmt) and node.function in summaries:
            callee = summaries[node.function].function
            asked = dict(callee.must_be)
            for param, argument in zip(callee.params, node.args, strict=False):
                if param.name in asked:
                    yield from (argument.array,) if isinstance(argument, ArrayRef) else ex.values(argument)
