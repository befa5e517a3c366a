"""Threads that meet at a cell are refused; those that do not are not."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from kraise.options import Options
from tests.checks import agrees, verified
from tests.raising.agree import agree, refusal

HEAD = "def f(x, y, k):\n i = cuda.grid(1)\n n = len(x)\n if i < n and k[0] >= 0:\n  "
FINE = {
    "own cell": "y[i] += x[i]\n  y[i] = y[i] * 2\n  if y[i] > 1: y[i] = -y[i]",
    "another array": "if i > 0: y[i] = x[i - 1]",
    "even writes, odd reads": "if 2 * i + 1 < n: x[2 * i] = x[2 * i + 1] + y[i]",
    "an atomic": "cuda.atomic.add(y, 0, x[i])",
    "an atomic by index": "cuda.atomic.max(y, k[i], x[i])",
    "one thread": "if i == 1: y[0] = x[i]",
    "one value": "y[0] = 1.0",
    "one number twice": "y[i] = 1.0\n  y[n - 1 - i // 2] = 1.0",
    "stride of two": "if i < n // 2:\n   y[2 * i] = x[i]\n   y[2 * i + 1] = -x[i]",
}


@pytest.mark.parametrize("name", FINE)
def test_fine(name):
    agree(HEAD + FINE[name])


RACES = {
    "a neighbour is read": ("if i < n - 1: y[i] = y[i + 1] + x[i]", "KR201"),
    "the previous is read": ("if i > 0: y[i] = y[i - 1]", "KR201"),
    "the mirror": ("x[i] = x[n - 1 - i]", "KR201"),
    "two to one": ("y[i // 2] = x[i]", "KR201"),
    "all to one": ("y[0] = x[i]", "KR201"),
    "overlapping pairs": ("if i < n - 1:\n   for j in range(2): y[i + j] = x[i]", "KR201"),
    "scatter": ("y[k[i]] = x[i]", "KR202"),
    "read beside an atomic": ("cuda.atomic.add(y, 0, x[i])\n  x[i] = y[0]", "KR201"),
    "store beside an atomic": ("cuda.atomic.add(y, i // 2, x[i])\n  y[i] = 1.0", "KR201"),
    "two atomics": ("cuda.atomic.add(y, 0, x[i])\n  cuda.atomic.max(y, 0, x[i])", "KR201"),
    "update of one cell": ("y[0] += x[i]", "KR201"),
    "one thread writes what all read": ("if i == 0: y[0] = x[1]\n  x[i] = y[0]", "KR201"),
    "a loop over the others": ("for j in range(n): y[j] += x[i]", "KR201"),
    "another number": ("y[i] = 1.0\n  y[n - 1 - i // 2] = 2.0", "KR201"),
    "another zero": ("y[i] = 0.0\n  y[n - 1 - i // 2] = -0.0", "KR201"),
    "a race behind data": ("if x[i] > 0: y[0] = x[i]", "KR201"),
}


@pytest.mark.parametrize("name", RACES)
def test_refused(name):
    body, code = RACES[name]
    assert refusal(HEAD + body) == code


def test_two_dimensions():
    grid = "def f(A):\n i, j = cuda.grid(2)\n if {}: A[i, j] = A[{}]"
    agree(grid.format("j < i and i < len(A)", "j, i"))
    assert refusal(grid.format("j < len(A) and i < len(A)", "j, i")) == "KR201"
    assert refusal(grid.format("j <= i and i > 0 and i < len(A)", "j, i - 1")) == "KR201"


def test_a_row_for_each_thread():
    agree(
        "def f(A, y):\n i = cuda.grid(1)\n if i < len(A):\n  for j in range(1, len(A)): A[i, j] += A[i, j - 1]\n  y[i] = A[i, 0]"
    )
    assert (
        refusal("def f(A):\n i = cuda.grid(1)\n if i < len(A):\n  for j in range(1, len(A)): A[j, i] += A[j - 1, j]")
        == "KR201"
    )


def test_declared_injective():
    source = "def f(x, y, p):\n i = cuda.grid(1)\n if i < len(x): y[p[i]] = x[i]"
    assert refusal(source) == "KR202"
    assert agree(source, assume=("p is injective",)).assumptions
    assert refusal(source, assume=("x is injective",)) == "KR202"
    half = "def f(x, y, p):\n i = cuda.grid(1)\n if i < len(x): y[p[i // 2]] = x[i]"
    assert refusal(half, assume=("p is injective",)) == "KR202"


@pytest.mark.parametrize(
    "body",
    [
        "y[3 * p[i] + 2] = x[i]",
        "y[p[i] + 4] = y[p[i] + 4] + x[i]",
        "y[p[2 * i + 1]] = x[i]",
    ],
)
def test_what_an_injective_array_holds_is_different_for_different_threads(body):
    source = f"def f(x, y, p):\n i = cuda.grid(1)\n if i < len(x): {body}"
    assert refusal(source) is not None and accepted(source, "p is injective")


@pytest.mark.parametrize(
    "body",
    [
        "y[p[i] // 2] = x[i]",
        "y[p[i] * p[i]] = x[i]",
        "y[p[i] + i] = x[i]",
        "y[p[i]] = y[p[i] + 1] + x[i]",  # reads what another thread writes
        "y[p[p[i] // 2]] = x[i]",
        "y[q[p[i]]] = x[i]",
    ],
)
def test_what_an_injective_array_does_not_say(body):
    source = f"def f(x, y, p, q):\n i = cuda.grid(1)\n if i < len(x): {body}"
    assert refusal(source, assume=("p is injective",)) in ("KR201", "KR202")


def test_an_array_that_was_written_is_not_what_was_declared():
    source = "def f(x, y, p):\n i = cuda.grid(1)\n if i < len(x):\n  p[i] = 0\n  y[p[i]] = x[i]"
    assert refusal(source, assume=("p is injective",))


def accepted(source, assumption):
    done = pipeline.translate("from numba import cuda\n@cuda.jit\n" + source, "k.py", Options(assume=(assumption,)))
    return done.text and assumption in done.text


FACTORS = {
    "a column below its pivot": ("n, k", "if i > k and i < n:\n  A[i * n + k] /= A[k * n + k]", True),
    "a row of another": ("n, k", "if i < n and i != k:\n  A[i * n + k] = A[i * n + k] - A[k * n + k]", True),
    "its own pivot, too": ("n, k", "if i >= k and i < n:\n  A[i * n + k] /= A[k * n + k]", False),
    "another stride": ("n, m, k", "if i > k and i < n:\n  A[i * n + k] /= A[k * m + k]", False),
    "another column": ("n, k, l", "if i > k and i < n:\n  A[i * n + k] /= A[k * n + l]", False),
}


@pytest.mark.parametrize("name", FACTORS)
def test_a_size_that_multiplies_both_sides(name):
    """``i * n + k`` and ``k * n + k`` are one cell where i is k, if n is 1 at least."""
    from kraise import pipeline

    params, body, apart = FACTORS[name]
    source = f"from numba import cuda\n@cuda.jit\ndef f(A, {params}):\n i = cuda.grid(1)\n {body}\n"
    done = pipeline.translate(source, "a.py")
    assert (done.raised == ("f",)) is apart, done.diagnostics
    assert apart or {d.code for d in done.diagnostics} == {"KR201"}


TOLD = "def f(x, y, m):\n i, j = cuda.grid(2)\n if i < len(x) and j < m:\n  for r in range(2):\n   "


def test_what_the_cell_tells():
    """All j store to a cell; it says of which i and r the value is."""
    agree(TOLD.replace("len(x)", "len(x) // 2") + "y[2 * i + r] = x[i] + r")
    assert refusal(TOLD + "y[i + r] = x[i]") == "KR201"
    assert refusal(TOLD + "y[i // 2] = x[i]") == "KR201"


PARTS = """__global__ void f(const int *x, int *h, int n) {{
  int t = threadIdx.x, i = blockIdx.x * 16 + t;
  __shared__ int s[16];
  s[t] = t < 8 ? 0 : 100;
  __syncthreads();
  if (i < n) {{ int b = {place}; atomicAdd(&s[b], 2); atomicMin(&s[{other}], t); }}
  __syncthreads();
  if (t < 8) {{ atomicAdd(&h[t], s[t]); atomicAdd(&h[t + 8], s[t + 8]); }}
}}"""


@pytest.mark.parametrize(
    ("place", "other", "apart"),
    [
        ("x[i] & 7", "8 + b", True),
        ("(unsigned)x[i] % 5u", "15 - b", True),
        ("x[i] & 7", "7 + b", False),
        ("x[i] % 8", "8 + b", False),  # below zero, too
        ("x[i] & 15", "15 - b", False),
    ],
)
def test_parts_of_an_array_that_data_do_not_leave(place, other, apart):
    done = pipeline.translate(PARTS.format(place=place, other=other), "f.cu")
    assert bool(done.text) is apart, done.diagnostics
    if not apart:
        assert {d.code for d in done.diagnostics} == {"KR201"}
        return
    request = pipeline.Request(shapes={"x": (40,), "h": (16,)}, values={"n": 40}, grid=(3,), block=(16,))
    reports, findings = verified(done, request)
    assert not findings and reports and not [r for r in reports if r.failures]


DIGITS = """
from numba import cuda

