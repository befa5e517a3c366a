"""Atomics whose result is unused: what becomes of them, and those whose order would show."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = "__global__ void f(const unsigned *x, const int *b, unsigned *y, int *s, int n) {\n"
HEAD += "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {\n        "


CAS = "unsigned old = y[b[i]], was; do { was = old; old = atomicCAS(&y[b[i]], was, NEW); } while (was != old);"


def translated(statement):
    return pipeline.translate(f"{HEAD}{statement}\n    }}\n}}\n", "f.cu")


@pytest.mark.parametrize(
    "statement, form",
    [
        ("atomicInc(&y[b[i]], 0xffffffff);", "].add(1)"),
        ("atomicInc(&y[b[i]], UINT_MAX);", "].add(1)"),
        ("atomicDec(&y[b[i]], 0xffffffffu);", "].add("),
        ("atomicExch(&s[b[i]], n + 1);", "].set(n + 1)"),
        ("s[b[i]] = 7;", "].set(7)"),
        ("atomicOr(&y[b[i]], x[i]);", ".max(bits)"),
        ("atomicAnd(&y[b[i]], x[i]);", ".min(bits)"),
        ("atomicXor(&y[b[i]], x[i]);", ".add(bits)"),
        (CAS.replace("NEW", "was * x[i]"), "].multiply(x[:n]"),
        ("atomicAdd((unsigned *)&s[b[i]], x[i]);", ".add("),
        ("atomicXor(reinterpret_cast<unsigned *>(s) + b[i], x[i]);", ".add(bits)"),
        ("if (b[i] > 0) atomicAnd(y, x[i]);", "jnp.bitwise_and.reduce("),
        ("atomicOr(y, x[i]);", "jnp.bitwise_or.reduce(x[:n])"),
        ("if (b[i] > 0) atomicXor(y, x[i]);", "jnp.bitwise_xor.reduce("),
        ("if (y[b[i]] > x[i]) atomicMin(&y[b[i]], x[i]);", "].min(x[:n])"),
        ("unsigned v = 3 * x[i]; int k = b[i]; if (v >= y[k] && x[i] > 2) atomicMax(y + k, v);", "].max("),
    ],
)
def test_order_does_not_matter(statement, form):
    done = translated(statement)
    assert done.text and form in done.text, [d.reason for d in done.diagnostics]


@pytest.mark.parametrize(
    "statement, code",
    [
        ("atomicInc(&y[b[i]], x[i]);", "KR299"),  # a limit of its own for each thread
        ("atomicDec(&y[b[i]], 0x7fffffff);", "KR299"),  # the sums might wrap round
        ("atomicInc(&y[b[i]], 7); atomicInc(&y[b[i]], 9);", "KR201"),
        ("atomicInc(&y[b[i]], 7); atomicDec(&y[b[i]], 7);", "KR201"),
        ("atomicInc(&y[b[i]], 7); atomicAdd(&y[b[i]], 1u);", "KR201"),
        ("atomicInc(&y[b[i]], 7); if (y[i] > 3) y[i] = 0;", "KR201"),
        ("s[i] = atomicInc(&y[b[i]], 7);", "KR203"),
        ("atomicMax((unsigned *)&s[b[i]], x[i]);", "KR299"),  # a negative one is the greatest
        ("atomicAdd((unsigned long long *)&s[b[i]], 1ull);", "KR299"),  # two elements at once
        ("atomicExch(&s[b[i]], i);", "KR202"),
        ("atomicExch(&s[0], b[i]);", "KR201"),
        ("s[b[i]] = i & 1;", "KR202"),
        ("s[b[i]] = 1; s[b[i] + 1] = 2;", "KR201"),
        ("for (int k = 0; k < n; k++) if (b[i * n + k] > 0) s[0] = k;", "KR201"),
        ("int p = atomicAdd(s, 1); y[p] = x[i];", "KR203"),
        ("while (atomicExch(s, 1)); y[0] = y[0] * 2 + x[i]; atomicExch(s, 0);", "KR203"),
        ("atomicAdd(&s[b[i]], 1); atomicMax(&s[b[i]], i);", "KR201"),
        ("atomicAdd(&s[0], 1); y[i] = s[0];", "KR201"),
        (CAS.replace("NEW", "was * x[i] + 1u"), "KR203"),
        (CAS.replace("NEW", "was * was"), "KR203"),
    ],
)
def test_order_would_show(statement, code):
    done = translated(statement)
    assert done.text is None and code in {d.code for d in done.diagnostics}


def test_bits_of_rows_are_combined_over_both_axes():
    done = translated("for (int k = 0; k < 3; k++) atomicXor(y, x[i * 3 + k]);")
    x = np.array([1, 2, 4, 8, 16, 5], np.uint32)
    nothing = np.zeros(2, np.int32)
    y = load_module(done.text).f(x, nothing, np.array([1, 7], np.uint32), nothing, 2)
    np.testing.assert_array_equal(y, [1 ^ 26, 7])


def ring(way, start, times, limit):
    for _ in range(times):
        up = 0 if start >= limit else start + 1
        start = up if way == "Inc" else limit if start == 0 or start > limit else start - 1
    return start


@pytest.mark.parametrize("way", ["Inc", "Dec"])
@pytest.mark.parametrize("cell", ["&y[b[i]]", "y", "&y[b[i] % 2]"])
@pytest.mark.parametrize("limit", [0, 1, 7])
def test_counters_go_round_at_their_limit(way, cell, limit):
    done = translated(f"if (x[i] != 3) atomic{way}({cell}, {limit});")
    assert done.text, [d.reason for d in done.diagnostics]
    scope = {}
    exec(done.text, scope)
    x, b = np.arange(23, dtype=np.uint32) % 5, (np.arange(23, dtype=np.int32) * 7) % 4
    y = np.array([0, 3, 9, 2**32 - 1], np.uint32)
    at = {"&y[b[i]]": b, "y": 0 * b, "&y[b[i] % 2]": b % 2}[cell]
    for n in (0, 1, 23):
        times = np.bincount(at[:n][x[:n] != 3], minlength=4)
        wanted = [ring(way, int(v), t, limit) for v, t in zip(y, times, strict=True)]
        assert scope["f"](x, b, y, np.zeros(4, np.int32), n).tolist() == wanted


@pytest.mark.parametrize("way", ["Inc", "Dec"])
def test_counters_go_round_at_a_limit_that_is_a_number_for_all(way):
    done = translated(f"atomic{way}(&y[b[i]], x[0]);")
    assert done.text, [d.reason for d in done.diagnostics]
    f = load_module(done.text).f
    b, y = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3], np.int32), np.array([0, 3, 2**31 + 1, 2**32 - 1, 7], np.uint32)
    for limit in (0, 1, 3, 2**31 + 2, 2**32 - 1):
        wanted = [ring(way, int(v), t, limit) for v, t in zip(y, (1, 2, 3, 4, 0), strict=True)]
        assert f(np.array([limit], np.uint32), b, y, np.zeros(4, np.int32), 10).tolist() == wanted


@pytest.mark.parametrize(
    "statement",
    [
        "if (y[b[i]] < x[i]) atomicMin(&y[b[i]], x[i]);",  # the other way round
        "if (y[b[i]] > x[i] + 1) atomicMin(&y[b[i]], x[i]);",  # another value
        "if (y[b[i] + 1] > x[i]) atomicMin(&y[b[i]], x[i]);",  # another cell
        "if (y[b[i]] > x[i] || i > 3) atomicMin(&y[b[i]], x[i]);",
        "if (y[b[i]] > x[i] && y[b[i]] < 9) atomicMin(&y[b[i]], x[i]);",  # asked for something else, too
        "if (y[b[i]] > x[i]) { atomicMin(&y[b[i]], x[i]); s[i] = 1; }",
        "if (y[b[i]] > x[i]) atomicMin(&y[b[i]], x[i]); else s[i] = 1;",
        "if (y[b[i]] > x[i]) atomicAdd(&y[b[i]], x[i]);",
    ],
)
def test_a_guard_that_decides_something_is_a_race(statement):
    done = translated(statement)
    assert done.text is None and done.diagnostics[0].code == "KR201"


MASKED = {  # the number of a lane that the condition spares may lie outside
    "added": ("if (b[i] >= 0) atomicAdd(&s[b[i]], 2);", ".add(jnp.where(", np.add.at),
    "least": ("if (b[i] >= 0) atomicMin(&s[b[i]], b[i] - 9);", ".min(", np.minimum.at),
    "greatest": ("if (b[i] >= 0) atomicMax(&s[b[i]], b[i] + 9);", ".max(", np.maximum.at),
}


@pytest.mark.parametrize("name", MASKED)
def test_lanes_that_a_condition_spares_add_nothing(name):
    statement, form, combine = MASKED[name]
    done = translated(statement)
    assert done.text and form in done.text and "drop" not in done.text, done.text
    b = np.array([3, -1, 0, 3, -7, 1], np.int32)
    s = np.full(4, 5, np.int32)
    x = np.zeros(6, np.uint32)
    got = load_module(done.text).f(x, b, x, s, 6)
    live = b[b >= 0]
    combine(s, live, {"added": 2, "least": live - 9, "greatest": live + 9}[name])
    np.testing.assert_array_equal(got, s)


@pytest.mark.parametrize("condition", ["", "if (s[0] != 7 && b[i] >= 0) "])
@pytest.mark.parametrize(
    ("name", "value", "form"),
    [
        ("Or", "%s", "y|jnp.sum((named>0)"),
        ("Xor", "%s", "y^jnp.sum((named&1)"),
        ("And", "~(%s)", "y&~jnp.sum((named>0)"),
    ],
)
def test_single_bits(name, value, form, condition):
    done = translated(f"{condition}atomic{name}(&y[b[i]], {value % '1u << (x[i] & 31)'});")
    assert done.text and "bits" not in done.text, [d.reason for d in done.diagnostics]
    assert condition or form in "".join(done.text.split()), done.text
    b = np.array([3, 0 if not condition else -1, 0, 3, 3, 1], np.int32)
    x = np.array([0, 31, 31, 5, 5, 32], np.uint32)
    y = np.array([0, 2**32 - 1, 77, 33], np.uint32)
    got = load_module(done.text).f(x, b, y, np.zeros(1, np.int32), 6)
    combine = {"Or": np.bitwise_or, "Xor": np.bitwise_xor, "And": np.bitwise_and}[name]
    amounts = np.uint32(1) << (x & 31)
    combine.at(y, b[b >= 0], (~amounts if name == "And" else amounts)[b >= 0])
    np.testing.assert_array_equal(got, y)


def test_an_infinity_that_meets_one_in_a_cell_shares_no_derivative():
    source = """
