"""``--remat`` and ``--max-intermediate``: what the gradient keeps, and that values and gradients stay the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options, size_of
from kraise.verify.load import load_module
from tests.checks import verified
from tests.corpus import SAMPLES

STEPS = """
def decay(u, rate, steps):
    n = u.shape[0]
    for t in range({rounds}):
        for i in range(n):
            u[i] = u[i] - rate * u[i] ** 3
"""
PAIRS = """
def pairs(x, q, out, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += q[j] / (1.0 + (x[i] - x[j]) ** 2)
        out[i] = s
"""


def text(source, file="k.py", **options):
    done = pipeline.translate(source, file, Options(**options))
    assert not done.diagnostics, done.diagnostics
    return done.text


def kept(function, *args):
    """The elements that a gradient keeps of the run forward."""
    _, pull = jax.vjp(function, *args)
    return sum(np.size(leaf) for leaf in jax.tree_util.tree_leaves(pull))


def largest(function, *args):
    """The elements of the largest array within the program of a function, loops' bodies included."""
    found = [0]

    def visit(jaxpr):
        for eqn in jaxpr.eqns:
            found.extend(int(np.prod(v.aval.shape)) for v in eqn.outvars)
            for inner in _inner(eqn):
                visit(inner)

    visit(jax.make_jaxpr(function)(*args).jaxpr)
    return max(found)


def _inner(eqn):
    for value in eqn.params.values():
        for one in value if isinstance(value, tuple | list) else (value,):
            one = getattr(one, "jaxpr", one)
            if hasattr(one, "eqns"):
                yield one


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7, 16, 50])
def test_segments_give_the_same_for_any_number_of_rounds(rounds):
    source = STEPS.format(rounds="steps")
    plain, full = (load_module(text(source, remat=r)) for r in ("none", "full"))
    u = jnp.linspace(0.1, 1.0, 5)

    def both(m):
        return jax.value_and_grad(lambda u, r: jnp.sum(m.decay(u, r, rounds) ** 2), argnums=(0, 1))(u, 0.1)

    for a, b in zip(jax.tree.leaves(both(plain)), jax.tree.leaves(both(full)), strict=True):
        assert np.allclose(a, b, rtol=1e-6)


def test_the_gradient_keeps_about_two_roots_of_the_states():
    source = STEPS.format(rounds="steps")
    plain, full = (load_module(text(source, remat=r)) for r in ("none", "full"))
    u = jnp.linspace(0.1, 1.0, 100)
    all_states = kept(lambda u: plain.decay(u, 0.1, 400), u)
    some = kept(lambda u: full.decay(u, 0.1, 400), u)
    assert all_states >= 400 * 100 and some <= 3 * 20 * 100


def test_auto_bounds_what_is_much_and_leaves_the_rest():
    module = load_module(text(STEPS.format(rounds="steps")))
    small, large = jnp.ones(100), jnp.ones(1 << 18)
    assert kept(lambda u: module.decay(u, 0.1, 400), small) >= 400 * 100
    assert kept(lambda u: module.decay(u, 0.1, 400), large) <= 60 * large.size


TRACED = """
def decay(u, dose, energy, steps):
    n = u.shape[0]
    for t in range(steps):
        for i in range(n):
            u[i] = u[i] - dose[t] * u[i] ** 3
        e = 0.0
        for i in range(n):
            e += u[i] * u[i]
        energy[t] = e
"""


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7, 16, 50])
def test_a_scan_in_segments_gives_the_same_for_any_number_of_rounds(rounds):
    plain, full = (load_module(text(TRACED, remat=r)) for r in ("none", "full"))
    u, dose = jnp.linspace(0.1, 1.0, 5), jnp.linspace(0.0, 0.3, max(rounds, 1))

    def both(m):
        def loss(u, dose):
            end, energy = m.decay(u, dose, jnp.zeros(max(rounds, 1)), rounds)
            return jnp.sum(end**2) + jnp.sum(energy * jnp.arange(energy.size))

        return jax.value_and_grad(loss, argnums=(0, 1))(u, dose)

    for a, b in zip(jax.tree.leaves(both(plain)), jax.tree.leaves(both(full)), strict=True):
        assert np.allclose(a, b, rtol=1e-6)


def test_a_scan_s_gradient_keeps_what_it_puts_out_and_two_roots_of_the_states():
    module = load_module(text(TRACED))
    dose, energy = jnp.full(400, 0.1), jnp.zeros(400)
    small, large = jnp.ones(100), jnp.ones(1 << 18)
    assert kept(lambda u: module.decay(u, dose, energy, 400), small) >= 400 * 100
    assert kept(lambda u: module.decay(u, dose, energy, 400), large) <= 60 * large.size


