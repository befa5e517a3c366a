"""Stores to neighbouring cells by one thread: one store where they are one function, k stores where not."""

import pytest

from kraise import pipeline
from kraise.ir import equations as eq
from kraise.ir.types import FLOAT32, INT
from kraise.ir.walk import substitute
from kraise.raising.writes.interleaved import _is_same
from tests.checks import agrees, verified
from tests.raising.agree import agree

HEAD = (
    "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { "
)
ONE = {
    "a vector": ("((float4 *)y)[i] = ((const float4 *)x)[i];", "y.at[: 4 * n].set(x[: 4 * n])"),
    "unrolled": ("y[2 * i] = x[2 * i] * x[2 * i]; y[2 * i + 1] = x[2 * i + 1] * x[2 * i + 1];", "y.at[: 2 * n].set("),
    "moved": ("y[2 * i] = x[2 * i + 3]; y[2 * i + 1] = x[2 * i + 4];", "y.at[: 2 * n].set(x[3 : 2 * n + 3])"),
    "the number of the store": (
        "y[2 * i] = x[2 * i] + 2 * i; y[2 * i + 1] = x[2 * i + 1] + (2 * i + 1);",
        "jnp.arange(2 * n, dtype",
    ),
    "under guards of their own": (
        "if (2 * i < n) y[2 * i] = x[2 * i]; if (2 * i + 1 < n) y[2 * i + 1] = x[2 * i + 1];",
        "y.at[:n].set(x[:n])",
    ),
    "added up": ("y[2 * i] += x[2 * i]; y[2 * i + 1] += x[2 * i + 1];", "y.at[: 2 * n].add(x[: 2 * n])"),
}
SEVERAL = {
    "other functions": "y[2 * i] = x[2 * i]; y[2 * i + 1] = 2 * x[2 * i + 1];",
    "turned round": "y[2 * i] = x[2 * i + 1]; y[2 * i + 1] = x[2 * i];",
    "a gap": "y[3 * i] = x[3 * i]; y[3 * i + 1] = x[3 * i + 1];",
    "other conditions": "y[2 * i] = x[2 * i]; if (x[i] > 0) y[2 * i + 1] = x[2 * i + 1];",
    "what was stored is read": "y[2 * i] = x[2 * i]; y[2 * i + 1] = y[2 * i];",
    "guards that do not move on": "if (2 * i < n) y[2 * i] = x[2 * i]; if (2 * i < n - 1) y[2 * i + 1] = x[2 * i];",
    "other numbers": "y[2 * i] = 0; y[2 * i + 1] = x[0] < 3 ? 7 : 7;",
    "the same cell twice": "y[2 * i] = x[2 * i]; y[2 * i] = x[2 * i + 1];",
}


