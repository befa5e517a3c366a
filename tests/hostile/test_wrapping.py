"""Integers that wrap round their type: what was taken to fit it gave wrong values (found by hand, session 10)."""

import pytest

from kraise import pipeline
from tests.checks import verified
from tests.hostile.judge import judge
from tests.hostile.test_values import GUARD, cuda

WIDE = [((5,), (64,))]  # 320 threads: more than a byte counts
ONE = [((3,), (8,))]
ALL = "0:4294967295"
NEAR = "4294967290:4294967295"
INTS = "int *y, const int *x, int n"
UNSIGNED = "unsigned *y, const unsigned *a, int n"
BYTES = "int *y, const unsigned char *a, int n"

RIGHT = {
    "a byte that wraps is less than before": (
        "{ unsigned char q = i, w = q + 10; if (w < q) y[i] = -1; else y[i] = w - q; }", INTS, "y=i[300] x=i[9] n=300",
        WIDE,
    ),
    "a byte's position beyond a byte": (
        "{ signed char c = i; y[i] = c >= 0 ? x[c] : -x[-c]; }", INTS, "y=i[300] x=i[300] n=300", WIDE
    ),
    "sums that stop at the type's end": (
        "{ unsigned s = a[i] + 5; y[i] = s < a[i] ? 0xffffffffu : s; if (a[i] + 1 > a[i]) y[n + i] = 7; }", UNSIGNED,
        f"y=u[34] a=u[17]<{NEAR} n=17", ONE,
    ),
    "carries": (
        "{ unsigned q = a[i], c = 0; for (int k = 0; k < n; k++) { q += 500000000u; if (q < 500000000u) c += k; } "
        "y[i] = c + (a[i] * 3 < a[i]) + (a[i] + 4 < 10); }", UNSIGNED, f"y=u[17] a=u[17]<{ALL} n=17", ONE,
    ),
    "bytes that stop at the type's end": (
        "{ unsigned char u = a[i] + 100; y[i] = u < 100 ? 255 : u; }", BYTES, "y=i[17] a=U[17]<0:255 n=17", ONE
    ),
    "bits that leave an int, beside indices of 64 bits": (
        "{ const int least = 1 << 31; long long s = least + 3u; for (int k = 0; k < 3; k++) s += (1 << (29 + k)) / 4; "
        "y[i] = s + (1 << i) / 8 + (i - 9 << 28 >> 3) + least; }", "long long *y, int n", "y=l[40] n=32", [((4,), (8,))]
    ),
    "a byte that is given": (
        "{ unsigned char q = m - 5, w = q * m; y[i] = q + w + (q > x[i]); }",
        "int *y, const int *x, unsigned char m, int n",
        "y=i[17] x=i[17] m=3 n=17", ONE,
    ),
    "down to the number below zero": (
        "for (unsigned k = n - 1; k != (unsigned)-1; k--) y[i] = y[i] * 3 + x[k];", INTS, "y=i[17] x=i[17] n=17", ONE
    ),
    "down to the number below zero, and read behind it": (
        "{ unsigned k; for (k = i; k != 0xffffffffu; --k) y[i] = y[i] * 3 + x[k]; y[i] += (int)k; }", INTS,
        "y=i[17] x=i[17] n=17", ONE,
    ),
    "round to a bound that lies behind": (
        "for (unsigned k = a[i]; k != a[i] + 6; k++) y[i] += k;", UNSIGNED, f"y=u[17] a=u[17]<{NEAR} n=17", ONE
    ),
    "round from below zero": (
        "for (unsigned k = i - 2u; k != i + 2u; k++) y[i] = y[i] * 3 + k;", UNSIGNED, "y=u[17] a=u[9] n=17", ONE
    ),
    "steps over a byte's end": (
        "{ int s = 0; for (unsigned char k = a[i]; k < 250; k += 20) s += k; y[i] = s; }", BYTES,
        "y=i[17] a=U[17]<0:255 n=17", ONE,
    ),
    "an unsigned loop that starts below zero": (
        "{ int s = 0; for (unsigned k = i - 3; k < n; k++) s += x[k]; for (unsigned j = i - 2u; j <= i + 2u; j++) "
        "s += j < n ? x[j] : 50; y[i] = s; }", INTS, "y=i[17] x=i[17] n=17", ONE,
    ),
    "unsigned numbers beside sums of unsigned indices": (
        "{ unsigned u = i; y[i] = (a[i] < u + 2) + (a[i] / (u + 2) > 9) * 4 + (max(a[i], u + 1) > 100) * 16; "
        "z[i] = a[i] + (u + 2) + (a[i] * (u + 3)) * 0.5f; }", "int *y, float *z, const unsigned *a, int n",
        f"y=i[17] z=f[17] a=u[17]<{ALL} n=17", ONE,
    ),
    "unsigned numbers read as signed ones": (
        "y[i] = (int)max(a[i], 5u) % 3 + (int)((a[i] - 3) / (i + 1u)) % 17;", "int *y, const unsigned *a, int n",
        f"y=i[17] a=u[17]<{ALL} n=17", ONE,
    ),
    "sums of a difference that went round": (
        "{ unsigned r = n - i - 3u; y[i] = r < r + 3 ? 1 : 2; if (i + 4294967290u < 10) y[i] += 8; "
        "if ((unsigned)(i - 3) + 5 > 4) y[i] += 16; }", INTS, "y=i[17] x=i[9] n=17", ONE,
    ),
    "a size of 64 bits made narrower": (
        "y[i] = min(a[i], (unsigned)(n - 19)) / 2;", "unsigned *y, const unsigned *a, unsigned long long n",
        f"y=u[17] a=u[17]<{NEAR} n=17", ONE,
    ),
    "from an unsigned remainder, in 64 bits": (
        "{ unsigned char s = 0; for (unsigned k = a[i] * 2 % 8; k < n + 3u; k += 2) s = s * 3 + k; y[i] = s; }",
        "long long *y, const unsigned *a, int n", f"y=l[17] a=u[17]<{ALL} n=17", ONE,
    ),
    "long numbers of unsigned ones": (
        "{ unsigned u = a[i]; long long q = -u, r = u; y[i] = (q > 5) + (r > y0[0]) * 2; z[i] = (float)r; }",
        "const int *y0, int *y, float *z, const unsigned *a, int n", f"y0=i[1] y=i[17] z=f[17] a=u[17]<{ALL} n=17", ONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", ["(int)2.9999999f == 3", r"'\xff' == -1", r"'\377' < 0"])
def test_literals(text):
    """Interpreter and raiser share the front end: the constant itself is looked at."""
    from kraise import pipeline

    done = pipeline.translate(cuda(GUARD + f"y[i] = {text} ? 71 : 72;", "int *y, int n"), "k.cu").text
    assert done is not None and "71" in done and "72" not in done


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    body, params, spec, launches = RIGHT[name]
    source = cuda(GUARD + body, params)
    assert judge(source, "cu", spec, launches) == "right", source


SIZES = """
__global__ void second(float *y, const float *x, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) y[i + n] = x[i];
}
__global__ void mixed(unsigned long long *y, const unsigned long long *x, size_t n, size_t m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = (x[i] * m + i) % (n + 3) + (n - m) / (i + 1) + (i * m > n ? m - i : n);
}
"""


def test_sizes_of_64_unsigned_bits_stand_beside_indices():
    """``i + jnp.uint64(n)`` is a float: the subscript raised."""
    done = pipeline.translate(SIZES, "f.cu")
    reports, problems = verified(done, pipeline.Request(values={"n": 11, "m": 5}))
    assert not problems and [r.ok for r in reports] == [True, True], (problems, reports)
