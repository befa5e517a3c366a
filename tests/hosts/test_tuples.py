"""Tuples of numbers in Python hosts: extents, grids, blocks, however they are made."""

import numpy as np
import pytest

from tests.hosts.test_hosts import agrees, python

KERNELS = """
import math
@cuda.jit
def blur(u, v):
    i, j = cuda.grid(2)
    if i < u.shape[0] and j < u.shape[1]:
        v[i, j] = 0.5 * u[i, j] + 0.25 * u[max(i - 1, 0), j] + 0.25 * u[i, max(j - 1, 0)]
@cuda.jit
def more(u, s, n):
    i = cuda.grid(1)
    if i < n:
        u[i] += s
def grid_for(shape, block=(4, 8)):
    return tuple(math.ceil(s / b) for s, b in zip(shape, block))
def config(shape, block=(4, 8)):
    return tuple(math.ceil(s / b) for s, b in zip(shape, block)), block
class Tiles:
    def __init__(self, shape):
        self.block = (4, 8)
        self.grid = tuple(-(-s // b) for s, b in zip(shape, self.block))
"""

GRIDS = {
    "a comprehension over zip": "block = (4, 8)\n grid = tuple((s + b - 1) // b for s, b in zip(u.shape, block))",
    "a comprehension over axes": "block = (4, 8)\n grid = tuple(int(math.ceil(u.shape[d] / block[d])) for d in (0, 1))",
    "a list": "block = (4, 8)\n grid = tuple([-(-s // b) for s, b in zip(u.shape, block)])",
    "a list of its own": "block = (4, 8)\n tiles = [-(-s // b) for s, b in zip(u.shape, block)]\n grid = tuple(tiles)",
    "a helper": "block = (4, 8)\n grid = grid_for(u.shape, block)",
    "a helper's default": "block = (4, 8)\n grid = grid_for(u.shape)",
    "another name for the shape": "block = (4, 8)\n ny, nx = shape = u.shape\n grid = grid_for(shape, block)",
    "a piece of the shape": "block = (4, 8)\n h, w = u.shape[:2]\n grid = grid_for((h, w), block)",
    "the last two": "block = (4, 8)\n grid = tuple(-(-s // b) for s, b in zip(u.shape[-2:], block))",
    "backwards": "tile = (8, 4)\n block = tile[::-1]\n grid = grid_for(u.shape, block)",
    "parts": "b = (4,) + (8,)\n block = b\n g = math.ceil(u.shape[0] / b[0])\n grid = (g, -(-u.shape[1] // b[-1]))",
    "from a star": "one = (4,)\n block = (*one, 8)\n grid = grid_for(u.shape, block)",
    "a pair of tuples": "grid, block = config(u.shape)",
    "attributes": "t = Tiles(u.shape)\n grid = t.grid\n block = t.block",
    "times": "side = (4,) * 2\n block = (side[0], 2 * side[1])\n grid = grid_for(u.shape, block)",
}


@pytest.mark.parametrize("name", GRIDS)
def test_grids(name):
    body = f"def f(u):\n {GRIDS[name]}\n v = cuda.device_array_like(u)\n blur[grid, block](u, v)\n return v\n"
    done = python(KERNELS + body)
    assert "f" in done.raised, done.diagnostics
    assert not [d for d in done.diagnostics if d.kernel == "f"]  # the launch covers what the guards let through
    agrees(done, "f", u=np.random.default_rng(0).uniform(0, 1, (9, 11)).astype(np.float32))


def test_a_name_for_both_tuples():
    body = "def f(u):\n cfg = config(u.shape)\n v = cuda.device_array_like(u)\n blur[cfg](u, v)\n return v\n"
    done = python(KERNELS + body)
    assert "f" in done.raised, done.diagnostics
    assert not [d for d in done.diagnostics if d.kernel == "f"]
    agrees(done, "f", u=np.random.default_rng(0).uniform(0, 1, (9, 11)).astype(np.float32))