CROWD = """
def crowd(x, v, steps):
    n = x.shape[0]
    for t in range(steps):
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += (x[j] - x[i]) / (1.0 + (x[j] - x[i]) ** 2)
            v[i] += 0.1 * s
        for i in range(n):
            x[i] += 0.1 * v[i]
"""


def test_auto_keeps_no_broadcast_of_a_round():
    auto, none = (load_module(text(CROWD, remat=r)) for r in ("auto", "none"))
    x = jnp.linspace(0.0, 1.0, 50)
    assert kept(lambda x: none.crowd(x, 0 * x, 20), x) >= 20 * 50 * 50
    assert kept(lambda x: auto.crowd(x, 0 * x, 20), x) <= 20 * 50 * 4
    slopes = [jax.grad(lambda x, m=m: jnp.sum(m.crowd(x, 0 * x, 20)[0] ** 2))(x) for m in (auto, none)]
    largest = float(jnp.abs(slopes[1]).max())  # sums of terms of both signs, in another order where they are made again
    np.testing.assert_allclose(*slopes, rtol=1e-5, atol=1e-5 * largest)


HOST_PAIRS = """
from numba import cuda


@cuda.jit
def attract(x, v, n):
    i = cuda.grid(1)
    if i < n:
        s = 0.0
        for j in range(n):
            s += (x[j] - x[i]) / (1.0 + (x[j] - x[i]) ** 2)
        v[i] += 0.1 * s


@cuda.jit
def drift(x, v, n):
    i = cuda.grid(1)
    if i < n:
        x[i] += 0.1 * v[i]


def run(x, v, n, steps):
    for _ in range(steps):
        attract[(n + 31) // 32, 32](x, v, n)
        drift[(n + 31) // 32, 32](x, v, n)
"""


def test_auto_keeps_no_broadcast_of_a_host_s_round():
    module = load_module(text(HOST_PAIRS))
    x = jnp.linspace(0.0, 1.0, 50)
    assert kept(lambda x: module.run(x, 0 * x, 50, 20), x) <= 20 * 50 * 4
    assert "jax.checkpoint" not in text(HOST_PAIRS, remat="none")


@pytest.mark.parametrize(
    ("rounds", "segmented"), [("steps", True), ("64", True), ("5, steps - 1", True), ("63", False), ("n", False)]
)
def test_auto_concerns_loops_over_time(rounds, segmented):
    assert ("checkpointed_loop(" in text(STEPS.format(rounds=rounds))) is segmented
    assert "checkpoint" not in text(STEPS.format(rounds=rounds), remat="none")
    assert "checkpointed_loop(" in text(STEPS.format(rounds=rounds), remat="full")


def test_a_size_is_no_time():
    flat = STEPS.replace("n = u.shape[0]", "n = steps").format(rounds="steps")
    assert "checkpoint" not in text(flat)


def test_integers_have_no_gradient_to_keep_states_for():
    source = """
def count(c, out, rounds):
    for i in range(c.shape[0]):
        x = 0.0
        n = 0
        for t in range(rounds):
            x = x * x + c[i]
            if x < 2.0:
                n += 1
        out[i] = n
"""
    assert "fori_loop" in text(source) and "checkpoint" not in text(source)


def test_a_function_of_the_helpers_name_keeps_it():
    source = STEPS.format(rounds="steps").replace("decay", "checkpointed_loop")
    module = load_module(text(source))
    assert module.checkpointed_loop(jnp.ones(3), 0.1, 2).shape == (3,)


