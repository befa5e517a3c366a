"""Text, tables of kernels, operators and lists of objects in Python hosts; what launches never vanishes."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
from abc import ABC, abstractmethod
from dataclasses import dataclass
import numpy as np
import cupy as cp
from cupyx import jit
from numba import cuda, guvectorize, vectorize

@cuda.jit
def relu(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = max(x[i], 0.0)

@cuda.jit
def scale(x, a):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a

@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2.0 * x[i]

KERNELS = {"relu": relu, "double": double}
DEFAULTS = {"factor": 3.0, "rounds": 2}
"""
TEXT = """
def factors(x, **more):
    o = {**DEFAULTS, **more}
    for _ in range(o["rounds"]):
        scale[1, 64](x, o["factor"])
    return x

def act(x, kind="relu"):
    y = np.zeros_like(x)
    KERNELS[kind][(x.size + 63) // 64, 64](x, y)
    if kind in ("double",):
        y[0] = 7.0
    return y * DEFAULTS["factor"]

def other(x):
    return act(x, "double")

def every(x):
    out = np.zeros((2, x.size), np.float32)
    for r, kernel in enumerate(KERNELS.values()):
        kernel[1, 64](x, out[r])
    return out

@vectorize(["float32(float32, float32)"], target="cuda")
def mixed(a, b):
    return 2.0 * a / b

def ratio(x):
    return mixed(x, x + 2.0)
"""


def array(n, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, n).astype(np.float32)


def test_text_chooses_among_kernels():
    module, x = load_module(pipeline.translate(HEAD + TEXT, "a.py").text), array(6)
    np.testing.assert_allclose(module.act(x), 3 * np.maximum(x, 0), rtol=1e-6)
    np.testing.assert_allclose(module.factors(x), 9 * x, rtol=1e-6)
    np.testing.assert_allclose(module.other(x), 3 * np.where(np.arange(6) == 0, 7, 2 * x), rtol=1e-6)
    np.testing.assert_allclose(module.every(x), [np.maximum(x, 0), 2 * x], rtol=1e-6)
    np.testing.assert_allclose(module.ratio(x), 2 * x / (x + 2), rtol=1e-6)


OBJECTS = """
@dataclass(frozen=True)
class Params:
    factor: float = 0.5
    block: tuple = (32,)

class Run:
    def __init__(self, x, p=Params()):
        self.p = p
        n = len(x)
        self.n = n
        self.x = cuda.to_device(x)
        self.cfg = (n + 31) // 32, 32
        self.norms = []

    def step(self):
        scale[self.cfg](self.x, self.p.factor)

    def go(self, rounds):
        for _ in range(rounds):
            self.step()
            self.norms.append(np.sum(self.x.copy_to_host()))
        self.norms.append(0.25)
        return np.array(self.norms)

class Operator:
    def __init__(self, a):
        self.a = a

    def __matmul__(self, x):
        y = cuda.to_device(x)
        scale[(1, 64)](y, self.a)
        return y

class Step:
    def __init__(self, op):
        self.op = op

    def __call__(self, x):
        return self.op @ x

def nested(x, a, rounds):
    step = Step(Operator(a))
    for _ in range(rounds):
        x = step(x)
    return x.copy_to_host()

class Base(ABC):
    def __init__(self, x):
        self.x = cuda.to_device(x)

    @abstractmethod
    def step(self):
        ...

    def go(self, rounds):
        for _ in range(rounds):
            self.step()
        return self.x.copy_to_host()

class Fast(Base):
    def step(self):
        scale[1, 64](self.x, 3.0)

def fast(x, rounds):
    return Fast(x).go(rounds)
"""


def test_objects_with_operators_lists_and_abstract_bases():
    done = pipeline.translate(HEAD + OBJECTS, "a.py")
    module, x = load_module(done.text), array(6)
    assert not [d for d in done.diagnostics if d.severity == "error"]
    np.testing.assert_allclose(module.nested(x, 0.5, 3), x / 8, rtol=1e-6)
    np.testing.assert_allclose(module.fast(x, 2), 9 * x, rtol=1e-6)
    made = dict(zip(("n", "x", "norms"), module.Run_init(x)[-3:], strict=True))
    assert np.shape(made["norms"]) == (0,)
    said = "def Run_go("
    words = done.text[done.text.index(said) + len(said) :].partition(")")[0].split(", ")
    known = {"p_factor": 0.5, "x": x, "norms": np.array([9.0], np.float32), "rounds": 2, "n": 6}
    known |= {"cfg_0": 1, "cfg_1": 32}
    first, *_ = module.Run_go(*(known[w.partition("=")[0]] for w in words))
    np.testing.assert_allclose(first, [9.0, x.sum() / 2, x.sum() / 4, 0.25], rtol=1e-5)


