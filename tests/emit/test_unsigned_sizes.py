"""Numbers that all threads have, computed from unsigned parameters: what a cast makes signed may be negative."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.compare import verify
from tests.checks import verified

PARAMETERS = "unsigned long long n, unsigned u, unsigned m, long long l, int k, const int *a"
OUTPUTS = {"out": "int", "big": "long long", "f": "float", "few": "unsigned char"}

SIGNED = """
out[i] = (int)m - 500 < 0;
out[i] = (long long)(m / 3) - 500u < m;
out[i] = ((int)(u / 3) - 500) / 7;
out[i] = ((int)n - 500) % 7;
f[i] = (int)(n % 9) - 500;
f[i] = (float)(int)(u - 500);
f[i] = u - 500;
f[i] = a[i] > (int)u - 500 ? 1.0f : 2.0f;
f[i] = a[i] > u - 500 ? 1.0f : 2.0f;
big[i] = (long long)u - 500;
big[i] = -(int)(u * 3);
big[i] = min((int)u - 100, a[i]);
big[i] = max((int)(u / 2) - 100, (int)i - 110);
int c = m; c -= 50; float g = c; f[i] = g * a[i];
int h = (int)u - 8; out[i] = (h ^ 5) + (h >> 1);
unsigned long long h = (int)u - 8; out[i] = h % 3;
int s = 0; for (int q = (int)(u / 2) - 9; q < 3; q++) s += q * a[i]; out[i] = s;
""".strip().splitlines()

MIXED = """
out[i] += n % 1009;
out[i] = a[i] * (n / 3);
unsigned r = (unsigned)(long long)(n / 3) + a[i]; r *= 3; out[i] = r % 1009u;
out[i] -= (m % 5) * 3;
out[i] = a[i] < (int)(n % 1009);
out[i] = a[i] < n % 1009;
out[i] = a[i] >> (n % 9);
big[i] = a[i] + l % 9 - n % 5;
out[i] = (a[i] ^ (n % 9)) - 3;
few[i] = a[i] * (n % 300) - 10;
unsigned long long r = a[i]; out[i] = (~r & (n - 1u)) % 1009;
""".strip().splitlines()

QUOTIENTS = """
out[i] = (k - 90) / 7;
big[i] = (l - 90) / (k - 70);
big[i] = (a[i] - 90) / (l - 70);
big[i] = (k - 90) / (abs(a[i]) + 1);
int t = 250; for (int q = 0; q < 6; q++) t -= a[q] * 90; out[i] = t / k;
int t = 250; for (int q = 0; q < 6; q++) t -= a[q] * 90; out[i] = t / (a[0] - 90);
int t = 250; while (t > k) t -= 90; big[i] = t / -2;
big[i] = (long long)(k + 1) / m;
big[i] = (i * 1ll - 90) / (abs(a[i]) + 1);
""".strip().splitlines()


def _verified(bodies):
    outputs = ", ".join(f"{kind} *{name}" for name, kind in OUTPUTS.items())
    source = "".join(
        f"__global__ void g{at}({PARAMETERS}, {outputs}) {{\n"
        f"  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < m) {{ {body} }}\n}}\n"
        for at, body in enumerate(bodies)
    )
    done = pipeline.translate(source, "case.cu")
    assert not done.diagnostics, done.diagnostics
    reports, _ = verified(done, pipeline.Request(gradients=False))
    return {r.kernel: [row for row in r.rows if row.status not in ("ok", "note")] for r in reports}


@pytest.mark.parametrize("bodies", [SIGNED, MIXED, QUOTIENTS], ids=["signed", "mixed", "quotients"])
def test_numbers_of_unsigned_sizes_are_as_in_c(bodies):
    found = _verified(bodies)
    assert len(found) == len(bodies)
    assert not any(found.values()), [(bodies[int(k[1:])], rows) for k, rows in found.items() if rows]


@pytest.mark.parametrize("store", ("atomicMin(out + i / 3, x[i]);", "unsigned b = x[i]; for (int k = 0; k < m; k++)"
                                   " b = min(b, x[k]); out[i] = b;"))  # fmt: skip
def test_the_least_of_unsigned_numbers(store):
    """What is larger than all of them is no number that JAX takes in 32 bits."""
    source = f"""__global__ void least(const unsigned *x, unsigned *out, int n, int m) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {{ {store} }} }}"""
    done = pipeline.translate(source, "least.cu")
    assert done.raised == ("least",), done.diagnostics
    x = np.array([7, 3_000_000_000, 4_294_967_295, 4, 2_500_000_000, 9], np.uint32)
    case = Case("least", {"x": x, "out": np.full(6, 4_294_967_295, np.uint32), "n": 6, "m": 5}, (2,), (3,))
    report = verify(done.source, done.text, "least", case)
    assert report.ok, [(r.check, r.message) for r in report.failures]