def test_chunks_bound_the_largest_array_of_value_and_gradient():
    plain, chunked = (load_module(text(PAIRS, max_intermediate=m)) for m in ("", "4KB"))
    n = 200
    x, q = jnp.linspace(0.0, 1.0, n), jnp.ones(n)

    def grad(m):
        return lambda x: jax.grad(lambda x: jnp.sum(m.pairs(x, q, jnp.zeros(n), n)))(x)

    assert largest(grad(plain), x) >= n * n
    assert largest(grad(chunked), x) <= 4 * 1024
    assert np.allclose(grad(plain)(x), grad(chunked)(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_chunks_of_any_number_of_rows(n):
    plain, chunked = (load_module(text(PAIRS, max_intermediate=m)) for m in ("", "100"))
    x, q = jnp.linspace(0.0, 1.0, n), jnp.ones(n)
    for m in (plain, chunked):
        assert m.pairs(x, q, jnp.zeros(n), n).shape == (n,)
    assert np.allclose(plain.pairs(x, q, jnp.zeros(n), n), chunked.pairs(x, q, jnp.zeros(n), n))


def test_products_are_contracted_and_need_no_chunks():
    source = """
def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
"""
    assert text(source, max_intermediate="1KB") == text(source)


def test_a_store_that_needs_an_earlier_one_has_a_map_of_its_own():
    source = """
def twice(x, a, b, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += abs(x[i] - x[j])
        a[i] = s
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += abs(a[i] - x[j]) * a[j]
        b[i] = s
"""
    done = pipeline.translate(source, "k.py", Options(max_intermediate="64"))
    assert done.text.count("jax.lax.map(") == 2
    request = pipeline.Request(shapes=dict.fromkeys("xab", (9,)), values={"n": 9})
    assert verified(done, request)[0][0].ok


def test_within_a_loop_that_stays():
    source = """
def move(x, v, dt, steps):
    n = x.shape[0]
    for t in range(steps):
        for i in range(n):
            f = 0.0
            for j in range(n):
                f += (x[j] - x[i]) / (1.0 + (x[j] - x[i]) ** 2)
            v[i] += dt * f
        for i in range(n):
            x[i] += dt * v[i]
"""
    done = pipeline.translate(source, "k.py", Options(max_intermediate="128"))
    assert "jax.lax.map(" in done.text and "checkpointed_loop(" in done.text
    request = pipeline.Request(shapes=dict.fromkeys("xv", (7,)), values={"steps": 3})
    ((report,), problems) = verified(done, request)
    assert report.ok and not problems


def test_full_keeps_only_the_arguments_of_a_broadcast():
    plain, full = (load_module(text(PAIRS, remat=r)) for r in ("none", "full"))
    n = 50
    x, q = jnp.linspace(0.0, 1.0, n), jnp.ones(n)
    assert kept(lambda x: plain.pairs(x, q, jnp.zeros(n), n), x) >= n * n
    assert kept(lambda x: full.pairs(x, q, jnp.zeros(n), n), x) <= 10 * n


def test_sizes():
    assert size_of("256MB") == 256 << 20 and size_of("1.5 GB") == 3 << 29 and size_of("4096") == 4096
    for wrong in ("", "0", "-1MB", "lots", "3XB"):
        with pytest.raises(ValueError):
            size_of(wrong)


HOST = """
from numba import cuda


@cuda.jit
def advance(u, v, n):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - 0.01 * u[i] ** 3


def run(u, v, n, rounds):
    for _ in range({loop}):
        advance[(n + 31) // 32, 32](u, v, n)
        u, v = v, u
"""


@pytest.mark.parametrize(("loop", "segmented"), [("rounds", True), ("n", False), ("100", True), ("9", False)])
def test_a_host_s_loop_over_time(loop, segmented):
    source = HOST.format(loop=loop)
    assert ("swapping_loop(0" in text(source)) is segmented
    assert "checkpoint" not in text(source, remat="none")


def test_a_host_s_segments_give_the_same():
    plain, full = (load_module(text(HOST.format(loop="rounds"), remat=r)) for r in ("none", "full"))
    u = jnp.linspace(0.0, 1.0, 9)

    def both(m):
        return jax.value_and_grad(lambda u: sum(jnp.sum(r**2) for r in m.run(u, 0 * u, 9, 11)))(u)

    for a, b in zip(jax.tree.leaves(both(plain)), jax.tree.leaves(both(full)), strict=True):
        assert np.allclose(a, b, rtol=1e-6)


def test_places_of_extrema_are_kept_between_rounds():
    sample = next(s for s in SAMPLES if s.name == "kmeans_loop")
    module = load_module(sample.golden.read_text())
    points = jnp.arange(24.0).reshape(8, 3) % 7
    jaxpr = str(jax.make_jaxpr(jax.grad(lambda p: module.kmeans(p, p[:2], 4)[0].sum()))(points))
    assert jaxpr.count(" argmin[") == 1
    assert "policy" not in text(STEPS.format(rounds=100))


def test_products_with_vectors_are_kept_between_rounds():
    sample = next(s for s in SAMPLES if s.name == "cuda_strongest_mode")
    module = load_module(sample.golden.read_text())
    a, v = jnp.arange(16.0) % 5, jnp.ones(4)
    jaxpr = str(jax.make_jaxpr(jax.grad(lambda a: module.strongest_mode(a, v, v, v, 4, 3)[0].sum()))(a))
    assert jaxpr.count("dot_general[") == 3  # the product, and its gradients by vector and matrix: it is not made again
