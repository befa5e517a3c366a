"""Under which conditions the loads of a value count: those of the choices and reductions on every way to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.analysis.conditions import conjuncts, negate
from kraise.ir import equations as eq
from kraise.ir.walk import axes_of, children, free_indices, statement_expressions, topological

Guards = frozenset[eq.Expr]


def guards(stmts: Iterable[eq.Stmt], others: Iterable[eq.Expr] = ()) -> dict[eq.Expr, Guards]:
    """For each node of the statements (and of ``others``), the conditions that hold wherever its value is used."""
    found: dict[eq.Expr, Guards] = {}

    def use(node: eq.Expr, under: Guards) -> None:
        found[node] = found[node] & under if node in found else under

    for root, under in (*(r for s in stmts for r in _roots(s)), *((e, frozenset()) for e in others)):
        use(root, under)
    for node in reversed(topological(tuple(found))):
        under = found[node]
        match node:
            case eq.Op(name="select", args=(c, a, b)):
                use(c, under)
                use(a, under | {*conjuncts(c)})
                use(b, under | {*conjuncts(negate(c))})
            case eq.Op(name="and" | "or" as name, args=args):  # the second counts where the first does not decide
                for arg in args:
                    use(arg, under)
                    under |= {*conjuncts(arg if name == "and" else negate(arg))}
            case eq.Reduce() | eq.ArgReduce() | eq.Scan():
                own = {a.name for a in axes_of(node)}
                inside = frozenset(c for c in under if not free_indices(c) & own)
                where = None if isinstance(node, eq.Scan) else node.where
                for child in children(node):
                    masked = where is not None and child is node.body and child is not where
                    use(child, inside | {*conjuncts(where)} if masked and where is not None else inside)
            case _:
                for child in children(node):
                    use(child, under)
    return found


def _roots(s: eq.Stmt) -> Iterator[tuple[eq.Expr, Guards]]:
    for e in statement_expressions(s):
        masked = isinstance(s, eq.Write) and s.where is not None and e is s.value and e is not s.where
        yield e, frozenset(conjuncts(s.where) if masked else ())  # type: ignore[union-attr,arg-type]
