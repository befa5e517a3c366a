"""Values and gradients of emitted functions at points chosen to hurt, against the scalar program itself."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.traps.scalar import Program

FOLDER = Path(__file__).with_name("programs")
CASE = re.compile(r"^# (.*)\n(?:@.*\n)?def (\w+)\(", re.M)
FILES = {f.stem: f.read_text() for f in sorted(FOLDER.glob("*.py"))}
CASES = [(file, m[2], m[1]) for file, text in FILES.items() for m in CASE.finditer(text)]


def arguments(case):
    """What a program is called with, and its threads (None for a plain function)."""
    rng = np.random.default_rng(0)
    makers = {
        "a": lambda *v: np.array(v, float),
        "i": lambda *v: np.array(v, np.int32),
        "g": lambda *shape: rng.normal(size=shape),
        "z": lambda *shape: np.zeros(shape),
        "iz": lambda *shape: np.zeros(shape, np.int32),
        "np": np,
    }
    found = eval(f"dict({case})", makers)
    threads = found.pop("threads", None)
    return found, threads


def weights(shape):
    return np.asarray(np.random.default_rng(5).uniform(0.5, 1.5, shape))


@pytest.fixture(scope="module")
def programs():
    """The modules and their scalar programs by file."""
    found = {}

    def get(file):
        if file not in found:
            done = pipeline.translate(FILES[file], f"{file}.py")
            assert not done.diagnostics, done.diagnostics
            found[file] = load_module(done.text), Program(FILES[file])
        return found[file]

    return get


@pytest.mark.parametrize(("file", "name", "case"), CASES, ids=[name for _, name, _ in CASES])
def test_values_and_gradient_are_those_of_the_scalar_program(file, name, case, programs):
    module, program = programs(file)
    given, threads = arguments(case)
    expected, slopes = program.gradient(name, given, threads, weights)
    with jax.enable_x64(True):
        floats = {n: jnp.asarray(v) for n, v in given.items() if np.asarray(v).dtype == np.float64}

        def outputs(chosen):
            leaves = jax.tree.leaves(getattr(module, name)(*(given | chosen).values()))
            return [leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.inexact)]

        def loss(chosen):
            leaves = outputs(chosen)
            return sum(jnp.sum(weights(leaf.shape) * leaf) for leaf in leaves), leaves

        gradients, values = jax.jit(jax.grad(loss, has_aux=True))(floats)
        for got, value in zip(values, expected, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-12)
        size = max(np.abs(s[np.isfinite(s)]).max(initial=0.0) for s in slopes.values())
        for n, gradient in gradients.items():
            assert np.isfinite(gradient).all(), f"by {n}: {gradient}"
            slope = np.where(np.isfinite(slopes[n]), slopes[n], gradient)  # the program itself may have none
            np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-12 * (1 + size), err_msg=f"by {n}")


@pytest.mark.parametrize(
    ("file", "name", "case"),
    [
        pytest.param(*c, marks=[pytest.mark.long] if n % 3 else [])
        for n, c in enumerate(c for c in CASES if c[0] == "physics")
    ],
    ids=lambda v: str(v)[:20],
)
def test_forward_mode_and_second_order_within_a_compiled_function(file, name, case, programs):
    module, program = programs(file)
    given, threads = arguments(case)
    _, slopes = program.gradient(name, given, threads, weights)
    with jax.enable_x64(True):
        floats = {n: jnp.asarray(v) for n, v in given.items() if np.asarray(v).dtype == np.float64}

        def loss(chosen):
            leaves = jax.tree.leaves(getattr(module, name)(*(given | chosen).values()))
            return sum(jnp.sum(weights(leaf.shape) * leaf) for leaf in leaves)

        forward, (first, second) = jax.jit(
            lambda x: (jax.jacfwd(loss)(x), (jax.grad(loss)(x), jax.jacfwd(jax.grad(loss))(x)))
        )(floats)
        for n, slope in slopes.items():
            np.testing.assert_allclose(forward[n], slope, rtol=1e-7, atol=1e-10, err_msg=f"by {n}")
            np.testing.assert_allclose(first[n], slope, rtol=1e-7, atol=1e-10, err_msg=f"by {n}")
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(second))
