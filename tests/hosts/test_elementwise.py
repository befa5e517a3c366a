"""CuPy's kernels of one element as expressions of arrays."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
import cupy as cp
diff = cp.ElementwiseKernel('T x, T y', 'T z', 'z = (x - y) / (x + y)', 'diff')
price = cp.ElementwiseKernel('float32 s, float32 k', 'float32 call, float32 put', '''
    float d = logf(s / k) + 0.5f * s;
    call = max(s * d - k, 0.0f);
    put = call - s + k;
''', 'price')
clip = cp.ElementwiseKernel('T x, T lo, T hi', 'T z', 'z = x < lo ? lo : (x > hi ? hi : x)', 'clip')
norm = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'norm')
largest = cp.ReductionKernel('float x, float y', 'float z', 'fabsf(x - y)', 'max(a, b)', 'z = a', '0.5', 'largest')

def ratio(x, y):
    z = cp.empty_like(x)
    diff(x, y, z)
    return z + diff(y, x + 1.0)

def prices(s, k):
    call, put = price(s, k)
    return call + 2 * put

def descend(x, y, steps):
    for _ in range(steps):
        x = clip(x - 0.5 * diff(x, y), 0.5, 1.5)
    return x

def counted(a):
    xp = cp.get_array_module(a)
    big = xp.asarray(a) > 1.0
    return xp.count_nonzero(big, axis=1).reshape((3, 1)), xp.count_nonzero(big) + diff(a, 2 * a)

def norms(a):
    return norm(a), norm(a, axis=1), largest(a, 0.9 * a)
"""


def array(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(np.float32)


def test_values():
    done = pipeline.translate(SOURCE, "a.py")
    assert not [d for d in done.diagnostics if d.severity == "error"]
    module, x, y, a = load_module(done.text), array(6), array(6, seed=1), array(3, 4)
    np.testing.assert_allclose(module.ratio(x, y), (x - y) / (x + y) + (y - x - 1) / (x + y + 1), rtol=1e-5)
    call = np.maximum(x * (np.log(x / y) + 0.5 * x) - y, 0)
    np.testing.assert_allclose(module.prices(x, y), call + 2 * (call - x + y), rtol=1e-5, atol=1e-6)
    want = x
    for _ in range(3):
        want = np.clip(want - 0.5 * (want - y) / (want + y), 0.5, 1.5)
    np.testing.assert_allclose(module.descend(x, y, 3), want, rtol=1e-5)
    for got, expected in zip(module.norms(a), (np.sqrt((a**2).sum()), np.sqrt((a**2).sum(1)), 0.5), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    for got, expected in zip(module.counted(a), ((a > 1).sum(1)[:, None], (a > 1).sum() - 1 / 3 + 0 * a), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert "the types that are left open are floating: diff" in done.text


OTHERS = {
    "integers": "cp.ElementwiseKernel('int32 x', 'int32 z', 'z = x / 2', 'k')",
    "cut off": "cp.ElementwiseKernel('float32 x', 'int32 z', 'z = x * 2', 'k')",
    "not taken": "cp.ElementwiseKernel('float32 x', 'float32 z', 'z = x > 0 ? log(x) : 0', 'k')",
    "raw": "cp.ElementwiseKernel('raw T x', 'T z', 'z = x[i]', 'k')",
    "branch": "cp.ElementwiseKernel('T x', 'T z', 'if (x > 0) z = x;', 'k')",
    "starts": "cp.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '1', 'k')",
    "other": "cp.ReductionKernel('T x', 'T y', 'x', 'a - b', 'y = a', '0', 'k')",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_texts_are_refused(name):
    done = pipeline.translate(f"import cupy as cp\nk = {OTHERS[name]}\ndef f(x):\n    return k(x)\n", "a.py")
    assert "f" not in done.raised
    assert [d.code for d in done.diagnostics if d.kernel == "f"] == ["KR213"]
