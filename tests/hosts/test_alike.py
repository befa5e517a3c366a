"""Two buffers that change places and begin alike: one array, unless a cell of the second may matter."""

import pytest

from kraise import pipeline
from tests.hosts.test_hosts import agrees, array

KERNELS = """
from numba import cuda

@cuda.jit
def step(u, v, n, c):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])

@cuda.jit
def masked(u, v, n, c):
    i = cuda.grid(1)
    if 0 < i < n - 1 and u[i] > c:
        v[i] = 0.5 * (u[i - 1] + u[i + 1])

@cuda.jit
def leaping(u, v, n, c):
    i = cuda.grid(1)
    if 1 < i < n - 1:
        v[i] = u[i - 1] + c * v[i]

@cuda.jit
def late(u, v, n, first):
    i = cuda.grid(1)
    if first < i < n - 1:
        v[i] = 0.5 * (u[i - 1] + u[i + 1])

@cuda.jit
def pair(u, v, n, c, e):
    i = cuda.grid(1)
    if 2 < i < n:
        v[i] = c * u[i - 3]
        e[i] += u[i] * u[i]

@cuda.jit
def scale(x, n, c):
    i = cuda.grid(1)
    if i < n:
        x[i] *= c
"""
LOOP = """
def f(u0, n, m, c):
    u = cuda.to_device(u0)
    v = {second}
    for t in range(m):
        {body}
        u, v = v, u
    return {result}
"""


def host(body="step[1, 32](u, v, n, c)", second="cuda.to_device(u0)", result="u.copy_to_host()"):
    return pipeline.translate(KERNELS + LOOP.format(body=body, second=second, result=result), "a.py")


ALIKE = {
    "the ends stay": {},
    "a copy": {"second": "u0.copy()"},
    "what comes of the round is read in it": {
        "body": "step[1, 32](u, v, n, c); pair[1, 32](v, w, n, c, e)",
        "second": "cuda.to_device(u0); w = cuda.to_device(u0); e = cuda.to_device(u0)",
        "result": "u.copy_to_host(), w.copy_to_host(), e.copy_to_host()",
    },
    "the last cells are written": {
        "body": "pair[1, 32](u, v, n, c, e)",
        "second": "cuda.to_device(u0); e = cuda.to_device(u0)",
        "result": "u.copy_to_host(), e.copy_to_host()",
    },
}
APART = {
    "other ends": {"second": "cuda.to_device(2.0 * u0)"},
    "changed since": {"second": "cuda.to_device(u0); scale[1, 32](u, 3, 2.0)"},
    "both come back": {"result": "u.copy_to_host(), v.copy_to_host()"},
    "data decide what is written": {"body": "masked[1, 32](u, v, n, c)"},
    "its own old cells are read": {"body": "leaping[1, 32](u, v, n, c)"},
    "the round decides what is written": {"body": "late[1, 32](u, v, n, t)"},
    "the ends change": {"body": "step[1, 32](u, v, n, c); scale[1, 32](u, 1, 0.5)"},
    "the new ends change": {"body": "step[1, 32](u, v, n, c); scale[1, 32](v, 1, 0.5)"},
    "the old cells are read before": {
        "body": "pair[1, 32](v, w, n, c, e); step[1, 32](u, v, n, c)",
        "second": "cuda.to_device(u0); w = cuda.to_device(u0); e = cuda.to_device(u0)",
        "result": "u.copy_to_host(), w.copy_to_host()",
    },
}


@pytest.mark.parametrize("what", ALIKE)
def test_one_array_is_carried(what):
    done = host(**ALIKE[what])
    assert done.text is not None and "(u, u, n, c" in done.text and "jnp.split(v, (" in done.text
    agrees(done, "f", u0=array(7), n=7, m=3, c=0.25)


@pytest.mark.parametrize("what", APART)
def test_two_arrays_are_carried(what):
    done = host(**APART[what])
    assert done.text is not None and "(u, u, n, " not in done.text and "concatenate" not in done.text
    agrees(done, "f", u0=array(7), n=7, m=3, c=0.25)


def test_the_ends_of_the_smallest_arrays():
    done = host()
    from kraise.verify.load import load_module

    f = load_module(done.text).f
    for n in (1, 2, 3):
        assert f(array(n), n, 4, 0.25).shape == (n,)
    assert (f(array(2), 2, 4, 0.25) == array(2)).all()


TURNS = """
@cuda.jit
def move(u, v, idx, w, n, t):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = u[idx[i]] + 0.1 * t * w[i] * u[i - 1] * u[i + 1]

def two(u, v, idx, w, n, m):
    for t in range(m):
        move[1, 32](u, v, idx, w, n, t)
        u, v = v, u

def three(a, b, u, idx, w, n, m):
    for t in range(m):
        move[1, 32](a, b, idx, w, n, t)
        a, b, u = b, u, a
"""


