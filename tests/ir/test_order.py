"""Nodes are ordered as their texts are, without the texts."""

import random
import time

from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import INT, INT32


def drawn(rng: random.Random, count: int) -> list[eq.Expr]:
    pool: list[eq.Expr] = [eq.Index(n, INT) for n in ("a", "ab", "i")]
    pool += [eq.Const(c, INT) for c in (0, 1, 10, -3)]
    pool += [eq.Param("n", INT32), eq.Shape("x", 0, INT)]
    for _ in range(count):
        if rng.random() < 0.8:
            args = (rng.choice(pool), rng.choice(pool))
            pool.append(eq.Op(rng.choice(["add", "mul", "min"]), args, INT))
        else:
            subscripts = tuple(rng.choice(pool) for _ in range(rng.randrange(3)))
            pool.append(eq.Read(eq.Version("x", rng.randrange(12)), subscripts, INT))
    return [p for p in pool if len(repr(p)) < 50_000]


def test_the_order_is_that_of_the_texts():
    rng = random.Random(1)
    pool = drawn(rng, 300)
    for _ in range(3000):
        a: object = rng.choice(pool)
        b: object = rng.choice(pool)
        if rng.random() < 0.3:
            a, b = (a, rng.choice(pool)), (b,)
        assert (by_text(a) < by_text(b)) == (repr(a) < repr(b)), (a, b)


def test_a_shared_expression_is_compared_once():
    def deep(leaf: eq.Expr) -> eq.Expr:
        for _ in range(200):  # its text would have 2 ** 200 leaves
            leaf = eq.Op("add", (leaf, leaf), INT)
        return leaf

    a, b = deep(eq.Index("i", INT)), deep(eq.Index("j", INT))
    started = time.perf_counter()
    assert by_text(a) < by_text(b)
    assert not by_text(b) < by_text(a)
    assert time.perf_counter() - started < 1
