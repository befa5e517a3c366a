"""Triangles of cuBLAS: rank-k updates and triangular systems against references written from its manual."""

from itertools import product

import numpy as np
import pytest

from tests.hosts.test_libraries import agrees, array, column_major, host, stored

SYRK = (
    "void f(cublasHandle_t h, const float *a, float *c, int n, int k, float beta) {{\n    float one = 0.5f;\n"
    "    cublasSsyrk(h, CUBLAS_FILL_MODE_{}, CUBLAS_OP_{}, n, k, &one, a, {}, &beta, c, n);\n"
    "    scale<<<1, 64>>>(c, 1.0f, n * n);\n}}\n"
)
TRSM = (
    "void f(cublasHandle_t h, const float *a, float *b, int m, int n) {{\n    float two = 2.0f;\n"
    "    cublasStrsm(h, CUBLAS_SIDE_{}, CUBLAS_FILL_MODE_{}, CUBLAS_OP_{}, CUBLAS_DIAG_{}, m, n, &two, a, {}, b, m);\n"
    "    scale<<<1, 64>>>(b, 1.0f, m * n);\n}}\n"
)


@pytest.mark.parametrize(("upper", "trans"), list(product((False, True), repeat=2)))
@pytest.mark.parametrize("beta", (0.0, 0.7))
def test_rank_k(upper, trans, beta):
    n, k = 3, 4
    ld = k if trans else n
    f, done = host(SYRK.format("UPPER" if upper else "LOWER", "T" if trans else "N", "k" if trans else "n"))
    a, c = array(n * k), array(n * n, 1)
    whole = column_major(a, k, n, ld).T if trans else column_major(a, n, k, ld)
    old = column_major(c, n, n, n)
    new = 0.5 * whole @ whole.T + beta * old
    kept = np.where(np.tri(n, dtype=bool).T if upper else np.tri(n, dtype=bool), new, old)
    given = {"a": a, "c": c, "n": n, "k": k, "beta": beta}
    np.testing.assert_allclose(f(**given), stored(c, kept, n), rtol=1e-5, atol=1e-6)
    agrees(done, f, **given)


@pytest.mark.parametrize(("right", "upper", "trans", "unit"), list(product((False, True), repeat=4)))
def test_systems(right, upper, trans, unit):
    m, n = 3, 2
    size = n if right else m
    words = ("RIGHT" if right else "LEFT", "UPPER" if upper else "LOWER", "T" if trans else "N")
    f, done = host(TRSM.format(*words, "UNIT" if unit else "NON_UNIT", "n" if right else "m"))
    a, b = array(size * size) + 2 * np.eye(size, dtype=np.float32).ravel(), array(m * n, 1)
    matrix = column_major(a, size, size, size)
    matrix = np.triu(matrix) if upper else np.tril(matrix)
    if unit:
        np.fill_diagonal(matrix, 1.0)
    matrix = matrix.T if trans else matrix
    sides = 2.0 * column_major(b, m, n, m)
    found = np.linalg.solve(matrix.T, sides.T).T if right else np.linalg.solve(matrix, sides)
    given = {"a": a, "b": b, "m": m, "n": n}
    np.testing.assert_allclose(f(**given), stored(b, found, m), rtol=1e-4, atol=1e-5)
    if (right, upper) == (trans, unit):  # each flag both ways; a derivative takes longer than the rest
        agrees(done, f, **given)


def test_a_beta_of_zero_does_not_read_the_matrix():
    body = (
        "void f(cublasHandle_t h, const float *a, float *c, int n, float beta) {\n    float one = 1.0f;\n"
        "    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &beta, c, n);\n"
        "    scale<<<1, 64>>>(c, 1.0f, n * n);\n}\n"
    )
    f, _ = host(body)
    empty = np.full(9, np.nan, np.float32)
    assert np.isfinite(f(array(9), empty, 3, 0.0)).all()
    assert np.isnan(f(array(9), empty, 3, 0.5)).all()


def test_a_sum_in_the_wider_type_of_its_initial_value():
    body = (
        "double f(thrust::device_vector<float> &x) {\n    scale<<<1, 64>>>(x.data().get(), 1.0f, 3);\n"
        "    return thrust::reduce(x.begin(), x.end(), 0.0);\n}\n"
    )
    f, _ = host(body)
    x = np.array([1e8, 1.0, -1e8], np.float32)
    assert float(f(x)[0]) == 1.0
