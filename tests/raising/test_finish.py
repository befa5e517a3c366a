"""Domains: boxes and what they do not say, covers, merged digits, decided selects, writes that nothing sees."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, topological
from tests.checks import agrees
from tests.hostile.judge import judge
from tests.raising.agree import agree, kinds, statements, text, write

LOOP = "def f(x, y, q):\n for i in range(len(x)):\n  if {}: y[i] = x[i] + q * 0"
BOXES = ["i > 0", "i < q", "i >= q and i < len(x) - 1", "2 * i < len(x)", "i % 2 == 0", "i % 3 == 1", "i % 2 != 0", "i == 2", "i != 0",
         "not i < 2", "i != len(x) - 1", "0 < i and i != 1", "i < len(x) and i < 3", "3 * i > 4", "min(i, 2) == i or i < 0"]  # fmt: skip
PLAIN = BOXES[:10]


@pytest.mark.parametrize("guard", BOXES)
def test_guards(guard):
    kernel = agree(LOOP.format(guard))
    where = write(kernel).where
    assert where is None or not free_indices(where) or guard not in PLAIN


@pytest.mark.parametrize(
    "guard", ["x[i] > 0", "i > 0 and x[i] > 0", "i % 2 == 0 and i > 0 and x[i - 1] > 0", "i == 1 or i == 3"]
)
def test_what_a_box_does_not_say_stays(guard):
    assert write(agree(LOOP.format(guard))).where is not None


TRIANGLES = [
    "j < i",
    "j <= i",
    "i + j < len(A)",
    "j == i",
    "abs(i - j) <= 1",
    "j != i",
    "j >= i and j < i + 2",
    "i < 2 and j > i",
]


@pytest.mark.parametrize("guard", TRIANGLES)
def test_two_indices(guard):
    agree(f"def f(A, B):\n for i in range(len(A)):\n  for j in range(len(A)):\n   if {guard}: B[i, j] = A[j, i] + 1")


@pytest.mark.parametrize(
    "step", ["range(1, len(x), 2)", "range(len(x) - 1, -1, -2)", "range(q, len(x), 3)", "range(0, 2 * q, 2)"]
)
def test_steps(step):
    agree(f"def f(x, y, q):\n for i in {step}:\n  if i < len(x): y[i] = x[i] + q * 0")


def test_covers():
    assert write(agree("def f(x, y):\n for i in range(len(y)):\n  y[i] = x[i]")).covers
    assert not write(agree("def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i]")).covers
    assert not write(agree("def f(x, y):\n for i in range(1, len(y)):\n  y[i] = x[i]")).covers
    assert not write(agree("def f(x, y):\n for i in range(len(y)):\n  if x[i] > 0: y[i] = x[i]")).covers
    assert not write(agree("def f(A):\n for i in range(len(A)):\n  A[i, i] = 0")).covers
    assert write(
        agree("def f(A, B):\n for i in range(A.shape[0]):\n  for j in range(A.shape[1]):\n   A[i, j] = B[j, i]")
    ).covers


def test_digits_are_merged():
    kernel = agree(
        "def f(h, x, n):\n i = cuda.grid(1)\n if i < n:\n  for j in range(2):\n   h[2 * i + j] = x[0] * 0 + 1.5"
    )
    assert len(write(kernel).axes) == 1 or write(kernel).view


@pytest.mark.parametrize("at", ["2 * i + j", "2 * i + 1 - j", "i + j * n", "j + 2 * i"])
def test_digits_in_any_order(at):
    agree(f"def f(h, x, n):\n for i in range(n):\n  for j in range(2):\n   h[{at}] = x[i] + j")


def test_digits_that_are_none():
    assert "Fold" in kinds(agree("def f(h, x, n):\n for i in range(n):\n  for j in range(2):\n   h[i + j] = x[i] + j"))
    agree("def f(h, x, n):\n for i in range(n // 2):\n  for j in range(3):\n   h[2 * i + j] += x[i] + j")


def selects(kernel):
    roots = [s.value for s in statements(kernel.body) if isinstance(s, eq.Write)]
    return sum(isinstance(n, eq.Op) and n.name == "select" for n in topological(roots))


def test_decided_selects():
    kernel = agree(
        "def f(x, y):\n for i in range(len(x)):\n  a = 0.0\n  if x[i] > 0: a = x[i]\n  if x[i] > 0: y[i] = a * 2"
    )
    assert selects(kernel) == 0
    kernel = agree("def f(x, y):\n for i in range(len(x)):\n  a = 0.0\n  if i > 1: a = x[i]\n  if i > 2: y[i] = a * 2")
    assert selects(kernel) == 0
    kernel = agree("def f(x, y):\n for i in range(len(x)):\n  a = 0.0\n  if i > 2: a = x[i]\n  if i > 1: y[i] = a * 2")
    assert selects(kernel) == 1


def test_writes_that_nothing_sees():
    assert len(agree("def f(x, y):\n for i in range(len(x)):\n  y[i] = 1.0\n  y[i] = x[i]").body) == 1
    assert "1.0" in text(agree("def f(x, y):\n for i in range(len(x)):\n  y[i] = 1.0\n  if x[i] > 0: y[i] = x[i]"))
    agree("def f(x, y):\n for i in range(len(x)):\n  y[i] = 1.0\n for i in range(1, len(x)):\n  y[i] = x[i]")
    agree("def f(x, y):\n for i in range(len(x)):\n  y[i] = 1.0\n  x[i] = y[i]\n  y[i] = 2.0")


TILE = """from numba import cuda, float64
@cuda.jit
def f(x, y, n):
    i = cuda.grid(1)
    tile = cuda.shared.array(8, float64)
    lane = cuda.threadIdx.x
    tile[lane] = x[i % n] if i < n else 0.0
    cuda.syncthreads()
    for j in range(3):
        u = 0.25 * (tile[lane ^ 1] + tile[7 - lane])
        cuda.syncthreads()
        tile[lane] = u
        cuda.syncthreads()
    if i < n:
        y[i] = 2.0 * x[i]{}
