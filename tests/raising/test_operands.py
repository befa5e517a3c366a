"""Products of tiles that are guarded by their own arrays' extents, stored where the result's own say so."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
from numba import cuda, float32

@cuda.jit
def f(A, B, C):
    sA = cuda.shared.array((4, 4), dtype=float32)
    sB = cuda.shared.array((4, 4), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.0)
    for i in range((A.shape[1] + 3) // 4):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and tx + i * 4 < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * 4]
        if x < B.shape[1] and ty + i * 4 < B.shape[0]:
            sB[ty, tx] = B[ty + i * 4, x]
        cuda.syncthreads()
        for j in range(4):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] += tmp
"""
PRODUCT = load_module(pipeline.translate(SOURCE, "f.py").text).f
# what is no product of loads keeps its masks: sums, another filling, other numbers in the guards
OTHERS = {
    "a sum": ("sA[ty, j] * sB[j, tx]", "sA[ty, j] + sB[j, tx]"),
    "filled with ones": ("sA[ty, tx] = 0", "sA[ty, tx] = 1"),
    "a product of one more": ("sA[ty, j] * sB[j, tx]", "(sA[ty, j] + 1) * sB[j, tx]"),
    "less than all rows": ("if y < A.shape[0] and", "if y < A.shape[0] // 2 and"),
}


def _expected(A, B, C, text=SOURCE):
    ones = 1.0 if "sA[ty, tx] = 1" in text else 0.0
    rows = A.shape[0] // 2 if "// 2" in text else A.shape[0]
    rounds = -(-A.shape[1] // 4) * 4
    a, b = np.full((C.shape[0], rounds), ones), np.zeros((rounds, C.shape[1]))
    r, c, depth = min(rows, C.shape[0]), min(B.shape[1], C.shape[1]), min(rounds, B.shape[0])
    a[:r, : A.shape[1]] = A[:r]
    b[:depth, :c] = B[:depth, :c]
    if "+ sB" in text:
        return C + (a[:, :, None] + b).sum(1)
    return C + (a + ("+ 1)" in text)) @ b


def _arrays(m, k, n, p, q, inner):
    draw = np.random.default_rng(m + k + n)
    return [draw.normal(size=s).astype(np.float32) for s in ((m, k), (inner, n), (p, q))]


@pytest.mark.parametrize("sizes", [(5, 6, 7, 5, 7, 6), (9, 3, 4, 2, 3, 3), (4, 7, 5, 4, 5, 9), (4, 7, 5, 3, 5, 2)])
def test_values(sizes):
    arrays = _arrays(*sizes)
    np.testing.assert_allclose(PRODUCT(*arrays), _expected(*arrays), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sizes", [(5, 6, 7, 6, 7, 6), (5, 6, 7, 5, 8, 6)])
def test_a_larger_result_is_told(sizes):
    with pytest.raises(ValueError, match="C is larger than"):
        PRODUCT(*_arrays(*sizes))


def test_text():
    text = pipeline.translate(SOURCE, "f.py").text
    assert "A[:rows, :length] @ B[:length, :cols]" in text and "where" not in text and "clip" not in text
    assert "C.shape[0] <= A.shape[0]" in text


@pytest.mark.parametrize("name", OTHERS)
def test_other_bodies(name):
    source = SOURCE.replace(*OTHERS[name])
    function = load_module(pipeline.translate(source, "f.py").text).f
    for sizes in ((5, 6, 7, 8, 9, 6), (4, 7, 5, 3, 6, 2)):
        arrays = _arrays(*sizes)
        np.testing.assert_allclose(function(*arrays), _expected(*arrays, source), rtol=1e-4, atol=1e-5)
