"""Integer and boolean arguments and results never break a derivative: they have none, and JAX's users see float0."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

FLOAT0 = jax.dtypes.float0

PYTHON = """
import math
from numba import cuda


@cuda.jit
def gather(y, x, idx, keep, k):
    i = cuda.grid(1)
    if i < y.shape[0]:
        if keep[i]:
            y[i] = x[idx[i]] * k


@cuda.jit
def both(y, hits, x, limit):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = math.sqrt(x[i]) if x[i] > 0.0 else 0.0
        hits[i] = 1 if x[i] > limit else 0


@cuda.jit
def histogram(counts, x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(counts, int(x[i]), 1)
"""

CUDA = """
struct Cell { float h; int type; float u; };
struct Run { float dt; int mode; };

__global__ void cells(Cell *c, Run p, const bool *on, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (on[i] && c[i].type == 1) { c[i].h += p.dt * c[i].u; c[i].type = 2; }
  if (p.mode == 3) c[i].u = c[i].h * c[i].u;
}
"""


class Cell(NamedTuple):
    h: jax.Array
    type: jax.Array
    u: jax.Array


class Run(NamedTuple):
    dt: float
    mode: int


@pytest.fixture(scope="module")
def python():
    return load_module(pipeline.translate(PYTHON, "kernel.py").text)


@pytest.fixture(scope="module")
def cuda():
    return load_module(pipeline.translate(CUDA, "kernel.cu").text)


X, Y = jnp.arange(4.0) + 1, jnp.zeros(4)
IDX, KEEP, ON = jnp.array([0, 2, 1, 3]), jnp.array([True, False, True, True]), jnp.array([True, True, False, True])


@pytest.mark.parametrize("k", [2, 2.0, np.float32(2)])
def test_gradient_by_the_floats_of_a_function_with_index_arrays_and_flags(python, k):
    loss = lambda *args: jnp.sum(python.gather(*args))  # noqa: E731
    np.testing.assert_allclose(jax.grad(loss, argnums=1)(Y, X, IDX, KEEP, k), [2, 2, 0, 2])
    by_y, by_x = jax.grad(loss, argnums=(0, 1))(Y, X, IDX, KEEP, k)
    np.testing.assert_allclose(by_y, [0, 1, 0, 0])


def test_allow_int_gives_float0(python):
    by_x, by_idx, by_keep = jax.grad(lambda *a: jnp.sum(python.gather(*a)), argnums=(1, 2, 3), allow_int=True)(
        Y, X, IDX, KEEP, 2.0
    )
    assert by_x.dtype == jnp.zeros(()).dtype and by_idx.dtype == by_keep.dtype == FLOAT0


def test_an_integer_result_takes_a_float0_cotangent_and_has_a_float0_tangent(python):
    hits = jnp.zeros(4, jnp.int32)
    out, pull = jax.vjp(lambda x: python.both(Y, hits, x, 1.5), X)
    assert [v.dtype for v in out] == [jnp.zeros(()).dtype, jnp.int32]
    (by_x,) = pull((jnp.ones(4), np.zeros(4, FLOAT0)))
    np.testing.assert_allclose(by_x, 0.5 / np.sqrt(X), rtol=1e-6)
    _, pushed = jax.jvp(lambda x: python.both(Y, hits, x, 1.5), (X,), (jnp.ones(4),))
    assert pushed[1].dtype == FLOAT0
    _, pull = jax.vjp(python.both, Y, hits, X, 1.5)
    assert pull((jnp.ones(4), np.zeros(4, FLOAT0)))[1].dtype == FLOAT0


def test_a_float_that_only_becomes_an_integer_has_derivative_zero(python):
    by_x = jax.grad(lambda x: python.histogram(jnp.zeros(8, jnp.int32), x).sum().astype(float))(X)
    np.testing.assert_array_equal(by_x, np.zeros(4))


def test_jacobian_and_hessian_beside_an_integer_result(python):
    root = lambda x: python.both(Y, jnp.zeros(4, jnp.int32), x, 1.5)[0]  # noqa: E731
    np.testing.assert_allclose(jax.jacrev(root)(X), np.diag(0.5 * X**-0.5), rtol=1e-6)
    np.testing.assert_allclose(
        jax.hessian(lambda x: root(x).sum())(X), np.diag(-0.25 * np.asarray(X) ** -1.5), rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize("mode", [3, np.int32(1), jnp.int32(3)])
def test_structs_with_integer_members(cuda, mode):
    cell, run = Cell(X, jnp.array([1, 1, 0, 1], jnp.int32), 2 * X), Run(jnp.float32(0.1), mode)

    def loss(h, u, dt):
        out = cuda.cells(cell._replace(h=h, u=u), run._replace(dt=dt), ON, 4)
        return jnp.sum(out.h) + jnp.sum(out.u)

    by_h, by_u, by_dt = jax.grad(loss, argnums=(0, 1, 2))(cell.h, cell.u, run.dt)
    live = np.array([1.0, 1.0, 0.0, 1.0])
    u, h = np.asarray(cell.u), np.asarray(cell.h) + 0.1 * live * np.asarray(cell.u)
    if mode == 3:
        np.testing.assert_allclose(by_h, 1 + u, rtol=1e-5)
        np.testing.assert_allclose(by_u, 0.1 * live * (1 + u) + h, rtol=1e-5)
        np.testing.assert_allclose(by_dt, np.sum(live * u * (1 + u)), rtol=1e-5)
    else:
        np.testing.assert_allclose(by_u, 0.1 * live + 1, rtol=1e-5)


def test_a_whole_struct_as_an_argument_of_grad_and_vjp(cuda):
    cell, run = Cell(X, jnp.array([1, 1, 0, 1], jnp.int32), 2 * X), Run(jnp.float32(0.1), 3)
    by_cell = jax.grad(lambda c: jnp.sum(cuda.cells(c, run, ON, 4).u), allow_int=True)(cell)
    assert by_cell.type.dtype == FLOAT0 and np.isfinite(by_cell.h).all()
    out, pull = jax.vjp(lambda c: cuda.cells(c, run, ON, 4), cell)
    ones = out._replace(h=jnp.ones(4), u=jnp.ones(4), type=np.zeros(4, FLOAT0))
    (by_cell,) = pull(ones)
    assert by_cell.type.dtype == FLOAT0 and by_cell.u.dtype == jnp.zeros(()).dtype