"""


@pytest.mark.parametrize("used", ["", " + tile[lane]"])
def test_a_tile_that_nothing_reads_in_the_end_is_not_filled(used):
    done = pipeline.translate(TILE.format(used), "f.py")
    assert done.text is not None and ("tile" in done.text.split('"""')[-1]) is bool(used)
    sizes = [0, 11] if not used else [11]
    for n in sizes:
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}, values={"n": n}, grid=2, block=8, thorough=False))


def test_an_index_with_one_value():
    agree("def f(x, y, n):\n for i in range(n - 1, n):\n  if i >= 0: y[i] = x[i]")
    agree("def f(x, y):\n a = 0.0\n for i in range(len(x)):\n  a += x[i]\n  if i == 1: y[i] = a")


IDLE = """def f(x, y):
 for i in range(len(x)):
  v = x[i]
  for k in range(4):
   v = min(v * v, x[i])
   if v < 0.5:
    break
  y[i] = {}"""


@pytest.mark.parametrize("value, folds", [("x[i] + 1", 0), ("v", 1), ("x[i] if v > 1 else 0.0", 1)])
def test_a_loop_whose_last_values_nothing_reads_is_gone(value, folds):
    kernel = agree(IDLE.format(value))
    assert sum(isinstance(s, eq.Fold) for s in kernel.body) == folds


STEPPED = """def f(x):
 for j in range({}):
  for i in range(len(x) - 1):
   if {}: x[i] = 0.5 * (x[i + 1] + j)"""


@pytest.mark.parametrize(
    "steps, condition, masked",
    [
        ("1, len(x), 2", "True", False),
        ("0, len(x), 4", "j % 2 == 0", False),
        ("1, len(x), 3", "j % 2 == 0", True),
        ("0, len(x), 2", "j % 4 == 0", True),
    ],
)
def test_what_the_steps_of_a_loop_around_say_is_no_condition(steps, condition, masked):
    kernel = agree(STEPPED.format(steps, condition))
    assert (write(kernel).where is not None) == masked


ONE = """__global__ void k(const int *x, int *y, int n, int m) {{
  __shared__ int s[8];
  int t = threadIdx.x, i = blockIdx.x * 8 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 8; d *= 2) {{ int u = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += u; __syncthreads(); }}
  if ({guard}) y[{place}] = s[t];
}}"""
STORES = {
    "the last one": ("i == n - 1", "0", "right"),
    "from the end": ("n - i == m", "0", "right"),
    "one of each block": ("t == m % 8", "blockIdx.x", "right"),
    "of each block, one or none": ("t == m", "blockIdx.x", "right"),
    "of all, one or none": ("i == m", "1", "right"),
    "two": ("i >= n - 2", "0", "refused KR201"),
    "one of each block, in one place": ("t == m", "0", "refused KR201"),
    "by half": ("i / 2 == m", "0", "refused KR201"),
}


@pytest.mark.parametrize("name", STORES)
def test_one_thread_of_many_stores(name):
    guard, place, expected = STORES[name]
    source = ONE.format(guard=guard, place=place)
    for m in (3, 9) if expected == "right" else (3,):
        assert judge(source, "cu", f"x=i[30]<-9:9 y=i[4] n=30 m={m}", [((4,), (8,))]) == expected
