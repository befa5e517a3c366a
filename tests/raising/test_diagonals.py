"""Diagonals of a nest that stores two arrays: one need not have the cells beside the nest that the other one loads."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

SOURCE = """
def shifted(y, z):
    for c in range(1, y.shape[1] - 1):
        for i in range(y.shape[0] - 3, 1, -1):
            z[i, c] = max(z[i + 1, c - 1], z[i, c])
            y[i, c - 1] = z[i + 2, c] + y[i + 1, c - 1]


def beside(y, z):
    for i in range(2, y.shape[0] - 2):
        for c in range(y.shape[1] - 2, 0, -1):
            z[i, c + 1] = 0.5 * i
            y[i - 1, c] += y[i - 1, c + 1] - y[i - 2, c + 1]
"""
DONE = pipeline.translate(SOURCE, "diagonals.py")


@pytest.mark.parametrize("name", ["shifted", "beside"])
@pytest.mark.parametrize("shape", [(5, 5), (7, 6), (6, 8), (3, 3)])
def test_values(name, shape):
    assert name in DONE.raised
    own: dict = {}
    exec(SOURCE, own)
    draw = np.random.default_rng(sum(shape))
    y, z = draw.normal(size=(2, *shape)).astype(np.float32)
    expected = y.copy(), z.copy()
    own[name](*expected)
    got = getattr(load_module(DONE.text), name)(y, z)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


ALONE = """__global__ void one(float *h, const float *a, int n, int m, int q) {
    GUARD
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            h[i * m + j] = fmaxf(h[(i - 1) * m + j - 1] + a[j], fmaxf(h[(i - 1) * m + j], h[i * m + j - 1])) - a[i];
}"""
GUARDS = (
    "if (threadIdx.x != 0 || blockIdx.x != 0) return;",
    "if (blockIdx.x * blockDim.x + threadIdx.x != 2) return;",
)
SEVERAL = ("if (threadIdx.x > 1 || blockIdx.x != 0) return;", "if (threadIdx.x == q) return;")


@pytest.mark.parametrize("guard", GUARDS)
def test_one_thread(guard):
    done = pipeline.translate(ALONE.replace("GUARD", guard), "k.cu")
    assert done.text is not None and "by_diagonals" in done.text
    if guard is GUARDS[0]:
        reports, findings = verified(done, pipeline.Request(gradients=False))
        assert not findings and not [r for r in reports if r.failures]


@pytest.mark.parametrize("guard", SEVERAL)
def test_several_threads_race(guard):
    done = pipeline.translate(ALONE.replace("GUARD", guard), "k.cu")
    assert done.raised == () and {d.code for d in done.diagnostics} == {"KR201"}
