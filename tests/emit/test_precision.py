"""Products of float32 are of float32 on every device: what JAX is told, in values and in gradients."""

import jax
import jax.numpy as jnp
import pytest

from kraise import pipeline
from tests.emit.dsl import load

PRODUCT = """
__global__ void product(const float *a, const float *b, float *c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
"""
FILTER = """
#define TAPS 5
__global__ void filter(const float *x, const float *w, float *y, int filters, int channels, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n - TAPS + 1 || f >= filters) return;
  float sum = 0;
  for (int c = 0; c < channels; c++)
    for (int t = 0; t < TAPS; t++) sum += x[c * n + i + t] * w[(f * channels + c) * TAPS + t];
  y[f * n + i] = sum;
}
"""
ROUNDS = """
void power(const float *a, float *v, float *next, int n, int rounds) {
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < n; i++) {
      next[i] = 0;
      for (int j = 0; j < n; j++) next[i] += a[i * n + j] * v[j];
    }
    for (int i = 0; i < n; i++) v[i] = next[i];
  }
}
"""
PYTHON = """
from numba import cuda
@cuda.jit
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        s = 0.0
        for k in range(b.shape[0]):
            s += a[i, k] * b[k, j]
        c[i, j] = s
"""
BLOCK = 'with jax.default_matmul_precision("float32"):'


def translated(source, file="k.cu"):
    done = pipeline.translate(source, file)
    assert done.text is not None, [d.message for d in done.diagnostics]
    return done.text


def products(jaxpr):
    """The precisions of the products of a jaxpr, in nested ones, too."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in ("dot_general", "conv_general_dilated"):
            yield eqn.params["precision"]
        for inner in jax.tree.leaves(list(eqn.params.values()), is_leaf=lambda p: hasattr(p, "eqns")):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                yield from products(inner)


def ones(*shape):
    return jnp.ones(shape, jnp.float32)


@pytest.mark.parametrize(
    "source, file, name, args",
    [
        (PRODUCT, "k.cu", "product", (ones(6), ones(12), ones(8), 2, 4, 3)),
        (FILTER, "k.cu", "filter", (ones(3 * 12), ones(2 * 15), ones(2 * 12), 2, 3, 12)),
        (ROUNDS, "k.c", "power", (ones(9), ones(3), ones(3), 3, 4)),
        (PYTHON, "k.py", "product", (ones(2, 3), ones(3, 4), ones(2, 4))),
    ],
    ids=["product", "convolution", "rounds", "python"],
)
def test_float32_stays_float32(source, file, name, args):
    text = translated(source, file)
    assert BLOCK in text
    function = load(text)[name]

    def loss(a, b):
        return sum(leaf.sum() for leaf in jax.tree.leaves(function(a, b, *args[2:])))

    highest = jax.lax.Precision.HIGHEST
    for traced in (loss, jax.grad(loss, (0, 1))):
        found = list(products(jax.make_jaxpr(traced)(*args[:2]).jaxpr))
        assert found and all(p in (highest, (highest, highest)) for p in found), found


def test_doubles_and_integers_need_no_word():
    for kind in ("double", "int"):
        text = translated(PRODUCT.replace("float", kind))
        assert " @ " in text and "precision" not in text


def test_doubles_that_are_rounded_do():
    text = translated(
        PRODUCT.replace("const float", "const double").replace("+= a[", "+= (float)a[").replace("* b[", "* (float)b[")
    )
    assert BLOCK in text


def test_no_product_no_word():
    text = translated(PRODUCT.replace("sum += a[row * k + i] * b[i * n + col]", "sum += a[row * k + i]"))
    assert "precision" not in text


def test_neighbours_share_a_block():
    two = PRODUCT.replace("float *c,", "float *c, float *d,").replace("float sum = 0;", "float sum = 0, more = 0;")
    term = "sum += a[row * k + i] * b[i * n + col];"
    two = two.replace(term, f"{{ {term} more += a[row * k + i] * a[i * n + col]; }}")
    two = two.replace("= sum;", "= sum; d[row * n + col] = more;")
    text = translated(two)
    assert text.count(" @ ") == 2 and text.count(BLOCK) == 1


def test_jax_under_another_name():
    text = translated(PRODUCT.replace("void product(", "void jax("))
    assert "with _jax.default_matmul_precision" in text
    assert load(text)["jax"](ones(6), ones(12), ones(8), 2, 4, 3)[0] == 3