from numba import cuda

@cuda.jit
def f(x, b, low):
    i = cuda.grid(1)
    if i < x.shape[0] and x[i] > 0.0:
        cuda.atomic.min(low, b[i], x[i])
"""
    done = pipeline.translate(source, "k.py")
    module = load_module(done.text)
    x, b = jnp.asarray([-1.0, -2.0, 3.0]), jnp.asarray([0, 0, 1])
    slope = jax.grad(lambda low: module.f(x, b, low)[1] + jnp.where(low[0] > 9, module.f(x, b, low)[0], 0))
    assert slope(jnp.asarray([jnp.inf, 9.0])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("flag", ["x[i] > 0", "over"])
def test_a_condition_counts_in_one_of_two_cells(flag):
    source = "from numba import cuda\n\n@cuda.jit\ndef f(x, count, n):\n    i = cuda.grid(1)\n    if i < n:\n"
    source += f"        over = x[i] > 0\n        cuda.atomic.add(count, {flag}, 1)\n"
    f = load_module(pipeline.translate(source, "f.py").text).f
    for n, wanted in ((2, [0, 2]), (5, [2, 3])):  # two elements are as many as cells
        np.testing.assert_array_equal(f(jnp.asarray([1.0, 2.0, -1.0, 0.0, 3.0]), jnp.zeros(2, int), n), wanted)
