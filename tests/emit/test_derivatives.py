"""``--grad``: the functions it adds, and what it refuses. Values are compared by tests/test_samples.py and here."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = '''
def pull(x, k, idx, out, n):
    """Springs to a chosen neighbour."""
    for i in range(n):
        out[i] = k * (x[idx[i]] - x[i]) ** 2


def count(x, hits, n):
    for i in range(n):
        hits[i] = 1 if x[i] > 0.0 else 0
'''


def translated(*grad, source=SOURCE, file="k.py"):
    return pipeline.translate(source, file, Options(grad=grad))


def refusals(*grad, **named):
    done = translated(*grad, **named)
    return [(d.code, d.reason, d.hint) for d in done.diagnostics], done


def test_gradient_and_product_with_a_cotangent():
    done = translated("pull: loss=out wrt x,k")
    assert not done.diagnostics
    module = load_module(done.text)
    x, idx = jnp.array([1.0, 3.0, -2.0]), jnp.array([1, 2, 0])
    value, (x_bar, k_bar) = module.pull_grad(x, 2.0, idx, jnp.zeros(3), 3)
    assert np.allclose(value, 2 * (4 + 25 + 9)) and np.allclose(k_bar, 38)
    want = jax.grad(lambda x: jnp.sum(2.0 * (x[idx] - x) ** 2))(x)
    assert np.allclose(x_bar, want)
    weights = jnp.array([1.0, 0.0, -1.0])
    pulled = module.pull_vjp(x, 2.0, idx, jnp.zeros(3), 3, weights)
    assert np.allclose(pulled[1], 4 - 9)


def test_without_wrt_what_flows_into_the_result_is_active():
    text = translated("pull: loss=out").text
    assert "with respect to x and k." in text and "def loss(x, k):" in text


@pytest.mark.parametrize(
    ("grad", "reason", "hint"),
    [
        ("pull: loss=outt wrt x", "returns no `outt`", "did you mean `out`?"),
        ("pull: loss=out wrt xx", "no parameter `xx`", "did you mean `x`?"),
        ("pull: loss=out wrt n", "`n` decides a shape", "static"),
        ("pull: loss=out wrt idx", "`idx` holds integers", "ordinary argument"),
        ("count: loss=hits wrt x", "`hits` holds integers", "holds floats"),
        ("pull: loss=out wrt x const kk", "no parameter `kk`", "did you mean `k`?"),
    ],
)
def test_a_derivative_that_does_not_exist_is_refused_and_the_kernels_come_out(grad, reason, hint):
    (found,), done = refusals(grad)
    assert found[0] == "KR308" and reason in found[1] and hint in found[2]
    assert done.raised == ("pull", "count") and "_grad" not in done.text


def test_a_sentence_that_fits_no_kernel():
    (found,), _ = refusals("loss=nothing wrt x")
    assert found[0] == "KR308" and "loss=nothing" in found[1] and "`pull` has no `nothing`" in found[1]
    (found,), _ = refusals("loss=out wrt xx")
    assert "`pull` has no `xx`" in found[1] and found[2] == "did you mean `x`?"


def test_an_output_that_two_terms_take_is_computed_once():
    text = translated("pull: loss=sum(out) - 0.5 * mean(out) wrt x").text
    assert "return jnp.sum(out_new) - 0.5 * jnp.mean(out_new)" in text


def test_two_sentences_that_differ_for_one_kernel():
    (found,), _ = refusals("pull: loss=out wrt x", "pull: loss=out wrt k")
    assert "in two ways" in found[1]


def test_a_sentence_without_a_kernel_concerns_those_that_fit():
    text = translated("loss=out wrt x").text
    assert "def pull_grad(" in text and "count_grad" not in text


def test_dupnoneed_hands_out_the_gradient_alone():
    module = load_module(translated("pull: loss=out dup x dupnoneed out").text)
    gradient = module.pull_grad(jnp.array([1.0, 2.0]), 1.0, jnp.array([1, 0]), jnp.zeros(2), 2)
    assert gradient.shape == (2,)


def test_const_stops_an_outer_gradient():
    module = load_module(translated("pull: loss=out wrt x const k").text)

    def outer(k):
        return module.pull_grad(jnp.array([1.0, 2.0]), k, jnp.array([1, 0]), jnp.zeros(2), 2)[0]

    assert jax.grad(outer)(3.0) == 0.0


def test_members_of_a_struct():
    source = """