def test_tuples_that_need_what_the_other_name_had_are_not_taken_apart():
    """The second tuple is made of the old `n`: as two statements it would be made of the new one."""
    body = "def f(x, n):\n m = n - 4\n m, dims = 1, (m, 2)\n more[1, 64](x, dims[0] + m, n)\n return x\n"
    done = python(KERNELS + body)
    assert "f" not in done.raised
    assert {d.code for d in done.diagnostics if d.kernel == "f"} == {"KR211"}


EXTENTS = {
    "a sum of tuples": (
        "ny, nx = u.shape\n shape = (ny, nx)\n w = np.zeros(shape + (2,), np.float32)",
        (9, 11, 2),
    ),
    "a star": ("ny, nx = u.shape\n dims = (nx, ny)\n w = np.ones((*dims, 3), dtype=np.float32)", (11, 9, 3)),
    "a product": ("ny, nx = u.shape\n dims = (nx, ny)\n w = np.zeros(int(np.prod(dims)), dtype=np.float32)", (99,)),
    "a product of a shape": ("n = math.prod(u.shape)\n w = np.zeros(n, dtype=np.float32)", (99,)),
    "a length": ("ny, nx = u.shape\n dims = (nx, ny, 4)\n w = np.zeros(len(dims), dtype=np.float32)", (3,)),
    "a default": ("w = np.zeros(size, dtype=np.float32)", (5, 7)),
    "several names": ("w = z = np.zeros(u.shape, np.float32)\n z[1, 2] = 4.0", (9, 11)),
}


@pytest.mark.parametrize("name", EXTENTS)
def test_extents(name):
    lines, shape = EXTENTS[name]
    body = (
        f"def f(u, size=(5, 7)):\n {lines}\n v = cuda.device_array_like(u)\n blur[(9, 9), (4, 8)](u, v)\n return v, w"
    )
    done = python(KERNELS + body)
    assert "f" in done.raised, done.diagnostics
    u = np.random.default_rng(0).uniform(0, 1, (9, 11)).astype(np.float32)
    agrees(done, "f", u=u)
    from kraise.verify.load import load_module

    assert load_module(done.text).f(u)[1].shape == shape


def test_a_flat_array_gets_the_shape_of_another():
    body = (
        "def f(u):\n flat = cuda.to_device(u.ravel())\n more[(u.size + 63) // 64, 64](flat, 1.5, u.size)\n"
        " shape = u.shape\n return flat.copy_to_host().reshape(shape)\n"
    )
    done = python(KERNELS + body)
    assert "f" in done.raised and "reshape(u.shape)" in done.text
    agrees(done, "f", u=np.ones((3, 5), np.float32))


def test_a_name_that_is_set_again_is_not_followed():
    """Its elements are those of the place where it is used, not of the first tuple."""
    body = (
        "def f(x, n):\n m = n\n dims = (m, 2)\n m = m + 3\n pair = (m, 1)\n if n > 4:\n  pair = (2, 2)\n"
        " more[1, 64](x, dims[0] + 10 * dims[1], n)\n more[1, 64](x, len(pair) + m, n)\n return x\n"
    )
    done = python(KERNELS + body)
    if "f" in done.raised:
        agrees(done, "f", x=np.ones(6, np.float32), n=6)
    else:
        assert {d.code for d in done.diagnostics if d.kernel == "f"} <= {"KR211", "KR213", "KR102"}


def test_a_default_that_a_call_gives_stays_a_parameter():
    body = (
        "def f(u, size=(5, 7)):\n v = cuda.device_array_like(u)\n blur[(9, 9), (4, 8)](u, v)\n w = np.zeros(size)\n"
        " return v, w\ndef g(u):\n return f(u, (2, 3))\n"
    )
    done = python(KERNELS + body)
    assert "f" not in done.raised
