"""Rows of n elements that a block of n threads stores with no guard: n is the block's size, which is checked."""

import numpy as np
import pytest

from kraise import pipeline

REDUCED = """
__global__ void reduced(const float *ga, const float *gb, const float *gc, const float *gd, float *gx, int n) {
    extern __shared__ float sm[];
    float *a = sm, *b = sm + n, *c = sm + 2 * n, *d = sm + 3 * n;
    int i = threadIdx.x, at = blockIdx.x * %s + i;
    a[i] = ga[at]; b[i] = gb[at]; c[i] = gc[at]; d[i] = gd[at];
    __syncthreads();
    for (int s = 1; s < n; s *= 2) {
        int l = i - s < 0 ? 0 : i - s, r = i + s >= n ? n - 1 : i + s;
        float k1 = i - s < 0 ? 0.f : a[i] / b[l], k2 = i + s >= n ? 0.f : c[i] / b[r];
        float bn = b[i] - c[l] * k1 - a[r] * k2, dn = d[i] - d[l] * k1 - d[r] * k2;
        float an = -a[l] * k1, cn = -c[r] * k2;
        %s
        b[i] = bn; d[i] = dn; a[i] = an; c[i] = cn;
        __syncthreads();
    }
    gx[at] = d[i] / b[i];
}"""


def test_parallel_cyclic_reduction():
    done = pipeline.translate(REDUCED % ("n", "__syncthreads();"), "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    found: dict = {}
    exec(done.text, found)
    n, rng = 8, np.random.default_rng(2)
    a, b, c, d = (rng.normal(size=(2, n)).astype(np.float32) + (4 if at == 1 else 0) for at in range(4))
    a[:, 0] = c[:, -1] = 0
    rows = [np.diag(b[r]) + np.diag(a[r, 1:], -1) + np.diag(c[r, :-1], 1) for r in range(2)]
    expected = np.concatenate([np.linalg.solve(m, d[r]) for r, m in enumerate(rows)])
    parts = [x.ravel() for x in (a, b, c, d)]
    launch = {"grid": 2, "block": n, "shared": 4 * n}
    got = found["reduced"](*parts, np.zeros(2 * n, np.float32), n, **launch)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    with pytest.raises(ValueError, match="n must be block"):
        found["reduced"](*parts, np.zeros(2 * n, np.float32), n - 1, **launch)


@pytest.mark.parametrize(
    ("row", "barrier"), [("n", ""), ("(n - 1)", "__syncthreads();")], ids=["no barrier", "overlap"]
)
def test_races(row, barrier):
    done = pipeline.translate(REDUCED % (row, barrier), "k.cu")
    assert "KR201" in {d.code for d in done.diagnostics}
