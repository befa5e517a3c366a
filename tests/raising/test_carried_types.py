"""What a loop carries keeps its type, and numbers of generators keep their width."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module, x64
from tests import checks

HEAD = "import numpy as np\nfrom numba import cuda\n\n"


def verified(source: str, language: str = "python") -> None:
    name = "case.py" if language == "python" else "case.cu"
    done = pipeline.translate(source, name, Options())
    assert done.text is not None, done.diagnostics
    reports, findings = checks.verified(done, pipeline.Request(), name, source)
    assert reports and all(r.ok for r in reports), [r.failures for r in reports]
    assert not findings


def run(source: str, name: str, *arguments):
    done = pipeline.translate(HEAD + source, "case.py")
    assert done.text is not None, done.diagnostics
    with x64(True):
        return np.asarray(getattr(load_module(done.text), name)(*arguments))


FIBONACCI = """def f(x):
    x[0] = 1
    x[1] = 1
    for i in range(2, len(x)):
        x[i] = x[i - 1] + x[i - 2]
"""
EDIT = """def f(a, b, prev, cur):
    for i in range(len(a)):
        cur[0] = i + 1
        for j in range(len(b)):
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1)
        for j in range(len(b) + 1):
            prev[j] = cur[j]
"""
BUBBLE = """@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        best = cuda.local.array(3, np.float32)
        for k in range(3):
            best[k] = -100.0
        for j in range(x.shape[1]):
            v = x[i, j]
            for k in range(3):
                if v > best[k]:
                    t = best[k]
                    best[k] = v
                    v = t
        for k in range(3):
            y[i, k] = best[k]
"""


@pytest.mark.parametrize("source", [FIBONACCI, EDIT, HEAD + BUBBLE], ids=["cell", "nested cell", "made array"])
def test_rounds_keep_the_type_of_what_they_carry(source):
    verified(source)


COUNT = """__global__ void f(const char *t, const char *p, int *c, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + m <= n) { int j = 0; for (; j < m; ++j) if (t[i + j] != p[j]) break; if (j == m) atomicAdd(c, 1); }
}
"""
INSIDE = """__global__ void f(const float *w, float *d, int n, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int t = 0; t < rows; ++t)
        if (i < n) d[i] = fminf(d[i], 0.5f * d[i] + w[t * n + i]);
}
"""

GCD = """__device__ unsigned gcd(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }
__global__ void f(const unsigned *n, unsigned *y, unsigned limit, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned c = gcd(n[i], i + 1);
    for (unsigned k = 1; k <= limit; ++k) if (gcd(n[i], k) == 1) c++;
    y[i] = c;
}
"""
NAMES = """__device__ float root(float x, int b) {
    float a = b; int s = 0; while (a * a > x + 1 && s++ < 4) a = (a + x / a) / 2; return a;
}
__global__ void f(const float *x, float *y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) { int a = i; for (int k = 0; k < count; ++k) if (x[k] > x[i]) a += k; y[i] = root(x[i], i + 9) + a; }
}
"""
LONGER = GCD.replace("unsigned", "unsigned long long")


@pytest.mark.parametrize(
    "source",
    [COUNT, INSIDE, GCD, LONGER, NAMES],
    ids=["an empty pattern", "a guard within a loop", "unsigned from an index", "64 bits", "a called function's names"],
)
def test_cuda(source):
    verified(source, "cuda")


def test_a_guard_that_a_round_changes_stays_where_it_is():
    verified(INSIDE.replace("if (i < n)", "if (d[i] > 0.0f && i < n)"), "cuda")


MODULUS = """@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = (1103515245 * x[i] + 12345) % {}
"""


@pytest.mark.parametrize("modulus", [2147483648, 4294967296])
@pytest.mark.parametrize("kind", [np.int64, np.uint32])
def test_literals_beyond_32_bits(modulus, kind):
    x = np.array([0, 1, 7, 12345, 2**31 - 1], kind)
    y = run(MODULUS.format(modulus), "f", x, np.zeros(5, np.int64))
    exact = [int(v) * 1103515245 for v in x]
    if kind is np.uint32:  # the product wraps before
        exact = [v % 2**32 for v in exact]
    assert y.tolist() == [(v + 12345) % modulus for v in exact]


STARTS = {
    "a parameter beside integers": (
        "if a[i, j] > 6:\n                v = a[i, j]\n            elif a[i, j] == 0:\n                v = -v",
        "v = s0",
        0.75,
        np.int32,
    ),
    "truth values that are counted": (
        "f = a[i, j] and not b[i, j]\n            v += f\n            if v > 5:\n                v = v - 3",
        "v = 0",
        0,
        np.bool_,
    ),
    "a half in some rounds": ("v = v / 2 if a[i, j] > 3 else v + a[i, j]", "v = s0", 3, np.int32),
    "parameters that it stays between": (
        "v += a[i, j] - 3\n            v = s0 if v > s0 else v\n            if v < 0:\n                v = 0",
        "v = 0",
        5.5,
        np.int32,
    ),
    "a fraction beside a generator": (
        "t = (t * 75 + 74) % 65537\n            if t & 1:\n                v += t / 65537.0",
        "v = 0.0\n        t = a[i, 0]",
        0,
        np.int64,
    ),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_start_is_as_wide_as_itself(name):
    """Each took the type of the array's elements: 0.75 was 0, a count stayed at one."""
    body, first, s0, kind = STARTS[name]
    source = f"""def f(a, b, s0, out):
    for i in range(a.shape[0]):
        {first}
        for j in range(a.shape[1]):
            {body}
        out[i] = v
"""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 2 if kind is np.bool_ else 8, (6, 9)).astype(kind) for _ in range(2))
    a[0] = a[0] % 6 if kind is np.int32 else a[0]  # a row that keeps its start
    expected, scope = np.zeros(6), dict[str, object]()
    exec(HEAD + source, scope)
    scope["f"](a, b, s0, expected)  # type: ignore[operator]
    np.testing.assert_allclose(run(source, "f", a, b, s0, np.zeros(6)), expected, rtol=1e-12)


