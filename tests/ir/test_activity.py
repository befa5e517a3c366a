"""The sentence of ``--grad``."""

import pytest

from kraise.ir.activity import Activity, ActivityError, Term, parse


def test_jax_words():
    assert parse("loss=F wrt positions,masses") == Activity("", (Term("", "", "F"),), ("positions", "masses"))
    assert parse("k: loss = sum(p.x) - 2 * dot(v, w) wrt p.x p.y") == Activity(
        "k", (Term("", "sum", "p.x"), Term("-2", "dot", "v", "w")), ("p.x", "p.y")
    )


def test_enzyme_words():
    found = parse("loss=mean(e) dup x, y active s const c dupnoneed e")
    assert (found.wrt, found.const, found.noneed) == (("x", "y", "s"), ("c",), ("e",))


def test_without_a_loss_only_products_with_cotangents():
    assert parse("step: wrt u").ways == ("vjp",) and parse("loss=u wrt u").ways == ("grad", "vjp")


def test_a_term_prints_as_it_was_written():
    text = "loss=-1.0 * sum(a) + dot(b, w)"
    assert " + ".join(map(str, parse(text).terms)) == text.removeprefix("loss=")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "loss=OUTPUT"),
        ("los=F", "los"),
        ("loss=", "a name"),
        ("loss=F with x", "with"),
        ("loss=F wrt", "a name"),
        ("loss=norm(F) wrt x", "norm"),
        ("loss=dot(F) wrt x", "`,`"),
        ("loss=F wrt x const x", "both active and const"),
        ("loss=F; import os", "; import"),
    ],
)
def test_what_is_not_understood(text, word):
    with pytest.raises(ActivityError) as error:
        parse(text)
    assert word in str(error.value)