SILENT = {
    "@guvectorize(['void(float32[:], float32[:])'], '(n)->()', target='cuda')\n"
    "def total(x, out):\n    out[0] = x[0]\ndef f(x):\n    return total(x)\n": "is a generalized ufunc",
    "@jit.rawkernel()\ndef k(x, n):\n    i = jit.grid(1)\n    if i < n:\n        x[i] = 1.0\n"
    "def f(x):\n    k[1, 64](x, x.size)\n    return x\n": "is a kernel of cupyx.jit",
    "@cp.fuse()\ndef g(x):\n    return cp.log(x) if x > 0.0 else 0.0\n"
    "def f(x):\n    return g(x)\n": "may fail where they are not taken",
    "def f(x, table):\n    table.first[1, 64](x, 2.0)\n    return x\n": "what `table.first` is",
    "def f(x, n):\n    KERNELS[n][1, 64](x, x)\n    return x\n": "call of",
    "class Own(dict):\n    def f(self, x):\n        scale[1, 64](x, 2.0)\n        return x\n": "the class Own",
}


@pytest.mark.parametrize("source", SILENT)
def test_what_launches_is_refused_by_name(source):
    done = pipeline.translate(HEAD + source, "a.py")
    reasons = [d.reason for d in done.diagnostics if d.severity == "error"]
    assert any(SILENT[source] in r for r in reasons), reasons
    assert not {"f", "Own_f"} & set(done.raised)


ARGUMENTS = """
def total(x, y, src=(2, 3), a=2.0):
    z = np.zeros_like(x)
    double[1, 64](x + y, z)
    scale[1, 64](z, a * src[0] + src[1])
    return z

def misfit(x, y):
    r = total(cuda.to_device(np.ascontiguousarray(x[::-1])), y) - x
    return np.sum(r * r)
"""


def test_arguments_that_are_made_in_the_call():
    module, x, y = load_module(pipeline.translate(HEAD + ARGUMENTS, "a.py").text), array(6), array(6, 1)
    np.testing.assert_allclose(module.total(x, y), 14 * (x + y), rtol=1e-6)
    np.testing.assert_allclose(module.misfit(x, y), np.sum((14 * (x[::-1] + y) - x) ** 2), rtol=1e-5)


def test_lists_of_arrays_are_said_to_be_one_array():
    body = (
        "def f(x, ws, bs):\n    for w, b in zip(ws, bs):\n        y = np.zeros_like(x)\n"
        "        double[1, 64](x + w, y)\n        x = y * b[0]\n    return x\n"
    )
    done = pipeline.translate(HEAD + body, "a.py")
    assert "a list of arrays is given as one array, stacked: bs, ws" in done.text
    x, ws, bs = array(6), array((2, 6), 1), array((2, 6), 2)
    want = 2 * (2 * (x + ws[0]) * bs[0, 0] + ws[1]) * bs[1, 0]
    np.testing.assert_allclose(load_module(done.text).f(x, ws, bs), want, rtol=1e-5)


def test_a_grid_that_is_a_list():
    body = (
        "TPB = (4, 4)\n\n@cuda.jit\ndef twice(x, y):\n    i, j = cuda.grid(2)\n"
        "    if i < x.shape[0] and j < x.shape[1]:\n        y[i, j] = 2.0 * x[i, j]\n\n"
        "def grid(shape):\n    return [(n + t - 1) // t for n, t in zip(shape, TPB)]\n\n"
        "def f(x):\n    y = np.zeros((x.shape[0], x.shape[1]), np.float32)\n"
        "    twice[grid(y.shape), TPB](x, y)\n    return y\n"
    )
    done = pipeline.translate(HEAD + body, "a.py")
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    np.testing.assert_allclose(load_module(done.text).f(x), 2 * x)
