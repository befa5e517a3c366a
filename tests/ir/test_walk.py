"""Walking over equations: sharing, binding, capture, depth."""

import gc

import pytest

from kraise.ir import equations as eq
from kraise.ir import nodes
from kraise.ir.types import FLOAT64, INT32
from kraise.ir.walk import children, free_indices, rebuild, substitute, topological, transform
from tests.raising.build import I, J, K, N, const, i, j, k, op, read, reduce, select, write


def scan(body):
    return eq.Scan("add", K, body, const(0.0), True, False, FLOAT64)


NODES = [
    op("add", i, j),
    read("x", i, j),
    eq.Read(eq.Version("x", 0), (i,), FLOAT64, (N,), True),
    eq.Read(eq.Version("x", 0), (i,), FLOAT64, outside=(eq.Outside(const(2), N, const(1), const(5)),)),
    eq.Read(eq.Version("x", 0), (i,), FLOAT64, limit=eq.Outside(const(0), N, const(0), const(5))),
    reduce(read("x", i, j), where=op("lt", i, j)),
    reduce(read("x", i)),
    eq.ArgReduce("min", J, read("x", j), None, False, INT32),
    eq.ArgReduce("max", J, read("x", j), op("lt", i, j), True, INT32),
    scan(read("x", k)),
    eq.Scan("linear", K, read("a", k), const(0.0), True, True, FLOAT64, read("b", k)),
    eq.CarryIn("loop", "s", (I,), FLOAT64),
    eq.FoldResult("loop", "s", (I, J), FLOAT64),
    eq.HelperCall("f", (i, j), FLOAT64),
    eq.Cast(FLOAT64, i),
]


@pytest.mark.parametrize("node", NODES, ids=lambda n: type(n).__name__)
def test_rebuild_takes_children_back(node):
    assert rebuild(node, children(node)) is node
    changed = tuple(op("add", c, 7) for c in children(node))
    new = rebuild(node, changed)
    assert new is not node
    assert children(new) == changed
    for kept in ("outside", "limit"):  # what a load finds beyond the ends
        assert getattr(new, kept, ()) == getattr(node, kept, ())
    with pytest.raises(ValueError):
        rebuild(node, (*children(node), i))


def test_free_indices():
    assert free_indices(reduce(read("x", i, j))) == {"i"}
    assert free_indices(scan(read("x", i, k))) == {"i", "k"}
    assert free_indices(eq.CarryIn("loop", "s", (I,), FLOAT64)) == {"i"}
    assert free_indices(op("add", reduce(read("x", j)), j)) == {"j"}
    assert free_indices(const(1)) == frozenset()


def test_substitution_does_not_enter_a_binder_of_the_name():
    e = op("add", reduce(read("x", j)), read("y", j))
    assert substitute(e, {j: i}) is op("add", reduce(read("x", j)), read("y", i))


def test_substitution_renames_what_would_capture():
    e = reduce(op("mul", read("x", i), read("y", j)))
    new = substitute(e, {i: op("add", j, 1)})
    assert free_indices(new) == {"j"}
    (axis,) = new.axes
    assert axis.name == "j_2"
    assert new.body is op("mul", read("x", op("add", j, 1)), read("y", eq.Index("j_2", INT32)))


def test_substitution_of_values_at_once():
    e = op("sub", i, j)
    assert substitute(e, {i: j, j: i}) is op("sub", j, i)
    assert substitute(read("x", i), {read("x", i): read("y", j)}) is read("y", j)


def test_a_scan_follows_a_renamed_index_only():
    new = substitute(scan(read("x", k)), {k: i})
    assert new.axis.name == "i"
    assert free_indices(new) == {"i"}
    with pytest.raises(ValueError, match="can only become another index"):
        substitute(scan(read("x", k)), {k: op("add", k, 1)})


def test_shared_nodes_are_visited_once():
    e = read("x", i)
    for _ in range(60):
        e = op("add", e, e)
    seen = []
    transform(e, lambda n: seen.append(n) or n)
    assert len(seen) == 62
    assert len(topological([e])) == 62


def test_transform_works_upwards():
    e = select(op("gt", read("x", i), 0.0), read("x", i), 0.0)
    new = transform(e, lambda n: read("y", i) if n is read("x", i) else n)
    assert new is select(op("gt", read("y", i), 0.0), read("y", i), 0.0)


def test_thousands_of_levels():
    """Building, walking, replacing and dropping a deep expression: nothing recurses, nothing is left behind."""
    e = read("x", i)
    for level in range(5000):
        e = op("add", e, float(level))
    assert free_indices(e) == {"i"}
    assert free_indices(substitute(e, {i: j})) == {"j"}
    before = len(nodes._interned)
    del e
    gc.collect()
    assert len(nodes._interned) < before - 9000
    assert write(const(1.0)).value is const(1.0)
