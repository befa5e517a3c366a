"""The pretty-printer lays random expressions out exactly as ruff does."""

import ast
import random
import subprocess

from dsl import ruff

from kraise.emit.text import layout_text
from kraise.emit.text.python import ALL, NONE, Atom, Attr, Bin, IfExp, Slice, Sub, Un, call, flat, method, number

NAMES = [
    "x",
    "y",
    "dx",
    "inv_r2",
    "positions",
    "masses",
    "alpha",
    "beta_long_name",
    "u2",
    "centre",
    "north",
    "scale",
    "k",
]
OPERATORS = ["+", "-", "*", "/", "*", "+", "@", "&", "|", "%"]


class Random:
    def __init__(self, seed, choices=False):
        self.r = random.Random(seed)
        self.choices = choices  # conditional expressions, too

    def primary(self, depth):
        r = self.r
        kind = r.random()
        if depth <= 0 or kind < 0.35:
            return Atom(r.choice(NAMES))
        if kind < 0.55:
            keywords = {"axis": number(1)} if r.random() < 0.3 else {}
            arguments = [self.expression(depth - 1) for _ in range(r.randint(1, 3))]
            return call("jnp." + r.choice(["where", "sum", "exp", "einsum"]), *arguments, **keywords)
        if kind < 0.85:
            return Sub(Atom(r.choice(NAMES)), tuple(self.item() for _ in range(r.randint(1, 3))))
        if kind < 0.93:
            box = Sub(Attr(Atom(r.choice(NAMES)), "at"), (Slice(None, Atom("n")),))
            return method(box, "set", self.expression(depth - 1))
        return method(Atom(r.choice(NAMES)), "sum", axis=number(1))

    def item(self):
        last = Slice(None, Bin("-", Atom("n"), number(1)))
        return self.r.choice([ALL, NONE, Slice(self.expression(0)), last, Slice(number(1), number(-1)), number(0)])

    def expression(self, depth):
        r = self.r
        if depth <= 0:
            return self.primary(0) if r.random() < 0.8 else number(r.choice([1, 0.5, -2]))
        kind = r.random()
        if kind < 0.5:
            return Bin(r.choice(OPERATORS), self.expression(depth - 1), self.expression(depth - 1))
        if kind < 0.58:
            return Bin(r.choice(["<", "=="]), self.expression(depth - 1), self.expression(depth - 1))
        if kind < 0.66:
            return Bin("**", self.expression(depth - 1), number(2))
        if kind < 0.72:
            return Un("-", self.expression(depth - 1))
        if self.choices and kind < 0.78:
            return IfExp(*(self.expression(depth - 1) for _ in range(3)))
        return self.primary(depth)


def test_random_statements_are_laid_out_as_ruff_does():
    source = Random(5)
    mine, plain = [], []
    for k in range(400):
        value = source.expression(source.r.randint(1, 5))
        prefix, mark = source.r.choice(["y = ", "return "]), source.r.choice(["", "f.py:12"])
        head = f"def f{k}():\n"
        mine.append(head + layout_text.statement(prefix, value, 4, mark))
        plain.append(head + "    " + prefix + flat(value) + (f"  # {mark}" if mark else ""))
    done = subprocess.run(
        [ruff(), "format", "--isolated", "-"], input="\n\n\n".join(plain), capture_output=True, text=True, check=True
    )
    for ours, theirs in zip(mine, done.stdout.split("\n\n\n"), strict=True):
        assert ours.strip() == theirs.strip()


def test_random_trees_are_what_python_reads():
    """Operators and choices within each other keep their meaning: the text, read again, is the tree."""
    source = Random(7, choices=True)
    for _ in range(400):
        value = source.expression(source.r.randint(2, 5))
        whole = ast.unparse(ast.parse(_parenthesised(value)))
        assert ast.unparse(ast.parse(flat(value))) == whole
        assert ast.unparse(ast.parse(layout_text.statement("y = ", value, 0))) == "y = " + whole


def _parenthesised(node):
    """The text with parentheses around every operand."""
    match node:
        case Bin(op=op, left=left, right=right):
            return f"({_parenthesised(left)}) {op} ({_parenthesised(right)})"
        case Un(op=op, operand=operand):
            return f"{op}({_parenthesised(operand)})"
        case IfExp(condition=condition, then=then, orelse=orelse):
            return f"({_parenthesised(then)}) if ({_parenthesised(condition)}) else ({_parenthesised(orelse)})"
    return flat(node)


def test_a_choice_within_a_choice_keeps_its_parentheses():
    """`(a if p else b) if q else c` lost them: another value (fuzz, local arrays, 51)."""
    inner = IfExp(Atom("p"), Atom("a"), Atom("b"))
    assert flat(IfExp(Atom("q"), inner, Atom("c"))) == "(a if p else b) if q else c"
    assert flat(IfExp(inner, Atom("a"), Atom("c"))) == "a if (a if p else b) else c"
    assert flat(IfExp(Atom("q"), Atom("c"), inner)) == "c if q else a if p else b"