struct P { float x; float v; int id; };
__global__ void drift(P *p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i].x += dt * p[i].v * p[i].v;
}
"""
    (found,), _ = refusals("loss=sum(p) wrt dt", source=source, file="k.cu")
    assert "a loss takes one of its members" in found[1] and "one of p.x, p.v" in found[2]
    (found,), _ = refusals("loss=sum(p.x) wrt p.id", source=source, file="k.cu")
    assert "`p.id` holds integers" in found[1]
    done = translated("loss=sum(p.x) wrt p.v, dt", source=source, file="k.cu")
    case = pipeline.Request(shapes={"p.x": (5,), "p.v": (5,), "p.id": (5,)}, values={"n": 5})
    ((report,), problems) = pipeline.verify(done, case)
    assert not problems and report.ok
    assert sum(row.check in ("grad", "vjp") and "drift_" in row.what for row in report.rows) >= 4


def test_verify_sees_a_wrong_derivative():
    done = translated("pull: loss=out wrt x")
    broken = pipeline.replace(done, text=done.text.replace("jax.value_and_grad(loss)(x)", "(loss(x), 0 * x)"))
    assert broken.text != done.text
    request = pipeline.Request(shapes={"x": (6,), "idx": (6,), "out": (6,)}, values={"n": 6})
    reports, _ = pipeline.verify(broken, request)
    assert not reports[0].ok and "pull_grad" in reports[0].failures[0].what
    assert pipeline.verify(done, request)[0][0].ok


HOST = """
from numba import cuda

@cuda.jit
def advance(u, v, rate, n):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = u[i] + rate * (u[i - 1] - 2.0 * u[i] + u[i + 1]) - 0.01 * u[i] ** 3


def run(u, scratch, rate, n, rounds):
    for _ in range(rounds):
        advance[(n + 31) // 32, 32](u, scratch, rate, n)
        u, scratch = scratch, u
    return u


def count(x, hits):
    advance[1, 32](x, x.copy(), 0.1, 3)
"""


def test_a_host_function():
    done = translated("run: loss=dot(u, w) wrt u, rate", source=HOST)
    assert not [d for d in done.diagnostics if d.code == "KR308"]
    module = load_module(done.text)
    u, w = jnp.linspace(0.0, 1.0, 7) ** 2, jnp.arange(7.0)
    value, (by_u, by_rate) = module.run_grad(u, 0 * u, 0.2, 7, 3, w)

    def loss(u, rate):
        return jnp.vdot(jax.tree.leaves(module.run(u, 0 * u, rate, 7, 3))[0], w)

    assert np.allclose(value, loss(u, 0.2))
    for got, want in zip((by_u, by_rate), jax.grad(loss, (0, 1))(u, 0.2), strict=True):
        assert np.allclose(got, want)


@pytest.mark.parametrize(
    ("grad", "reason"),
    [
        ("run: loss=heat wrt u", "returns no `heat`"),
        ("run: loss=u wrt rounds", "`rounds` decides a shape"),
        ("run: loss=u wrt uu", "no parameter `uu`"),
    ],
)
def test_a_derivative_of_a_host_that_does_not_exist_is_refused_and_the_host_comes_out(grad, reason):
    found, done = refusals(grad, source=HOST)
    assert [reason in f[1] for f in found if f[0] == "KR308"] == [True]
    assert {"advance", "run"} <= set(done.raised) and "_grad" not in done.text