def both(source: str, *arguments):
    """What the source computes, and what the emitted function does."""
    scope, given = dict[str, object](), [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    exec(HEAD + source, scope)
    scope["f"](*given)  # type: ignore[operator]
    return given[-1], run(source, "f", *arguments)


DECLARED = {
    "running": ("s += a[i, j]\n            out[i, j] = s - 1", np.int16),
    "carried": (
        "s = s * 3 + a[i, j]\n            if s > 30000:\n                s -= 7\n            out[i, j] = s",
        np.int16,
    ),
    "sums": ("s += a[i, j] * 2.0\n        out[i, 0] = s", np.float32),
    "sums and elements": ("s += a[i, j]\n        out[i, 0] = s + a[i, 0]", np.float32),
    "one element": ("s += a[i, 0]\n        out[i, 0] = s", np.int8),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_start_is_kept(name):
    """``np.int64(0)`` was a weak 0, and int16 wrapped; ``np.float64(0.0)`` sums of float32 were made in float32."""
    body, kind = DECLARED[name]
    start = "np.float64(0.0)" if kind is np.float32 else "np.int64(0)"
    source = f"""def f(a, out):
    for i in range(a.shape[0]):
        s = {start}
        for j in range(a.shape[1]):
            {body}
"""
    rng = np.random.default_rng(0)
    a = rng.integers(2000, 9000, (3, 9)) * (1 if kind is np.int16 else 1e-5)
    a = (a if kind is not np.int8 else rng.integers(50, 60, (3, 9))).astype(kind)
    expected, found = both(source, a, np.zeros((3, 9)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_start_that_says_nothing_leaves_the_sum_as_it_is():
    source = "def f(a):\n    s = {}\n    for j in range(a.shape[0]):\n        s += a[j]\n    return s\n"
    for start in ("0", "0.0", "np.float32(0)", "np.int32(0)"):
        text = pipeline.translate(HEAD + source.format(start), "case.py").text
        assert text is not None and "return a.sum()" in text and "64" not in text


BELOW = {
    "kept": "if a[j] > 90 and v != a[j]:\n            v = a[j]\n        out[j] = v",
    "largest": "if a[j] > v:\n            v = a[j]\n    out[0] = v",
    "chosen": "out[j] = a[j] if a[j] > 90 else -1",
}


@pytest.mark.parametrize("name", BELOW)
@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32])
def test_numbers_below_zero_beside_elements_without_sign(name, kind):
    """255 stood for -1 where the array's elements had no sign."""
    source = f"def f(a, out):\n    v = -1\n    for j in range(a.shape[0]):\n        {BELOW[name]}\n"
    expected, found = both(source, np.array([3, 90, 91, 91, 7], kind), np.zeros(5))
    np.testing.assert_array_equal(found, expected)


def test_fractions_beside_numbers_below_zero_are_as_they_were():
    source = "def f(a, out):\n    for j in range(a.shape[0]):\n        out[j] = max(a[j] * 0.5, -1)\n"
    text = pipeline.translate(HEAD + source, "case.py").text
    assert text is not None and "jnp.maximum(a * 0.5, -1)" in text


def test_numbers_of_more_than_64_bits_are_refused():
    """The module failed at every call."""
    source = (
        "def f(a, out):\n    s = 1\n    for i in range(len(a)):\n        s = (s * 3 + i) & {}\n        out[i] = s\n"
    )
    done = pipeline.translate(HEAD + source.format(2**64 - 1), "case.py")
    assert done.text is None and any("64 bits" in d.reason for d in done.diagnostics)
    assert pipeline.translate(HEAD + source.format(2**63 - 1), "case.py").text is not None


WHOLE = {  # int() of what the source gives a small type
    "a local element": "c = np.zeros(2, np.uint8)\n        c[0] = a[j] * 3\n        out[j] = int(c[0]) * 256 + 1",
    "a conversion": "v = np.int16(a[j])\n        out[j] = int(v) * int(v) * 30",
    "an array's type": "v = np.int32(a[j] * 3000000)\n        out[j] = int(v) * 300",
}


@pytest.mark.parametrize("name", WHOLE)
def test_int_has_no_small_type(name):
    """It was left out: 256 * 29 was 0 beside an element of 8 bits."""
    expected, found = both(
        f"def f(a, out):\n    for j in range(len(a)):\n        {WHOLE[name]}\n",
        np.array([3, 29, 300, 700]),
        np.zeros(4, np.int64),
    )
    np.testing.assert_array_equal(found, expected)


MEANS = {
    "a mean": "s = 0.0\n    for i in range(len(x)):\n        s += x[i] / len(x)\n    out[0] = s",
    "of products": "for j in range(len(out)):\n        for i in range(n):\n            out[j] += x[i] * j / n",
    "of two sizes": "for i in range(n):\n        for j in range(n):\n            out[0] += x[i] * x[j] / (2 * n * n)",
    "by another number": "for i in range(n):\n        out[0] += x[i] / (n - 5)",
}


@pytest.mark.parametrize("name", MEANS)
def test_a_mean_of_nothing_adds_nothing(name):
    """The count of the terms divides their sum: 0 / 0 where there are none."""
    for n in (0, 3):
        expected, found = both(f"def f(x, n, out):\n    {MEANS[name]}\n", np.arange(1.0, n + 1), n, np.ones(2))
        np.testing.assert_allclose(found, expected)


SWAPPED = """def f(x):
    n, m = x.shape
    out = np.zeros((n, 2))
    for i in range(n):
        p, q = 0, 1.5
        for j in range(m):
            {}
        out[i, 0] = p
        out[i, 1] = q
    return out
"""
EXCHANGED = "p, q = q, p\n            if x[i, j] > 0:\n                p = x[i, j]"
SUMMED = "if x[i, j] > 0:\n                p, q = q, p + x[i, j]"
HELD = "if x[i, j] > q:\n                q = p\n            p = x[i, j]"
ALONE = """def f(x):
    p, q = 1.5, 0
    for j in range(len(x)):
        p, q = q, p
        if x[j, 0] > 0:
            p = x[j, 0]
    return p + q
"""


@pytest.mark.parametrize("source", [*map(SWAPPED.format, (EXCHANGED, SUMMED, HELD)), ALONE])
def test_numbers_that_change_places_have_the_type_of_all(source):
    # the fraction reaches either of them; beside integers it was cut off to 1 without a word
    made: dict = {"np": np}
    exec(source, made)
    for kind in (np.int32, np.float32):
        x = np.array([[2, -1, 3], [-1, -2, -3], [-4, 5, 1]], kind)
        assert run(source, "f", x).tolist() == np.asarray(made["f"](x)).tolist()


# what each round makes of elements alone, beside a start that is wider than they
REMADE = """def f(z, x, out):
    a, d = -2, 10 ** 6
    for j in range(len(z)):
        d = max(d, z[j]) + int(x[j])
        a = 2 + z[j]
    out[0], out[1] = a, d
"""
BY_PARITY = """def f(a, out):
    d = np.zeros((2, len(out)))
    for i in range(1, len(a)):
        d[i % 2, 0] = i
        for j in range(1, len(out)):
            d[i % 2, j] = min(d[(i - 1) % 2, j] + a[i], d[i % 2, j - 1] + 0.5)
    for j in range(len(out)):
        out[j] = d[(len(a) - 1) % 2, j]
"""
OF_SIZE = """def f(x, out):
    w = np.zeros((len(x), 2))
    for i in range(len(x)):
        a = 1.0
        for j in range(3):
            a = 0.5 * a + w[i, 1]
            w[i, j % 2] += a
        out[i] = a
"""


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float32])
def test_rounds_that_make_a_number_anew(kind):
    z, x = np.array([5, 7, 3], kind), np.array([1.5, 2.5, 9.0], np.float32)
    expected, found = both(REMADE.replace("10 ** 6", "1000"), z, x, np.zeros(2))
    np.testing.assert_allclose(found, expected)


