"""Rounds written out together (``rounds_at_once``): which loops ask for it, and that their values are the same."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from tests.corpus import ROOT

SAMPLES = ROOT / "samples"

WALK = """
def walk(steps, level, where):
    for i in range(steps.shape[0]):
        position = 0.0
        for t in range(steps.shape[1]):
            position = position * 0.9 + math.sin(position) * steps[i, t]
            if position > level:
                break
        where[i] = position
"""
ORBIT = """
def orbit(x, v, rounds):
    for i in range(x.shape[0]):
        a = x[i]
        for r in range(rounds):
            a = a - 0.1 * math.sin(a) * v[i]
        x[i] = a
"""
TABLE = """
def table(s, t, row):
    for p in range(s.shape[0]):
        for i in range(s.shape[1]):
            left = row[p, 0]
            for j in range(1, row.shape[1]):
                left = min(row[p, j] + abs(s[p, i] - t[p, j]), 0.7 * left + 0.25)
                row[p, j] = left
"""
ROD = """
def rod(u, rounds):
    for r in range(rounds):
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] + 0.1 * r * math.sin(u[i + 1])
"""


def translated(source: str) -> str:
    done = pipeline.translate("import math\n" + source, "kernel.py")
    assert done.text is not None, done.problems
    return done.text


def run(text: str, many: int | None, name: str, *arguments: object) -> tuple[list, list]:
    """Values and gradients, with ``many`` rounds at a time (None: as the backend of this machine has it)."""
    space: dict = {}
    exec(compile(text, name, "exec"), space)
    if many is not None:
        space["rounds_at_once"] = lambda _: many
    floats = [k for k, a in enumerate(arguments) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]

    def loss(*arrays: object) -> jax.Array:
        given = list(arguments)
        for k, a in zip(floats, arrays, strict=True):
            given[k] = a
        return sum(jnp.sum(jnp.sin(r)) for r in jax.tree.leaves(space[name](*given)))

    values = jax.tree.leaves(space[name](*arguments))
    return values, list(jax.grad(loss, argnums=tuple(range(len(floats))))(*(arguments[k] for k in floats)))


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.random(shape, "f") for shape in shapes]


@pytest.mark.parametrize("many", [1, 3, 8, 64])
@pytest.mark.parametrize(
    "source, name, arguments",
    [
        (WALK, "walk", [*arrays((5, 13)), 0.4, *arrays((5,))]),
        (ORBIT, "orbit", [*arrays((6,), (6,)), 11]),
        (TABLE, "table", arrays((3, 4), (3, 9), (3, 9))),
    ],
    ids=["walk", "orbit", "table"],
)
@pytest.mark.long_cases("-8")
def test_several_rounds_give_what_one_by_one_do(source, name, arguments, many):
    text = translated(source)
    assert "rounds_at_once(" in text.split("def " + name)[1], text
    for found, wanted in zip(run(text, many, name, *arguments), run(text, None, name, *arguments), strict=True):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_a_round_that_stores_into_parts_of_arrays_is_run_alone():
    text = translated(ROD)
    assert "loop(" in text and "rounds_at_once" not in text, text


@pytest.mark.parametrize("name", ["tridiagonal", "segmented_sums"])
def test_few_slices_that_move_are_written_out(name):
    text = (SAMPLES / "cuda_log_steps" / "raised.py").read_text(encoding="utf-8")
    assert "unroll=rounds_at_once(32)" in text.split("def " + name)[1]
    a, b, c, d, x = arrays((256,), (256,), (256,), (256,), (256,))
    given = [a, b + 3, c, d, x] if name == "tridiagonal" else [a, (b < 0.2).astype("i"), x]
    for found, wanted in zip(run(text, 32, name, *given), run(text, 1, name, *given), strict=True):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def test_a_processor_runs_them_one_by_one():
    space: dict = {}
    exec(compile(translated(ORBIT), "orbit", "exec"), space)
    assert jax.default_backend() != "cpu" or space["rounds_at_once"](8) == 1
