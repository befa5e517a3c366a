"""Parameters with members: elements of structured arrays, and named tuples."""

from collections import namedtuple

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
from collections import namedtuple
from numba import cuda
Plate = namedtuple("Plate", ["nx", "rate"])

@cuda.jit(device=True)
def pull(a, b, law):
    return law.k * (b.x - a.x) - law.drag * a.v

@cuda.jit
def push(beads, other, law, dt):
    i = cuda.grid(1)
    if i < beads.size:
        b = beads[i]
        force = pull(b, beads[other[i]], law)
        b.v += dt * force / beads[i]['mass']

def spread(u, v, plate):
    for i in range(1, plate.nx - 1):
        v[i] = u[i] + plate.rate * (u[i - 1] - 2 * u[i] + u[i + 1])

def weight(beads, i):
    return beads[i].mass * beads[i].v ** 2

def energy(beads):
    s = 0.0
    for i in range(len(beads)):
        s += weight(beads, i)
    return s
"""
Beads = namedtuple("Beads", "x v mass")
Law = namedtuple("Law", "k drag")
RNG = np.random.default_rng(6)
X, V, MASS = RNG.random((3, 5)).astype(np.float32) + 0.5
OTHER = np.array([3, 0, 0, 4, 1])
LAW = Law(0.7, 0.2)


def made(source, *names):
    return pipeline.translate(source, "k.py", Options(only=names))


def test_elements_of_structured_arrays():
    text = made(SOURCE, "push").text
    assert "beads._replace(v=v)" in text and "def push(beads, other, law, dt)" in text, text
    push = load_module(text).push
    want = V + 0.1 * (LAW.k * (X[OTHER] - X) - LAW.drag * V) / MASS
    got = push(Beads(X, V, MASS), OTHER, LAW, 0.1)
    np.testing.assert_allclose(got.v, want, rtol=1e-5)
    assert got.x is not None and (got.mass == MASS).all()
    slope = jax.grad(lambda x, k: push(Beads(x, V, MASS), OTHER, Law(k, 0.2), 0.1).v.sum(), (0, 1))(X, 0.7)
    counts = np.bincount(OTHER, 0.1 * 0.7 / MASS, 5)
    np.testing.assert_allclose(slope[0], counts - 0.1 * 0.7 / MASS, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(slope[1], (0.1 * (X[OTHER] - X) / MASS).sum(), rtol=1e-3)


def test_sizes_beside_numbers_with_derivatives():
    module = load_module(made(SOURCE, "spread").text)
    plate = module.Plate(nx=5, rate=0.3)
    got = module.spread(X, np.zeros(5), plate)
    np.testing.assert_allclose(got[1:4], X[1:4] + 0.3 * (X[:3] - 2 * X[1:4] + X[2:]), rtol=1e-5)
    slope = jax.grad(lambda rate: module.spread(X, np.zeros(5), module.Plate(5, rate)).sum())(0.3)
    np.testing.assert_allclose(slope, (X[:3] - 2 * X[1:4] + X[2:]).sum(), rtol=1e-4)


def test_what_is_called_and_comes_out_itself():
    module = load_module(made(SOURCE, "weight", "energy").text)
    beads = Beads(X, V, MASS)
    np.testing.assert_allclose(module.weight(beads, 2), MASS[2] * V[2] ** 2, rtol=1e-6)
    np.testing.assert_allclose(module.energy(beads), (MASS * V**2).sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        b = beads[i]\n", "        beads[i] = beads[0]\n        b = beads[i]\n"),  # a whole element
        ("        b.v +=", "        i = 2\n        b.v +="),  # the name stands for another element then
        ("        b.v +=", "        b = beads[0]\n        b.v +="),
        ("    return law.k", "    a.v = 0.0\n    return law.k"),  # what it is given changes
        ("law.drag * a.v", "law[1] * a.v"),
    ],
)
def test_other_uses(old, new):
    assert old in SOURCE
    assert made(SOURCE.replace(old, new), "push").text is None


def test_hosts_that_hand_them_on():
    host = SOURCE + "\ndef run(beads, other, law):\n    push[4, 64](beads, other, law, 0.1)\n    return beads\n"
    done = made(host)
    assert "push" in done.raised and "run" not in done.raised
    assert [d.code for d in done.diagnostics if d.kernel == "run"] == ["KR299"]


def test_helpers_of_hosts_stay_as_they_are():
    host = (
        SOURCE
        + """
class Bead:
    def __init__(self, mass):
        self.mass = mass

def half(bead):
    return 0.5 * bead.mass

def scaled(x, n):
    bead = Bead(3.0)
    for t in range(n):
        scale[4, 64](x, half(bead))
    return x

@cuda.jit
def scale(x, c):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= c
"""
    )
    done = made(host, "scaled", "push")
    assert set(done.raised) >= {"scaled", "push"}, done.diagnostics
    np.testing.assert_allclose(load_module(done.text).scaled(X, 2), 2.25 * X, rtol=1e-6)


def test_elements_that_threads_share():
    racy = SOURCE.replace("        b.v +=", "        b.x = beads[other[i]].x\n        b.v +=")
    assert [d.code for d in made(racy, "push").diagnostics] == ["KR201"]