def test_buffers_in_turns_have_the_derivatives_of_the_plain_loop():
    """Forward, reverse, twice and mapped: the helper for values leaves them as they are."""
    import jax
    import numpy as np

    from kraise.verify.load import load_module

    done = pipeline.translate(KERNELS + TURNS, "a.py")
    assert done.text is not None and "(u, v), (idx, w), 2)" in done.text and "(a, b, u), (idx, w), 3)" in done.text
    module = load_module(done.text)
    helper = done.text[done.text.index("def swapping_loop") : done.text.index("@partial(jax.jit, static_argnames")]
    plain = "def swapping_loop(start, stop, step, state, known, period):\n"
    plain += "    return checkpointed_loop(start, stop, lambda r, s: step(r, s, *known), state)\n\n\n"
    other = load_module(done.text.replace(helper, plain))
    n, idx = 6, np.array([0, 3, 1, 5, 2, 4], np.int32)

    def results(of, name, m):
        f = getattr(of, name)
        return lambda arrays, w: jax.numpy.stack(f(*arrays, idx, w, n, m))

    ways = (
        lambda f: jax.jacrev(f, (0, 1)),
        lambda f: jax.jacfwd(f, (0, 1)),
        lambda f: jax.hessian(lambda *given: f(*given).sum(), 1),
        lambda f: lambda a, w: jax.vmap(f, (0, None))(jax.numpy.stack([a, a[::-1]]), w),
    )
    for name, count in (("two", 2), ("three", 3)):
        given = np.stack([array(n, k) for k in range(count)]), array(n, 7)
        for m in (-1, 3, 4):
            for way in ways if m == 3 else (lambda f: f,):
                one, two = (jax.tree.leaves(jax.jit(way(results(x, name, m)))(*given)) for x in (module, other))
                for a, b in zip(one, two, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


PLATES = """
@cuda.jit
def relax(u, v, c):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 1 < j < u.shape[1] - 1:
        v[i, j] = {value}

@cuda.jit
def gap(u, v, d, n):
    i = cuda.grid(1)
    if i < n:
        d[i] = abs(v[i, 2] - u[i, 2])

def f(a, n, m, c):
    u = cuda.to_device(a)
    v = {second}
    d = cuda.to_device(np.zeros(n, dtype=np.float32))
    for t in range(m):
        {body}
        u, v = v, u
        if d.copy_to_host().max() < 0.05:
            break
    return {result}
"""
BOTH = "relax[(1, 1), (8, 8)](u, v, c); gap[1, 8](u, v, d, n)"
VALUE = "u[i, j - 1] + c * (u[i - 1, j] - u[i + 1, j])"


def plate(value=VALUE, body=BOTH, second="cuda.to_device(a)", result="u.copy_to_host()"):
    source = PLATES.format(value=value, body=body, second=second, result=result)
    return pipeline.translate("import numpy as np\n" + KERNELS + source, "a.py")


# what is changed, and the size of a round's change
OVERWRITTEN = {
    "it ends early": ({}, 0.05),
    "it goes on": ({}, 0.5),
    "cells are added to": ({"value": "u[i, j] + " + VALUE}, 0.05),
}
CARRIED = {
    "other rims": ({"second": "cuda.to_device(2.0 * a)"}, "(a, v, True)"),
    "both plates come back": ({"result": "u.copy_to_host(), v.copy_to_host()"}, "(a, a, True)"),
    "old cells are read": ({"value": "v[i, j] + " + VALUE}, "(a, a, True)"),
    "data decide what is written": ({"value": "v[i, j] if u[i, j] > c else " + VALUE}, "(a, a, True)"),
    "the differences come back": ({"result": "u.copy_to_host(), d.copy_to_host()"}, "(a, d, True)"),
    "the differences are read before": ({"body": "scale[1, 8](d, n, 0.5); " + BOTH}, "(a, d, True)"),
    "two launches write them": ({"body": BOTH + "; scale[1, 8](d, n, 0.5)"}, "(a, d, True)"),
}


@pytest.mark.parametrize("what", OVERWRITTEN)
def test_a_loop_that_may_end_early_carries_one_plate_and_nothing_that_is_overwritten(what):
    changes, c = OVERWRITTEN[what]
    done = plate(**changes)
    assert done.text is not None and ", advance, (a, True)" in done.text and "= relax_in_place(u, c)" in done.text
    assert "relax_in_place" not in done.raised
    agrees(done, "f", a=array((5, 6)), n=5, m=4, c=c)


@pytest.mark.parametrize("what", CARRIED)
def test_what_may_matter_is_carried(what):
    changes, carried = CARRIED[what]
    done = plate(**changes)
    assert done.text is not None and f", advance, {carried}" in "".join(map(str.strip, done.text.split("\n")))


HALF = """
import numpy as np
from numba import cuda

@cuda.jit
def half(u, v):
    i = cuda.grid(1)
    if i < v.size:
        v[i] = 0.5 * u[i]

def f(a, m):
    u = cuda.to_device(a)
    v = {second}
    for t in range(m):
        half[1, 32](u, v)
        u, v = v, u
        if u.copy_to_host()[0] < 0.2:
            break
    return u.copy_to_host()
"""


@pytest.mark.parametrize(
    ("second", "one"),
    [("cuda.device_array_like(u)", True), ("np.zeros(a.shape, dtype=np.int32)", False)],
)
def test_a_buffer_that_is_overwritten_is_not_carried_where_both_are_of_one_type(second, one):
    done = pipeline.translate(HALF.format(second=second), "a.py")
    assert done.text is not None and ("= half(u, u)" in done.text, "= half(u, v)" in done.text) == (one, not one)
    if one:
        agrees(done, "f", a=array(4), m=3)
