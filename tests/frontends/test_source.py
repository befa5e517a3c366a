"""Trees of Python files: what lies below a node, of some kinds, and where it stands."""

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from kraise.frontends.python.source import all_of, children, parse, walk

TEXT = """def f(x, y):
    for i in range(3):
        g = lambda a: x[a] + (yield)
        while y[i] < 2:
            x[i], (y[i], z) = 1, (2, [v for v in x if v])
    return x.a.b(y, k=x)
"""


def plainly(node):
    return [node, *(n for c in children(node) for n in plainly(c))]


def test_all_below_a_node_in_the_order_of_the_source():
    tree = parse(TEXT, "a.py").tree
    for _ in range(2):  # the second time it is known
        for node in plainly(tree):
            assert list(map(id, walk(node))) == list(map(id, plainly(node)))


KINDS = [cst.Name, cst.For | cst.While, cst.BaseExpression, cst.Name | cst.BaseCompoundStatement, cst.With]


@pytest.mark.parametrize("kind", KINDS)
def test_the_nodes_of_a_kind_are_those_that_are_instances(kind):
    tree = parse(TEXT, "a.py").tree
    for _ in range(2):
        for node in plainly(tree):
            wanted = [n for n in plainly(node) if isinstance(n, kind)]
            found = all_of(kind, node)
            assert len(found) == len(wanted) and all(a is b for a, b in zip(found, wanted, strict=True))


def test_another_tree_has_nodes_of_its_own():
    """What is kept of a tree goes when the next file is read, and nodes of both may be asked for."""
    first = parse(TEXT, "a.py").tree
    names = [n.value for n in all_of(cst.Name, first)]
    changed = first.body[0].with_changes(name=cst.Name("other"))
    second = parse("def h(q):\n    return q\n", "b.py").tree
    assert [n.value for n in all_of(cst.Name, second)] == ["h", "q", "q"]
    assert [n.value for n in all_of(cst.Name, first)] == names
    assert [n.value for n in all_of(cst.Name, changed)] == ["other", *names[1:]]


def test_places_are_those_that_libcst_gives():
    parsed = parse(TEXT, "a.py")
    own = MetadataWrapper(parsed.tree, unsafe_skip_copy=True).resolve(PositionProvider)
    assert {id(n): (p.start, p.end) for n, p in parsed.positions.items()} == {
        id(n): (p.start, p.end) for n, p in own.items()
    }