def _checked(body):
    done = pipeline.translate(HEAD + body + " } }", "f.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    for n in (1, 5):
        request = pipeline.Request(shapes={"x": (4 * n + 3,), "y": (4 * n + 3,)}, values={"n": n})
        agrees(done, request)
    return done.text


@pytest.mark.parametrize("name", ONE)
def test_one_store(name):
    body, form = ONE[name]
    text = _checked(body)
    assert form in text and text.count(".at[") == 1, text


@pytest.mark.parametrize("name", SEVERAL)
def test_several_stores(name):
    text = _checked(SEVERAL[name])
    if "jnp.stack" in text:  # values side by side, not one function of the place
        assert (
            name in ("other functions", "turned round", "what was stored is read") and text.count("\n    y[2 * i") == 1
        ), text
    else:
        assert "y.at[: 2 * n]" not in text and "y.at[: 3 * n]" not in text, text


@pytest.mark.parametrize(
    ("body", "stacks"),
    [
        ("float t = y[2 * i]; y[2 * i] = y[2 * i + 1] * x[i]; y[2 * i + 1] = t - x[i];", True),
        ("y[3 * i + 2] = x[i]; y[3 * i] = 2 * x[i]; y[3 * i + 1] = x[i] * x[i];", True),
        ("y[3 * i + 2] = x[i]; y[3 * i] = 2 * x[i];", False),  # a gap
        ("y[2 * i] = x[i]; y[2 * i + 1] = 3.0f;", True),  # measured: a twentieth of the time of two updates
        ("y[2 * i] = 2.0f; y[2 * i + 1] = 3.0f;", False),  # numbers alone
        ("y[2 * i] = x[i]; if (x[i] > 0) y[2 * i + 1] = x[i] * x[i];", False),
        ("y[2 * i] = x[i]; y[2 * i + 1] = x[i] + y[2 * n];", False),  # reads what others leave alone, in another row
    ],
)
def test_values_side_by_side(body, stacks):
    assert ("jnp.stack" in _checked(body)) == stacks


def test_columns_in_rounds():
    """Each round loads columns that are not stored to yet."""
    source = """__global__ void f(float3 *p, const float3 *x, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int s = 0; s < k; s++) {
        float t = p[i].x; p[i].x = p[i].y * 0.5f; p[i].y = p[i].z + x[i].x; p[i].z = t;
    }
}"""
    done = pipeline.translate(source, "f.cu")
    assert done.text and "jnp.stack" in done.text, done.diagnostics
    request = pipeline.Request(shapes={"p": (5, 3), "x": (5, 3)}, values={"n": 5, "k": 3})
    agrees(done, request)


def test_rows_that_a_guard_keeps_whole():
    body = "if (4 * i + 3 < n) *(float4 *)(y + 4 * i) = *(const float4 *)(x + 4 * i);"
    text = _checked(body)
    assert text.count(".at[") == 1 and "4 * (n // 4)" in text and "n - 4" not in text, text


def test_a_loop_of_the_source_may_have_any_name():
    loop = "float {0} = 0; for (int element = 0; element < n; element++) {0} += x[element] * (element + {1});"
    text = _checked(f"{loop.format('a', 2)} {loop.format('b', 3)} y[2 * i] = a; y[2 * i + 1] = b;")
    assert "element_2" in text or text.count(".at[") == 2, text


BLOCKS = """
__global__ void f(const float *x, float *y) {
  __shared__ float s[16];
  int t = threadIdx.x, first = 16 * blockIdx.x;
  s[2 * t] = x[first + 2 * t];
  s[2 * t + 1] = x[first + 2 * t + 1];
  __syncthreads();
  STORES
}
"""
TURNED = {
    "two neighbours": ("y[first + 2 * t] = s[15 - 2 * t]; y[first + 2 * t + 1] = s[14 - 2 * t];", True),
    "two halves": ("y[first + t] = s[15 - t]; y[first + t + 8] = s[7 - t];", True),
    "other halves": ("y[first + t] = s[15 - t]; y[first + t + 8] = 2 * s[7 - t];", True),  # a stack of the two
    "halves with cells between": ("y[first + t] = s[15 - t]; y[first + t + 9 - 2 * (t / 7)] = s[7 - t];", False),
}


@pytest.mark.parametrize("name", TURNED)
def test_rows_of_a_block(name):
    stores, one = TURNED[name]
    done = pipeline.translate(BLOCKS.replace("STORES", stores), "f.cu")
    if name == "halves with cells between":  # the last two threads meet in a cell
        assert done.text is None or done.text.count("y.at[") + done.text.count("y2.at[") > 1
        return
    assert done.text and not done.diagnostics, done.diagnostics
    assert (done.text.count(".at[") == 1) == one, done.text
    request = pipeline.Request(shapes={"x": (48,), "y": (48,)}, grid=(3,), block=(8,))
    agrees(done, request)


def test_what_a_guard_alone_reads():
    """The stores behind an in-place one ask for its cells in their conditions only."""
    agree(
        "def f(x, y, n):\n  i = cuda.grid(1)\n  if i < n:\n    if y[2 * i] < 0 or y[2 * i] <= x[i]:\n"
        "      y[2 * i] += 1\n      y[2 * i + 1] = 3\n    else:\n      y[2 * i] = x[i]"
    )


def test_running_values_up_to_the_same_place():
    x = eq.Read(eq.Version("x", 0), (eq.Index("t", INT),), FLOAT32)
    nothing = eq.Const(0.0, FLOAT32)

    def scan(name, cells, reverse=False):
        axis = eq.Axis(name, eq.Const(0, INT), eq.Const(cells, INT))
        body = substitute(x, {eq.Index("t", INT): eq.Index(name, INT)})
        return eq.Scan("add", axis, body, nothing, True, reverse, FLOAT32)

    assert _is_same(scan("u", 8), scan("t", 8)) and _is_same(scan("u", 8), scan("t", 4))
    assert not _is_same(scan("u", 4), scan("t", 8))  # it ends before
    assert _is_same(scan("u", 8, True), scan("t", 8, True))
    assert not _is_same(scan("u", 8, True), scan("t", 4, True))  # begins elsewhere


TILE = """
from numba import cuda

@cuda.jit
def f(a, y, n, m, c):
    j, i = cuda.grid(2)
    if i < n and j < m:
        y[2 * i, 2 * j] = a[2 * i, 2 * j] + c * y[2 * i, 2 * j]
        y[2 * i, 2 * j + 1] = a[2 * i, 2 * j + 1] + c * y[2 * i, 2 * j + 1]
        y[2 * i + 1, 2 * j] = a[2 * i + 1, 2 * j] + c * y[2 * i + 1, 2 * j]
        y[2 * i + 1, 2 * j + 1] = a[2 * i + 1, 2 * j + 1] + c * y[LAST]
"""


@pytest.mark.parametrize(("last", "one"), [("2 * i + 1, 2 * j + 1", True), ("2 * i + 1, 2 * j", False)])
def test_rows_of_a_threads_cells(last, one):
    """Each cell is made of its own value before: one store; where one is made of its neighbour's, more."""
    done = pipeline.translate(TILE.replace("LAST", last), "f.py")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    request = pipeline.Request(shapes={"a": (6, 4), "y": (6, 4)}, values={"n": 3, "m": 2, "c": 0.5})
    reports, problems = verified(done, request)
    assert not problems and all(r.ok for r in reports), [r.failures for r in reports]
    assert (done.text.count(".set(") == 1) == one, done.text
