"""CUB's collectives of a block or a warp: what each method gives, and what is refused."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

N = 64  # threads of a block
X = np.random.default_rng(0).normal(size=4 * N).astype(np.float32)
ROWS = X.reshape(4, N)


def module(body: str, head: str = ""):
    source = (
        f"#include <cub/cub.cuh>\n{head}\n__global__ void f(const float *x, float *y, int n) {{\n"
        f"int t = threadIdx.x, i = blockIdx.x * {N} + t;\n{body}\n}}"
    )
    return pipeline.translate(source, "k.cu")


REDUCE = f"typedef cub::BlockReduce<float, {N}> R; __shared__ typename R::TempStorage s; float a;"
SCAN = f"typedef cub::BlockScan<float, {N}> S; __shared__ typename S::TempStorage s; float a, b = 0;"
PER_BLOCK = {
    "sum": (REDUCE + "a = R(s).Sum(x[i]);", ROWS.sum(1)),
    "sum of some": (REDUCE + "a = R(s).Sum(x[i], n);", ROWS[:, :10].sum(1)),
    "maximum": (REDUCE + "a = R(s).Reduce(x[i], cub::Max());", ROWS.max(1)),
    "minimum of some": (REDUCE + "a = R(s).Reduce(x[i], cub::Min(), n);", ROWS[:, :10].min(1)),
    "of the standard library": (REDUCE + "a = R(s).Reduce(x[i], cuda::std::plus<>{});", ROWS.sum(1)),
    "without a name": (
        f"__shared__ typename cub::BlockReduce<float, {N}>::TempStorage s;"
        f"float a = cub::BlockReduce<float, {N}>(s).Sum(x[i]);",
        ROWS.sum(1),
    ),
    "an algorithm": (
        f"using R = cub::BlockReduce<float, {N}, cub::BLOCK_REDUCE_RAKING>; __shared__ R::TempStorage s;"
        "float a = R(s).Sum(x[i] * x[i]);",
        (ROWS * ROWS).sum(1),
    ),
    "twice": (REDUCE + "a = R(s).Sum(x[i]); __syncthreads(); a += R(s).Reduce(x[i], cub::Max());",
              ROWS.sum(1) + ROWS.max(1)),
    "items of a thread": (
        f"typedef cub::BlockReduce<float, {N}> R; __shared__ typename R::TempStorage s;"
        "float v[2]; v[0] = x[i]; v[1] = 2 * x[i]; float a = R(s).Sum(v);",
        3 * ROWS.sum(1),
    ),
    "the whole of a scan": (SCAN + "S(s).InclusiveSum(x[i], b, a);", ROWS.sum(1)),
}  # fmt: skip
EXCLUSIVE = np.cumsum(ROWS, 1) - ROWS
PER_THREAD = {
    "inclusive sum": (SCAN + "S(s).InclusiveSum(x[i], a);", np.cumsum(ROWS, 1)),
    "exclusive sum": (SCAN + "S(s).ExclusiveSum(x[i], a);", EXCLUSIVE),
    "in place": (SCAN + "a = x[i]; S(s).ExclusiveSum(a, a);", EXCLUSIVE),
    "inclusive maximum": (SCAN + "S(s).InclusiveScan(x[i], a, cub::Max());", np.maximum.accumulate(ROWS, 1)),
    "exclusive maximum": (
        SCAN + "S(s).ExclusiveScan(x[i], a, 0.5f, cub::Max());",
        np.maximum.accumulate(np.pad(ROWS, ((0, 0), (1, 0)), constant_values=0.5), 1)[:, :-1],
    ),
    "exclusive sum from a number": (SCAN + "S(s).ExclusiveScan(x[i], a, 0.5f, cub::Sum());", 0.5 + EXCLUSIVE),
    "share of the whole": (SCAN + "S(s).InclusiveSum(x[i] * x[i], a, b); a /= b;",
                           np.cumsum(ROWS**2, 1) / (ROWS**2).sum(1, keepdims=True)),
    "of a warp": (
        "typedef cub::WarpScan<float> S; __shared__ S::TempStorage s[2]; float a; S(s[t / 32]).InclusiveSum(x[i], a);",
        np.cumsum(X.reshape(8, 32), 1).reshape(4, N),
    ),
    "of a part of a warp": (
        "typedef cub::WarpReduce<float, 8> R; __shared__ R::TempStorage s[8];"
        "float a = R(s[t / 8]).Reduce(x[i], cub::Max());",
        np.repeat(X.reshape(-1, 8).max(1), 8).reshape(4, N),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PER_BLOCK)
def test_of_a_block(name):
    body, expected = PER_BLOCK[name]
    result = module(body + "if (t == 0) y[blockIdx.x] = a;")
    assert not result.diagnostics, result.diagnostics
    found = load_module(result.text).f(X, np.zeros(4, np.float32), **_given(result.text, n=10))
    np.testing.assert_allclose(found, expected, rtol=2e-5)


@pytest.mark.parametrize("name", PER_THREAD)
def test_of_a_thread(name):
    body, expected = PER_THREAD[name]
    result = module(body + "y[i] = a;")
    assert not result.diagnostics, result.diagnostics
    found = load_module(result.text).f(X, np.zeros(4 * N, np.float32), **_given(result.text, n=10))
    np.testing.assert_allclose(found, expected.ravel(), rtol=2e-5, atol=1e-5)


def _given(text: str, **values: int) -> dict:
    head = text[text.index("def f(") :].split("\n")[0]
    launch = {"grid": 4, "block": N} if "*, grid, block" in head else {}
    return values | launch


def test_loads_and_stores_of_some():
    body = (
        f"typedef cub::BlockLoad<float, {N}, 2> L; typedef cub::BlockStore<float, {N}, 2> S;"
        "__shared__ union { typename L::TempStorage load; typename S::TempStorage store; } s; float v[2];"
        f"int first = blockIdx.x * {2 * N};"
        "L(s.load).Load(x + first, v, n - first, -1.0f); __syncthreads();"
        "for (int k = 0; k < 2; k++) v[k] = v[k] * v[k];"
        "S(s.store).Store(y + first, v, n - first);"
    )
    result = module(body)
    assert not result.diagnostics, result.diagnostics
    found = load_module(result.text).f(X, np.zeros(4 * N, np.float32), **(_given(result.text, n=200) | {}))
    np.testing.assert_allclose(found, np.where(np.arange(4 * N) < 200, X * X, 0), rtol=1e-6)


def test_a_block_of_two_axes():
    source = (
        "#include <cub/cub.cuh>\n__global__ void f(const float *x, float *y) {"
        "typedef cub::BlockReduce<float, 8, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4> R;"
        "__shared__ typename R::TempStorage s;"
        "float a = R(s).Sum(x[(blockIdx.x * 4 + threadIdx.y) * 8 + threadIdx.x]);"
        "if (threadIdx.x == 0 && threadIdx.y == 0) y[blockIdx.x] = a; }"
    )
    result = pipeline.translate(source, "k.cu")
    assert not result.diagnostics, result.diagnostics
    given = {"grid": 8, "block": (8, 4)} if "*, grid, block" in result.text else {}
    found = load_module(result.text).f(X, np.zeros(8, np.float32), **given)
    np.testing.assert_allclose(found, X.reshape(8, 32).sum(1), rtol=1e-5)


REFUSED = {
    "an operator of its own": (REDUCE + "a = R(s).Reduce(x[i], [](float p, float q) { return p * q + p; });", "KR103"),
    "a first value that is not said": (SCAN + "S(s).ExclusiveScan(x[i], a, cub::Max());", "KR103"),
    "another method": (REDUCE + "a = R(s).Shuffle(x[i]);", "KR103"),
    "stripes": (
        f"typedef cub::BlockLoad<float, {N}, 2, cub::BLOCK_LOAD_STRIPED> L; __shared__ L::TempStorage s; float v[2], a;"
        "L(s).Load(x, v); a = v[0];",
        "KR299",
    ),
    "a barrier that some do not reach": (REDUCE + "a = 0; if (t < 3) a = R(s).Sum(x[i]);", "KR206"),
    "pairs": (
        "typedef cub::BlockReduce<cub::KeyValuePair<int, float>, 64> R; __shared__ R::TempStorage s; float a = 0;",
        "KR102",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, code = REFUSED[name]
    result = module(body + "y[i] = a;")
    assert code in {d.code for d in result.diagnostics}, result.text


def test_another_block_is_refused():
    f = load_module(module(REDUCE + "a = R(s).Sum(x[i]); if (t == 0) y[blockIdx.x] = a;").text).f
    with pytest.raises(ValueError, match="64 threads"):
        f(X, np.zeros(4, np.float32), 10, block=32, grid=8)
