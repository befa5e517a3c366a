"""An index taken apart by division, and flat subscripts taken apart by the ranges of their indices."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.verify.load import load_module
from tests.checks import agrees
from tests.raising.agree import agree, raised, refusal, write


def test_row_and_column():
    source = "def f(A, x, n):\n i = cuda.grid(1)\n if i < n * n:\n  r = i // n\n  c = i % n\n  {}"
    kernel = agree(source.format("A[r, c] = x[c] * x[r]"), sizes=(1, 2))
    assert {a.name for a in write(kernel).axes} == {"r", "c"}
    agree(source.format("if r > 0: A[r, c] = x[c]"), sizes=(1, 2))
    assert refusal(source.format("if c < r: x[r] = A[r, c]")) == "KR201"


def test_by_a_number():
    source = "def f(h, x, n):\n i = cuda.grid(1)\n if i < 2 * n:\n  h[i] = x[i // 2] + i % 2"
    agree(source, sizes=(1, 2, 3))


@pytest.mark.parametrize("at", ["i * 2 + j", "i + n * j", "2 * i + (1 - j)"])
def test_flat(at):
    agree(f"def f(h, x, n):\n i = cuda.grid(1)\n if i < n:\n  for j in range(2): h[{at}] += x[i] * h[{at}] + j")


@pytest.mark.parametrize("at", ["i + j", "i * 2 + j * 2"])
def test_digits_that_overlap_are_refused(at):
    source = f"def f(h, x, n):\n i = cuda.grid(1)\n if i + 2 < n:\n  for j in range(2): h[{at}] = x[i]"
    assert refusal(source) == "KR201"


@pytest.mark.parametrize("at", ["i * 2 + j", "2 * j + i"])
def test_a_pitch_that_may_be_too_small_is_refused_or_checked(at):
    source = f"def f(h, x, n, m):\n i = cuda.grid(1)\n if i < n:\n  for j in range(m): h[{at}] = x[i]"
    try:
        assert raised(source).checks
    except Refused as refused:
        assert refused.diagnostics[0].code == "KR201"


@pytest.mark.parametrize(
    "at", ["(i + 1) % n", "(2 * i) % n", "i // 2", "n - 1 - i", "min(i + 1, n - 1)", "max(i - 1, 0)"]
)
def test_sequential_stores_and_reads(at):
    agree(f"def f(x, y, n):\n for i in range(n):\n  y[{at}] = x[i]")
    agree(f"def f(x, y, n):\n for i in range(n):\n  y[i] = y[{at}] + x[i]")


_APART = """
__global__ void f(int n, int w, int h, int c, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int iw = i % w, ih = i / w % h, ic = i / (w * h) % c, b = i / (w * h * c);
  y[iw + w * (ih + h * (AT))] = x[i];
}"""


def test_an_index_taken_apart_and_put_together_again():
    done = pipeline.translate(_APART.replace("AT", "ic + c * b"), "k.cu")
    assert done.text is not None and "y.at[:n].set(x[:n])" in done.text


@pytest.mark.parametrize("at", ["ic + b", "2 * ic + c * b"])
def test_digits_put_together_in_a_wrong_way_are_refused(at):
    done = pipeline.translate(_APART.replace("AT", at), "k.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202")


@pytest.mark.parametrize("at", ["ic + h * b", "c * ic + b"])
def test_digits_put_together_in_another_way_ask_for_rows_that_are_long_enough(at):
    """``c * ic + b`` takes each place once if there are no more b than c: checked."""
    done = pipeline.translate(_APART.replace("AT", at), "k.cu")
    assert done.text is not None and "rows would overlap" in done.text
    sizes = {"w": 2, "h": 3, "c": 3}
    for n in (54, 31):
        request = pipeline.Request(shapes={"x": (n,), "y": (90,)}, values={"n": n, **sizes}, gradients=False)
        agrees(done, request)
    found: dict = {}
    exec(done.text, found)
    with pytest.raises(ValueError, match="rows would overlap"):  # h < c, or four b beside two c
        found["f"](36, 2, 2 if at == "ic + h * b" else 3, 3 if at == "ic + h * b" else 2, jnp.ones(36), jnp.ones(90))


def test_a_grid_stride_loop_over_digits():
    body = "r = k % n; h[r * 2 + k // n] = x[r]"
    kernel = agree(f"def f(h, x, n, m):\n for k in range(cuda.grid(1), n * 2, cuda.gridsize(1)): {body}")
    assert "%" not in " ".join(kernel.equations)


def test_a_digit_that_nothing_bounds_is_a_gather():
    agree("def f(y, x, z, n, m):\n i = cuda.grid(1)\n if i < n and m > 0: y[i] = x[i] + z[i // n % n]")


STRIDED = "def f(x, y, w, m, n):\n for i in range(cuda.grid(1), {}, cuda.gridsize(1)):\n  {}"


@pytest.mark.parametrize(
    ("end", "body"),
    [
        ("n * m", "A[i // m, i % m] = x[i % m]"),
        ("n * m", "if i % m > 0: A[i // m, i % m] += x[i // m]"),
        ("n", "y[i] = x[i // 3] * (i % 3)"),
    ],
)
def test_an_index_of_a_grid_stride_loop_is_taken_apart(end, body):
    """The loop's index may have the name of its thread's."""
    head = "def f(A, x, m, n):" if "A[" in body else "def f(x, y, n):"
    agree(STRIDED.format(end, body).replace("def f(x, y, w, m, n):", head), sizes=(1, 2, 3))


def test_a_race_under_a_grid_stride_loop_is_seen():
    body = "A[i % m, 0] = x[i // m]"
    assert refusal(STRIDED.format("n * m", body).replace("def f(x, y, w, m, n):", "def f(A, x, m, n):")) == "KR201"


PAIRS = """
def f(h, q, n):
    t = cuda.grid(1)
    if t < n:
        low = {low}
        a = 2 * (t - low) + low
        u = h[a]
        v = h[a + {distance}]
        h[a] = u + v
        h[a + {distance}] = u - v
