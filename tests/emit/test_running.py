"""Sums over what comes before an index: running sums, and masked products that stay contractions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

ROW = "def f(x, y):\n n = len(x)\n for i in range({}):\n  s = {}\n  for j in range({}):\n   {}\n  y[i] = s\n"
SUMS = {
    "up to itself": ("n", "0.0", "i + 1", "s += x[j]"),
    "before": ("n", "0.0", "i", "s += x[j] * x[i]"),
    "from itself": ("n", "1.0", "i, n", "s -= x[j] / 3"),
    "behind": ("n", "0.0", "i + 1, n", "s += x[j]"),
    "late": ("2, n", "0.0", "1, i - 1", "s += x[j]"),
    "some": ("n", "0.0", "i", "if x[j] > 0:\n    s += x[j]"),
    "how many": ("n", "0", "i + 1", "if x[j] > 0:\n    s += 1"),
    "roots": ("n", "0.0", "i + 1", "s += np.sqrt(x[j] + 9) / (x[j] + 9)"),
    "greatest": ("n", "x[0]", "1, i + 1", "s = max(s, x[j])"),
    "least behind": ("n", "x[i]", "i, n", "s = min(s, x[j])"),
}
OTHERS = {
    "from the first on, which may be none": ("n", "x[0]", "i", "s = max(s, x[j])"),
    "differences": ("n", "0.0", "i", "s += (x[i] - x[j]) * x[j]"),
    "ranks": ("n", "0", "i", "if x[j] < x[i]:\n    s += 1"),
    "beyond the end": ("n", "0.0", "i + 2", "if j < n:\n    s += x[j] * (j + i)"),
}


def made(source):
    done = pipeline.translate("import numpy as np\n" + source, "k.py")
    assert done.text is not None, done.diagnostics
    own = {"np": np}
    exec(source, own)
    return done.text, load_module(done.text).f, own["f"]


def same(mine, own, *arguments):
    copies = [np.array(a) for a in arguments]
    own(*copies)
    np.testing.assert_allclose(mine(*arguments), copies[-1], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", [*SUMS, *OTHERS])
def test_rows(name):
    text, mine, own = made(ROW.format(*(SUMS | OTHERS)[name]))
    assert ("jnp.cumsum" in text or "lax.cum" in text) == (name in SUMS)
    assert name in OTHERS or "tri" not in text and "axis=1" not in text
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 5):
        same(mine, own, rng.uniform(-2, 2, n).astype("float32"), np.zeros(n, "float32"))


def test_what_comes_later_does_not_matter():
    _, mine, _ = made(ROW.format(*SUMS["up to itself"]))
    x = jnp.array([1.0, 2.0, jnp.inf, jnp.nan])
    np.testing.assert_array_equal(mine(x, jnp.zeros(4))[:2], [1.0, 3.0])
    slope = jax.grad(lambda x: mine(x, jnp.zeros(4))[1])(x)
    np.testing.assert_array_equal(slope, [1, 1, 0, 0])


def test_integral_image():
    body = "for a in range(i + 1):\n    for b in range(j + 1):\n     s += A[a, b]"
    source = (
        "def f(A, C):\n n, m = A.shape\n for i in range(n):\n  for j in range(m):\n   s = 0.0\n   "
        + body
        + "\n   C[i, j] = s"
    )
    text, mine, own = made(source)
    assert "jnp.cumsum(jnp.cumsum(1.0 * A, axis=0), axis=1)" in text
    same(mine, own, np.arange(12.0, dtype="float32").reshape(3, 4), np.zeros((3, 4), "float32"))


MASKED = (
    "def f(A, B, C):\n n, m = B.shape\n for i in range(n):\n  for j in range(m):\n   s = 0.0\n"
    "   for k in range({}):\n    s += {}\n   C[i, j] = s"
)


@pytest.mark.parametrize("ranges, product", [("i + 1", "A[i, k] * B[k, j]"), ("i + 1, n", "-A[k, i] * B[k, j] / 3"),
                                             ("i", "B[k, j] * np.exp(A[i, k])")])  # fmt: skip
def test_masked_products(ranges, product):
    text, mine, own = made(MASKED.format(ranges, product))
    assert " @ " in text and "B must be finite" in text and "sum(" not in text
    rng = np.random.default_rng(1)
    for n in (1, 4):
        A, B = rng.uniform(-1, 1, (n, n)).astype("float32"), rng.uniform(-1, 1, (n, 3)).astype("float32")
        same(mine, own, A, B, np.zeros((n, 3), "float32"))


def test_what_a_loop_has_not_made_yet_is_not_multiplied():
    source = (
        "def f(A, B, C):\n n, m = B.shape\n for i in range(n):\n  for j in range(m):\n   s = B[i, j]\n"
        "   for k in range(i):\n    s -= A[i, k] * C[k, j]\n   C[i, j] = s / A[i, i]"
    )
    text, mine, own = made(source)
    assert " @ " not in text and "finite" not in text
    A = np.eye(3, dtype="float32") * 2 + np.tri(3, dtype="float32")
    same(mine, own, A, np.ones((3, 2), "float32"), np.full((3, 2), np.nan, "float32"))


BLOCKS = """
__global__ void scanned(const int *x, int *y, int *totals) {
  __shared__ int sums[32];
  int t = threadIdx.x, lane = t & 31, w = t >> 5, i = blockIdx.x * blockDim.x + t;
  int mine = x[i], v = mine;
  for (int d = 1; d <= 16; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
  if (lane == 31) sums[w] = v;
  __syncthreads();
  if (w == 0) {
    int s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d <= 16; d *= 2) { int u = __shfl_up_sync(~0u, s, d); if (lane >= d) s += u; }
    sums[lane] = s;
  }
  __syncthreads();
  if (w > 0) v += sums[w - 1];
  y[i] = v - mine;
  if (t == blockDim.x - 1) totals[blockIdx.x] = v;
}
"""


TOTAL = "if (t == blockDim.x - 1) totals[blockIdx.x] = v;"


@pytest.mark.parametrize(
    ("total", "mine", "one"),
    [
        (TOTAL, "x[i]", True),
        ("atomicAdd(totals + blockIdx.x, mine * mine);", "x[i]", False),
        (TOTAL, "i < 100 ? x[i] : 0", True),
    ],
)
@pytest.mark.long_cases("i < 100")
def test_a_total_beside_running_sums_is_the_last_of_them(total, mine, one):
    done = pipeline.translate(BLOCKS.replace(TOTAL, total).replace("mine = x[i]", f"mine = {mine}"), "k.cu")
    assert ("running[:, -1]" in done.text) == one, done.text
    request = pipeline.Request(shapes={"x": (128,), "y": (128,), "totals": (2,)}, grid=(2,), block=(64,))
    (report,), problems = verified(done, request)
    assert report.ok and not problems, [(r.check, r.what, r.message) for r in report.failures]


TOTALS = (
    "def f(x, y, t):\n for i in range(x.shape[0]):\n  s = {}\n  for j in range({}):\n   y[i, j] = s\n   s += x[i, j]\n"
    "  t[i] = s\n"
)


@pytest.mark.parametrize(
    "start, places, read",
    [("0.0", "8", True), ("0.0", "x.shape[1]", False), ("1.0", "8", False), ("0.0", "7, -1, -1", False)],
)
def test_the_total_is_the_last_running_sum(start, places, read):
    """Not where a row may have no place, and not where the sums start at another number or run to the front."""
    text, mine, own = made(TOTALS.format(start, places))
    x = np.random.default_rng(0).random((3, 8))
    expected = np.zeros((3, 8)), np.zeros(3)
    own(x, *expected)
    for a, b in zip(mine(x, np.zeros((3, 8)), np.zeros(3)), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    assert ("sums[:, -1]" in text) == read, text
