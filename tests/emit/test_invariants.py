"""What a loop's rounds share is made before it; what they bind, or may pass over, stays."""

from kraise.emit.blocks import Assign, Def, Raw
from kraise.emit.hosts.invariants import hoisted
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, flat


def rows(name):
    return py.method(py.Sub(Atom(name), (py.Slice(None, Atom("n")),)), "reshape", Atom("r"), Atom("c"))


def test_a_view_of_what_no_round_changes_is_made_once():
    lines = [
        Assign("u", py.Bin("@", rows("a"), rows("v"))),  # v is carried
        Def("inner", ("w",), [Assign(None, py.Bin("@", rows("a"), rows("w")))]),
        Raw("if k > 0:", [Assign("u", rows("b"))]),
        Assign("t", py.IfExp(Atom("some"), rows("b"), Atom("z"))),
        Assign("b2", rows("d")),  # what a loop within took out of its own rounds
    ]
    before, rest = hoisted(lines, {"state", "v"}, lambda name: name)
    assert [(s.target, flat(s.value)) for s in before] == [
        ("b2", "d[:n].reshape(r, c)"),
        ("a2", "a[:n].reshape(r, c)"),
    ]
    assert flat(rest[0].value) == "a2 @ v[:n].reshape(r, c)"
    assert flat(rest[1].body[0].value) == "a2 @ w[:n].reshape(r, c)"
    assert rest[2:] == lines[2:4]
