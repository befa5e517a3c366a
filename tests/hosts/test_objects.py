"""Parameters of Python hosts that are objects: dataclasses, named tuples, dicts, namespaces."""

import re

import numpy as np
import pytest

from tests.hosts.test_hosts import agrees, array, codes, python

SOURCE = """
from dataclasses import dataclass
from typing import NamedTuple

@dataclass(frozen=True)
class Settings:
    nu: float = 0.1
    dt: float = 0.01
    steps: int = 3
    label: str = "run"

    @property
    def amount(self):
        return self.nu * self.dt

    def blocks(self, n):
        return (n + 63) // 64

class Fields(NamedTuple):
    u: np.ndarray
    v: np.ndarray

@cuda.jit
def spread(u, v, a, n):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = u[i] + a * (u[i + 1] - 2.0 * u[i] + u[i - 1])

def once(f: Fields, p: Settings):
    n = f.u.size
    spread[p.blocks(n), 64](f.u, f.v, p.amount, n)
    return f.v

def inner(f: Fields, p: Settings):
    n = f.u.size
    spread[p.blocks(n), 64](f.u, f.v, p.amount, n)
    return Fields(f.v, f.u)

def by_class(x, p: Settings = Settings(0.2, 0.5, 4)):
    f = Fields(cuda.to_device(x), cuda.to_device(x))
    for _ in range(p.steps):
        f = inner(f, p)
    return f.u.copy_to_host()

def by_name(x, p):
    u, v = cuda.to_device(x), cuda.to_device(x)
    for _ in range(p.steps):
        spread[(x.size + 63) // 64, 64](u, v, p.nu * p.dt, x.size)
        u, v = v, u
    return u.copy_to_host()

def by_key(x, options: dict):
    u, v = cuda.to_device(x), cuda.to_device(x)
    for _ in range(options["steps"]):
        spread[(x.size + 63) // 64, 64](u, v, options["nu"], x.size)
        u, v = v, u
    return u.copy_to_host()

class Chain:
    def __init__(self, x, k, steps=3):
        self.sizes = {"n": x.size, "rounds": steps}
        self.terms = dict(k=k, half=0.5 * k)
        self.u = cuda.to_device(x)
        self.v = cuda.to_device(x)

    def run(self):
        for _ in range(self.sizes["rounds"]):
            spread[1, 64](self.u, self.v, self.terms["half"], self.sizes["n"])
            self.u, self.v = self.v, self.u
        return self.u.copy_to_host()

class Rod:
    def __init__(self, x, settings: Settings):
        self.settings = settings
        self.u = cuda.to_device(x)
        self.v = cuda.to_device(x)
        self.n = x.size

    def step(self):
        spread[1, 64](self.u, self.v, self.settings.nu * self.settings.dt, self.n)
        self.u, self.v = self.v, self.u

    def run(self):
        for _ in range(self.settings.steps):
            self.step()
        return self.u.copy_to_host()
"""

CASES = {
    "once": {"f_u": array(9), "f_v": array(9, 1), "p_nu": 0.2, "p_dt": 0.5},
    "by_class": {"x": array(9), "p_nu": 0.2, "p_dt": 0.5, "p_steps": 4},
    "by_name": {"x": array(9), "p_steps": 3, "p_nu": 0.2, "p_dt": 0.5},
    "by_key": {"x": array(9), "options_steps": 3, "options_nu": 0.3},
    "Chain_run": {"sizes_n": 9, "sizes_rounds": 3, "terms_half": 0.1, "u": array(9), "v": array(9, 1)},
    "Chain_init": {"x": array(9), "k": 0.2, "steps": 3},
    "Rod_run": {"settings_nu": 0.2, "settings_dt": 0.5, "settings_steps": 3, "u": array(9), "v": array(9, 1), "n": 9},
}


@pytest.fixture(scope="module")
def done():
    return python(SOURCE)


@pytest.mark.parametrize("name", CASES)
def test_the_fields_that_are_used_are_parameters(done, name):
    assert name in done.raised, done.diagnostics
    found = re.search(rf"^def {name}\(([^)]*)\):", done.text, re.M)
    assert found is not None
    assert [p.partition("=")[0] for p in found[1].replace(" ", "").split(",")] == list(CASES[name])
    agrees(done, name, **CASES[name])


def test_what_stands_in_place_of_an_object_is_said(done):
    assert "p is given by what is used of it: p_steps, p_nu, p_dt" in done.text
    assert "p_nu=0.2, p_dt=0.5, p_steps=4" in done.text  # the fields of the default


def test_values_are_those_of_the_functions_as_numpy_runs_them(done):
    from kraise.verify.load import load_module

    x = array(9)
    expected = x.copy()
    for _ in range(4):
        new = x.copy()  # both buffers start with the ends of x, which nothing changes
        new[1:-1] = expected[1:-1] + np.float32(0.1) * (expected[2:] - 2 * expected[1:-1] + expected[:-2])
        expected = new
    np.testing.assert_allclose(load_module(done.text).by_class(x), expected, rtol=1e-5)


@pytest.mark.parametrize(
    "line",
    (
        "p.nu = 2.0",
        'p["nu"] = 2.0',
        "p.nu += 1.0",
        "p = other",
        "q = p\n    q.nu = 3.0",
        "p.update(x)",
        "for p.nu in range(3):\n        pass",
    ),
)
def test_objects_that_change_or_get_away_are_refused(line):
    body = f"def f(x, p, other):\n    {line}\n    spread[1, 64](x, x, p.nu, x.size)\n    return x\n"
    made = python(SOURCE + body)
    assert "f" not in made.raised and codes(made) & {"KR211", "KR213"}