@cuda.jit
def f(x, y, C):
    z = cuda.blockIdx.z
    t = cuda.threadIdx.x
    if t < y.shape[2]:
        y[z // C, z % {}, t] = 2.0 * x[z // C, z % C, t]
"""


def test_a_quotient_and_its_remainder_are_one_index():
    done = pipeline.translate(DIGITS.format("C"), "f.py")
    request = pipeline.Request(
        shapes={"x": (2, 3, 4), "y": (2, 3, 4)}, values={"C": 3}, grid=(1, 1, 6), block=(4, 1, 1), gradients=False
    )
    agrees(done, request)
    apart = pipeline.translate(DIGITS.format("(C - 1)"), "f.py")
    assert {d.code for d in apart.diagnostics} == {"KR201"}


@pytest.mark.parametrize("place", ["t - t % 4 + 3 - t % 4", "t < 16 ? t + 16 : t - 16", "t"])
def test_a_barrier_that_is_missing_is_named(place):
    """The stores were, which meet in no block of the size that the array has."""
    body = f"""__shared__ int s[32];
      int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
      s[{place}] = i < n ? x[i] : 0;
      BARRIER
      if (i < n) y[i] = s[31 - t];"""
    source = f"__global__ void k(const int *x, int *y, int n) {{ {body} }}"
    (found,) = pipeline.translate(source.replace("BARRIER", ""), "k.cu").diagnostics
    assert found.code == "KR201" and "no barrier between" in found.reason and "__syncthreads" in found.hint
    assert pipeline.translate(source.replace("BARRIER", "__syncthreads();"), "k.cu").text


def test_the_thread_that_a_guard_picks_is_not_said_to_differ():
    source = """__global__ void k(const float *x, float *y) {
      if (threadIdx.x == 0) y[blockIdx.x / 2 + threadIdx.y] = x[blockIdx.x];
    }"""
    (found,) = pipeline.translate(source, "k.cu").diagnostics
    assert found.code in ("KR201", "KR202") and "differ in thread_x" not in found.reason