def test_an_integer_in_a_cell_is_a_number_of_its_array():
    expected, found = both(BY_PARITY, np.array([0.0, 0.25, 3.0, 0.125]), np.zeros(4))
    np.testing.assert_allclose(found, expected)


def test_an_array_of_which_a_size_is_used_may_have_more_axes():
    expected, found = both(OF_SIZE, np.zeros((3, 2)), np.zeros(3))
    np.testing.assert_allclose(found, expected)


JUMPS = """
def f(p, out):
    k = 0
    for i in range(1, len(p)):
        while k > 0 and p[k] != p[i]:
            k = out[k - 1]
        if p[k] == p[i]:
            k += 1
        out[i] = k
"""
ROOTS = """
def f(a, b, parent):
    for e in range(len(a)):
        x = a[e]
        y = b[e]
        while parent[x] != x:
            x = parent[x]
        while parent[y] != y:
            y = parent[y]
        if x < y:
            parent[y] = x
        else:
            parent[x] = y
"""
C_JUMPS = """
__global__ void f(const int *p, int *out, int n) {
    int k = 0;
    out[0] = 0;
    for (int i = 1; i < n; i++) {
        while (k > 0 && p[k] != p[i]) k = out[k - 1];
        if (p[k] == p[i]) k++;
        out[i] = k;
    }
}
"""