"""


@pytest.mark.parametrize(("low", "distance"), [("t % 2", "2"), ("t & 1", "2"), ("t % q", "q"), ("t & (q - 1)", "q")])
def test_butterflies(low, distance):
    """``q`` rows of pairs, the last one perhaps begun only; a mask asks for a power of two."""
    kernel = pipeline.translate("from numba import cuda\n@cuda.jit" + PAIRS.format(low=low, distance=distance), "f.py")
    assert kernel.text and ("arange(n)" in kernel.text) == (distance == "2"), kernel.diagnostics
    assert ("q & q - 1" in kernel.text) == ("q - 1" in low)


@pytest.mark.parametrize(("low", "distance"), [("t % q", "1"), ("t & q", "q"), ("t % q", "2 * q")])
def test_pairs_that_overlap_are_refused(low, distance):
    assert refusal(PAIRS.format(low=low, distance=distance)) == "KR201"


def test_pairs_too_far_apart_for_their_rows_are_refused_or_checked():
    kernel = raised(PAIRS.format(low="t % q", distance="n"))
    assert any("rows would overlap" in message for _, message in kernel.checks)


def test_a_row_that_is_begun_need_not_be_there_as_a_whole():
    """The array ends with the last pair, within its row of pairs."""
    import jax.numpy as jnp

    ordered = PAIRS.format(low="t % q", distance="q").split("        h[a] =")[0]
    ordered += "        if u > v:\n            h[a] = v\n            h[a + q] = u\n"
    done = pipeline.translate("from numba import cuda\n@cuda.jit" + ordered, "f.py")
    assert done.text, done.diagnostics
    h = np.array([5, 1, 9, 4, 3, 7, 8, 2, 6, 0], np.float32)  # pairs (0, 3), (1, 4), (2, 5) and (6, 9)
    got = load_module(done.text).f(jnp.asarray(h), 3, 4)
    np.testing.assert_array_equal(got, [4, 1, 7, 5, 3, 9, 0, 2, 6, 8])