@pytest.mark.parametrize("kind", [np.int32, np.int16, np.int64])
def test_places_that_a_loop_with_a_condition_carries(kind):
    p = np.array([1, 2, 1, 2, 1, 1, 2, 1, 2, 3], np.int32)
    a, b = np.array([1, 2, 1, 5, 6], kind), np.array([0, 2, 3, 6, 1], kind)
    for source, given in ((JUMPS, (p, np.zeros(10, kind))), (ROOTS, (a, b, np.arange(8, dtype=kind)))):
        expected, found = both(source, *given)
        assert np.array_equal(expected, found), source


def test_the_same_in_cuda():
    verified(C_JUMPS, "cuda_c")


JOINED = """import numpy as np

def f(src, dst, n):
    parent = np.arange(n)
    for e in range(len(src)):
        a = src[e]
        while parent[a] != a:
            a = parent[a]
        b = dst[e]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
    return parent
"""


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_an_element_is_as_wide_as_the_indices_that_follow_it(kind):
    rng, given = np.random.default_rng(1), {}
    exec(JOINED, given)
    for n, m in ((1, 0), (2, 3), (7, 5)):
        src, dst = rng.integers(0, n, m).astype(kind), rng.integers(0, n, m).astype(kind)
        assert run(JOINED, "f", src, dst, n).tolist() == given["f"](src, dst, n).tolist()
