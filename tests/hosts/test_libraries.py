"""Library calls of host functions: values against references written here from the libraries' manuals, gradients
against the interpreter, and what is refused by its name."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify import interpreter
from kraise.verify.load import load_module

SCALE = """
__global__ void scale(float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
"""


def host(body, name="f"):
    """The emitted function of a host in CUDA C, and the translation."""
    done = pipeline.translate(SCALE + body, "a.cu")
    assert name in done.raised, [d.reason for d in done.diagnostics]
    return getattr(load_module(done.text), name), done


def agrees(done, f, **given):
    """The tangent of the emitted function against the interpreter's, along one random direction."""
    import jax

    rng = np.random.default_rng(7)
    floats = {n: a for n, a in given.items() if isinstance(a, np.ndarray) and a.dtype.kind == "f"}
    along = {n: rng.uniform(-1.0, 1.0, a.shape).astype(np.float32) for n, a in floats.items()}
    duals = {n: t[None].astype(float) for n, t in along.items()}
    outcome = interpreter.run(done.source, "f", {n: np.copy(a) for n, a in given.items()}, duals=duals)
    rest = {n: a for n, a in given.items() if n not in floats}
    values, tangents = jax.jvp(lambda x: f(**x, **rest), (floats,), (along,))
    want = [*zip(outcome.returned, outcome.returned_tangents, strict=True)]
    want += [(outcome.arrays[n], outcome.tangents[n]) for n in outcome.may_write]
    values, tangents = jax.tree.leaves(values), jax.tree.leaves(tangents)
    assert len(values) == len(want)
    for value, tangent, (number, t) in zip(values, tangents, want, strict=True):
        np.testing.assert_allclose(value, number, rtol=1e-4, atol=1e-5)
        if t is not None and tangent.dtype.kind == "f":
            np.testing.assert_allclose(tangent, np.reshape(t, np.shape(tangent)), rtol=1e-3, atol=1e-4)


def array(n, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, n).astype(np.float32)


def column_major(flat, rows, columns, ld):
    """The matrix that cuBLAS sees in memory."""
    return np.array([[flat[i + j * ld] for j in range(columns)] for i in range(rows)])


def stored(flat, matrix, ld):
    """Memory after a column-major matrix was written to it."""
    out = flat.copy()
    for i, j in np.ndindex(*matrix.shape):
        out[i + j * ld] = matrix[i, j]
    return out


@pytest.mark.parametrize("ta", "NT")
@pytest.mark.parametrize("tb", "NT")
@pytest.mark.parametrize("gap", (0, 2))
def test_gemm_is_column_major(ta, tb, gap):
    m, n, k = 3, 5, 4
    f, done = host(
        "void f(cublasHandle_t h, const float *A, const float *B, float *C, float alpha, float beta, int m, int n,"
        " int k, int lda, int ldb, int ldc) {\n"
        "    scale<<<1, 256>>>(C, 2.0f, ldc * n);\n"
        f"    cublasSgemm(h, CUBLAS_OP_{ta}, CUBLAS_OP_{tb}, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);\n}}\n"
    )
    lda, ldb, ldc = (m if ta == "N" else k) + gap, (k if tb == "N" else n) + gap, m + gap
    A, B, C = array(lda * 5), array(ldb * 5, 1), array(ldc * n, 2)
    a = column_major(A, m, k, lda) if ta == "N" else column_major(A, k, m, lda).T
    b = column_major(B, k, n, ldb) if tb == "N" else column_major(B, n, k, ldb).T
    before = 2 * C
    want = stored(before, 0.5 * a @ b + 0.25 * column_major(before, m, n, ldc), ldc)
    sizes = {"m": m, "n": n, "k": k, "lda": lda, "ldb": ldb, "ldc": ldc}
    got = f(A, B, C, 0.5, 0.25, **sizes)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    if gap and ta != tb:
        agrees(done, f, A=A, B=B, C=C, alpha=0.5, beta=0.25, **sizes)


def test_a_factor_of_zero_reads_nothing():
    f, done = host(
        "void f(cublasHandle_t h, float *A, const float *x, float *y, int m, int n) {\n"
        "    const float one = 1.0f, zero = 0.0f;\n    scale<<<1, 256>>>(A, 2.0f, m * n);\n"
        "    cublasSgemv(h, CUBLAS_OP_N, m, n, &one, A, m, x, 1, &zero, y, 1);\n}\n"
    )
    A, x = array(12), array(4, 1)
    got = f(A, x, np.full(3, np.nan, np.float32), 3, 4)[1]
    np.testing.assert_allclose(got, 2 * column_major(A, 3, 4, 3) @ x, rtol=1e-5)
    assert "y[" not in done.text.partition("def f(")[2].replace("y.at[", "")


LEVELS = {
    "gemv transposed": (
        "float a = 0.5f, b = 2.0f; cublasSgemv(h, CUBLAS_OP_T, 3, 4, &a, A, 3, x, 1, &b, y, 1);",
        lambda A, x, y: {"y": np.concatenate([0.5 * column_major(A, 3, 4, 3).T @ x[:3] + 2 * y[:4], y[4:]])},
    ),
    "ger": (
        "float a = 0.5f; cublasSger(h, 3, 4, &a, x, 1, y, 1, A, 3);",
        lambda A, x, y: {"A": stored(A, column_major(A, 3, 4, 3) + 0.5 * np.outer(x[:3], y[:4]), 3)},
    ),
    "geam": (
        "float a = 0.5f, b = 2.0f; cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, 3, 4, &a, A, 4, &b, A, 3, y, 3);",
        lambda A, x, y: {
            "y": stored(y, 0.5 * column_major(A, 4, 3, 4).T + 2 * column_major(A, 3, 4, 3), 3),
        },
    ),
    "strides": (
        "float a = 0.5f; cublasSaxpy(h, 4, &a, x, 2, y, 3);",
        lambda A, x, y: {"y": _strided(x, y)},
    ),
    "swap": (
        "cublasSswap(h, 5, x, 1, y, 1);",
        lambda A, x, y: {"x": np.concatenate([y[:5], x[5:]]), "y": np.concatenate([x[:5], y[5:]])},
    ),
    "rot": (
        "float c = 0.6f, s = 0.8f; cublasSrot(h, 5, x, 1, y, 1, &c, &s);",
        lambda A, x, y: {
            "x": np.concatenate([0.6 * x[:5] + 0.8 * y[:5], x[5:]]),
            "y": np.concatenate([0.6 * y[:5] - 0.8 * x[:5], y[5:]]),
        },
    ),
    "scal at an offset": (
        "float a = 3.0f; cublasSscal(h, 4, &a, x + 2, 1);",
        lambda A, x, y: {"x": np.concatenate([x[:2], 3 * x[2:6], x[6:]])},
    ),
}


def _strided(x, y):
    out = y.copy()
    for i in range(4):
        out[3 * i] += np.float32(0.5) * x[2 * i]
    return out


@pytest.mark.parametrize("what", LEVELS)
def test_vectors_and_matrices(what):
    body, reference = LEVELS[what]
    f, done = host(
        "void f(cublasHandle_t h, float *A, float *x, float *y) {\n"
        f"    scale<<<1, 32>>>(A, 1.0f, 12);\n    {body}\n}}\n"
    )
    given = {"A": array(12), "x": array(12, 1), "y": array(12, 2)}
    got = f(**given)
    host_ir = next(x for x in done.module.hosts if x.name == "f")
    got = dict(zip(host_ir.memory, got, strict=True)) if isinstance(got, tuple) else {host_ir.memory[0]: got}
    for name, want in (given | reference(**given)).items():
        np.testing.assert_allclose(got.get(name, given[name]), want, rtol=1e-5, atol=1e-6)
    agrees(done, f, **given)


NUMBERS = {
    "cublasSdot(h, 6, x, 1, y, 2, &r)": lambda x, y: x[:6] @ y[:12:2],
    "cublasSnrm2(h, 12, x, 1, &r)": lambda x, y: np.sqrt(np.sum(x * x)),
    "cublasSasum(h, 12, x, 1, &r)": lambda x, y: np.sum(np.abs(x)),
    "r = thrust::reduce(thrust::device, x, x + 5, 1.0f, thrust::plus<float>())": lambda x, y: 1 + np.sum(x[:5]),
    "r = thrust::reduce(thrust::device, x + 2, x + 7, -9.0f, thrust::maximum<float>())": lambda x, y: np.max(x[2:7]),
    "thrust::minimum<float> op; r = thrust::reduce(thrust::device, &x[0], x + 12, 9.0f, op)": lambda x, y: np.min(x),
    "r = thrust::inner_product(thrust::device, x, x + 12, y, 0.0f)": lambda x, y: x @ y,
    "r = sqrtf(thrust::transform_reduce(thrust::device, x, x + 12, [] __device__ (float v) { return v * v; }, 0.0f,"
    " thrust::plus<float>())) + 1.0f": lambda x, y: np.sqrt(np.sum(x * x)) + 1,
    "r = *thrust::min_element(thrust::device, x, x + 12)": lambda x, y: np.min(x),
    "r = thrust::max_element(thrust::device, x, x + 12) - x": lambda x, y: np.argmax(x),
    "r = thrust::count_if(thrust::device, x, x + 12, thrust::placeholders::_1 > 0.0f)": lambda x, y: np.sum(x > 0),
}


@pytest.mark.parametrize("call", NUMBERS)
def test_numbers(call):
    f, done = host(
        f"float f(cublasHandle_t h, float *x, const float *y) {{\n    float r;\n    {call};\n"
        "    scale<<<1, 32>>>(x, 2.0f, 12);\n    return r;\n}\n"
    )
    x, y = array(12), array(12, 1)
    np.testing.assert_allclose(f(x, y)[0], NUMBERS[call](x, y), rtol=1e-5)
    agrees(done, f, x=x, y=y)


def dft(z, sign):
    n = len(z)
    return np.array([sum(z[j] * np.exp(sign * 2j * np.pi * j * k / n) for j in range(n)) for k in range(n)])


@pytest.mark.parametrize("direction, sign", (("FORWARD", -1), ("INVERSE", 1)))
@pytest.mark.parametrize("batch", (1, 2, "many"))
def test_transforms_are_not_normalised(direction, sign, batch):
    plan = f"cufftPlan1d(&plan, n, CUFFT_C2C, {batch});"
    if batch == "many":
        plan, batch = "int e[] = {n}; cufftPlanMany(&plan, 1, e, NULL, 1, n, e, 1, n, CUFFT_C2C, 2);", 2
    f, done = host(
        "void f(cufftComplex *z, float *x, int n) {\n    cufftHandle plan;\n"
        f"    {plan}\n    scale<<<1, 32>>>(x, 2.0f, n);\n"
        f"    cufftExecC2C(plan, z, z, CUFFT_{direction});\n    cufftDestroy(plan);\n}}\n"
    )
    z = array((10, 2))
    want = z.copy()
    for b in range(batch):
        found = dft(z[5 * b : 5 * b + 5, 0] + 1j * z[5 * b : 5 * b + 5, 1], sign)
        want[5 * b : 5 * b + 5] = np.stack([found.real, found.imag], 1)
    np.testing.assert_allclose(f(z, array(5), 5)[0], want, rtol=1e-4, atol=1e-5)
    agrees(done, f, z=z, x=array(5), n=5)


def test_a_real_transform_and_back():
    f, done = host(
        "void f(float *x, cufftComplex *z, int n, int m) {\n    cufftHandle there, back;\n"
        "    cufftPlan2d(&there, n, m, CUFFT_R2C);\n    cufftPlan2d(&back, n, m, CUFFT_C2R);\n"
        "    cufftExecR2C(there, x, z);\n    cufftExecC2R(back, z, x);\n"
        "    scale<<<1, 32>>>(x, 1.0f / (n * m), n * m);\n}\n"
    )
    x = array(15)
    got, z = f(x, np.zeros((9, 2), np.float32), 3, 5)
    np.testing.assert_allclose(got, x, atol=1e-6)
    want = np.array([dft(row, -1) for row in x.reshape(3, 5)])
    want = np.array([dft(column, -1) for column in want.T]).T[:, :3].ravel()
    np.testing.assert_allclose(z[:, 0] + 1j * z[:, 1], want, rtol=1e-4, atol=1e-5)
    agrees(done, f, x=x, z=array((9, 2)), n=3, m=5)


SEQUENCES = {
    "thrust::device_vector<float> v(x, x + n); thrust::sort(v.begin(), v.end(), thrust::greater<float>());"
    " thrust::copy(v.begin(), v.end(), x);": lambda x, y: (np.sort(x)[::-1], y),
    "thrust::device_ptr<float> p(x); thrust::device_ptr<float> q = thrust::device_pointer_cast(y);"
    " thrust::sort_by_key(p, p + n, q);": lambda x, y: (np.sort(x), y[np.argsort(x)]),
    "thrust::exclusive_scan(thrust::device, x, x + n, y, 2.0f);": lambda x, y: (
        x, np.concatenate([[2], 2 + np.cumsum(x)[:-1]])
    ),
    "thrust::inclusive_scan(thrust::device, x, x + n, y, thrust::maximum<float>());": lambda x, y: (
        x, np.maximum.accumulate(x)
    ),
    "thrust::transform(thrust::device, x, x + n, y, y, axpy(0.5f));": lambda x, y: (x, 0.5 * x + y),
    "axpy op(0.5f); thrust::transform(thrust::device, x + 1, x + n, y + 1, y + 1, op);": lambda x, y: (
        x, np.concatenate([y[:1], 0.5 * x[1:] + y[1:]])
    ),
    "float a = 3.0f; auto op = [=] __device__ (float v) { return a * v; };"
    " thrust::transform(thrust::device, x, x + n, y, op);": lambda x, y: (x, 3 * x),
    "thrust::for_each(thrust::device, thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),"
    " [=] __device__ (int i) { y[i] = x[i] * i; });": lambda x, y: (x, x * np.arange(len(x))),
    "void *t = NULL; size_t b = 0; cub::DeviceScan::InclusiveSum(t, b, x, y, n); cudaMalloc(&t, b);"
    " cub::DeviceScan::InclusiveSum(t, b, x, y, n); cudaFree(t);": lambda x, y: (x, np.cumsum(x)),
    "void *t = nullptr; size_t b; cub::DeviceScan::InclusiveSum(t, b, x, x, n); cudaMalloc(&t, b);"
    " cub::DeviceScan::InclusiveSum(t, b, x, x, n);": lambda x, y: (np.cumsum(x), y),
    "void *t; size_t b; cudaMalloc(&t, 9); cub::DeviceRadixSort::SortKeys(t, b, x, y, n, 0, 32);": lambda x, y: (
        x, np.sort(x)
    ),
    "thrust::fill(thrust::device, y + 2, y + n, 4.0f);": lambda x, y: (x, np.r_[y[:2], np.full(len(y) - 2, 4.0)]),
    "thrust::sequence(thrust::device, y, y + n, 1.0f, 0.5f);": lambda x, y: (x, 1 + 0.5 * np.arange(len(y))),
    "thrust::adjacent_difference(thrust::device, x, x + n, y);": lambda x, y: (x, np.r_[x[:1], np.diff(x)]),
    "thrust::adjacent_difference(thrust::device, x, x + n, x);": lambda x, y: (np.r_[x[:1], np.diff(x)], y),
    "thrust::reverse(thrust::device, x + 1, x + n);": lambda x, y: (np.r_[x[:1], x[:0:-1]], y),
    "thrust::swap_ranges(thrust::device, x, x + 5, y);": lambda x, y: (np.r_[y[:5], x[5:]], np.r_[x[:5], y[5:]]),
    "thrust::transform_inclusive_scan(thrust::device, x, x + n, y, [] __device__ (float v) { return v * v; },"
    " thrust::plus<float>());": lambda x, y: (x, np.cumsum(x * x)),
    "void *t = NULL; size_t b = 0; cub::DeviceScan::InclusiveScan(t, b, x, y, cub::Max(), n); cudaMalloc(&t, b);"
    " cub::DeviceScan::InclusiveScan(t, b, x, y, cub::Max(), n);": lambda x, y: (x, np.maximum.accumulate(x)),
    "void *t = NULL; size_t b = 0; cub::DeviceScan::ExclusiveScan(t, b, x, y, cub::Sum(), 2.0f, n); cudaMalloc(&t, b);"
    " cub::DeviceScan::ExclusiveScan(t, b, x, y, cub::Sum(), 2.0f, n);": lambda x, y: (
        x, np.concatenate([[2], 2 + np.cumsum(x)[:-1]])
    ),
    "axpy op(0.5f); void *t{nullptr}; size_t b{}; cub::DeviceScan::InclusiveScan(t, b, x, y, op, n); cudaMalloc(&t, b);"
    " cub::DeviceScan::InclusiveScan(t, b, x, y, op, n);": lambda x, y: (
        x, [sum(0.5 ** (i - k) * x[k] for k in range(i + 1)) for i in range(len(x))]
    ),
    "void *t = 0; size_t b; cudaMalloc(&t, 9); cub::DeviceScan::ExclusiveScan(t, b, x, x, cub::Max(), -9.0f, n);":
    lambda x, y: (np.r_[-9, np.maximum.accumulate(x)[:-1]], y),
    "void *t = 0; size_t b; cudaMalloc(&t, 9); int h[4] = {0, 4, 4, n};"
    " cub::DeviceSegmentedReduce::Sum(t, b, x, y, 3, h, h + 1);": lambda x, y: (
        x, np.r_[np.sum(x[:4]), 0, np.sum(x[4:]), y[3:]]
    ),
    "void *t = 0; size_t b; cudaMalloc(&t, 9);"
    " cub::DeviceRadixSort::SortKeysDescending(t, b, x, y, n, 0, sizeof(float) * 8);":
    lambda x, y: (x, np.sort(x)[::-1]),
    "thrust::device_ptr<float> p = thrust::device_pointer_cast(x), e = p + n; thrust::inclusive_scan(p, e - 2, p);":
    lambda x, y: (np.r_[np.cumsum(x[:-2]), x[-2:]], y),
    "auto it = thrust::max_element(thrust::device, x + 2, x + n); y[0] = *it; y[1] = it - x;"
    " y[2] = std::distance(x + 2, it);": lambda x, y: (
        x, np.r_[np.max(x[2:]), 2 + np.argmax(x[2:]), np.argmax(x[2:]), y[3:]]
    ),
    "auto p = thrust::minmax_element(thrust::device, x, x + n); y[0] = *p.first - *p.second; y[1] = p.second - x;":
    lambda x, y: (x, np.r_[np.min(x) - np.max(x), np.argmax(x), y[2:]]),
    "std::vector<float> v(n, 1.0f); std::vector<float> w = v; v[0] = 5.0f; thrust::copy(w.begin(), w.end(), y);":
    lambda x, y: (x, np.ones(len(y))),
}  # fmt: skip
AXPY = """
struct axpy {
    float a;
    axpy(float a_) : a(a_) {}
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
"""


@pytest.mark.parametrize("body", SEQUENCES)
def test_sequences(body):
    f, done = host(f"{AXPY}void f(float *x, float *y, int n) {{\n    scale<<<1, 32>>>(x, 2.0f, n);\n    {body}\n}}\n")
    x, y = array(9), array(9, 1)
    got = f(x, y, 9)
    memory = next(h for h in done.module.hosts if h.name == "f").memory
    got = dict(zip(memory, got, strict=True)) if isinstance(got, tuple) else {memory[0]: got}
    for name, want in zip("xy", SEQUENCES[body](2 * x, y), strict=True):
        np.testing.assert_allclose(got.get(name, y), want, rtol=1e-5, atol=1e-6)
    agrees(done, f, x=x, y=y, n=9)


def test_handles_and_containers_are_handed_around():
    f, done = host(
        "float norm(cublasHandle_t h, const thrust::device_vector<float> &v, cudaStream_t s) {\n"
        "    float r; cublasSnrm2(h, v.size(), thrust::raw_pointer_cast(v.data()), 1, &r); return r;\n}\n"
        "float f(const float *x, int n) {\n    cublasHandle_t handle; cublasCreate(&handle);\n"
        "    thrust::device_vector<float> v(x, x + n);\n    scale<<<1, 32>>>(v.data().get(), 2.0f, n);\n"
        "    float r = norm(handle, v, 0);\n    cublasDestroy(handle);\n    return r;\n}\n"
    )
    x = array(9)
    np.testing.assert_allclose(f(x, 9), 2 * np.linalg.norm(x), rtol=1e-5)
    agrees(done, f, x=x, n=9)


REFUSED = {
    "cublasSsymm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, n, &a, x, n, x, n, &a, y, n);": "cublasSsymm",
    "curandGenerateUniform(g, x, n);": "curandGenerateUniform",
    "thrust::unique(thrust::device, x, x + n);": "thrust::unique",
    "cublasSaxpy(h, n, &a, x, -1, y, 1);": "stride",
    "cublasSaxpy(h, n, &a, x, n, y, 1);": "stride",
    "cublasDaxpy(h, n, &a, x, 1, y, 1);": "float64",
    "a = thrust::reduce(thrust::device, x, x + n, 0);": "type of its initial value",
    "thrust::sort(thrust::device, x, y);": "one array",
    "cub::DeviceSelect::Unique(t, b, x, y, k, n);": "cub::DeviceSelect::Unique",
    "cufftExecC2C(plan, z, z, CUFFT_FORWARD);": "plan",
    "void *t = 0; size_t b; cudaMalloc(&t, 9); cub::DeviceRadixSort::SortKeys(t, b, x, y, n, 0, 8);": "bits",
    "int e[] = {n}; cufftHandle p; cufftPlanMany(&p, 1, e, e, 2, n, e, 2, n, CUFFT_C2C, 2);": "layout",
    "int e[] = {n}; e[0] = 4; cufftHandle p; cufftPlanMany(&p, 1, e, 0, 1, n, 0, 1, n, CUFFT_C2C, 2);": "layout",
    "cusparseSpMV(h, 0, &a, m, v, &a, w, 0, 0, 0);": "cusparseSpMV",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_is_named(body):
    done = pipeline.translate(
        SCALE + "void f(cublasHandle_t h, float *x, float *y, int n, float a, cufftComplex *z, int *k) {\n"
        f"    scale<<<1, 32>>>(x, 2.0f, n);\n    {body}\n}}\n",
        "a.cu",
    )
    errors = [d for d in done.diagnostics if d.severity == "error"]
    assert "scale" in done.raised and "f" not in done.raised
    assert any(REFUSED[body] in d.reason and d.span.line == 8 for d in errors), [d.reason for d in errors]


def test_a_plan_keeps_its_size():
    done = pipeline.translate(
        SCALE + "void f(cufftComplex *z, float *x, int n) {\n    cufftHandle plan;\n"
        "    cufftPlan1d(&plan, n, CUFFT_C2C, 1);\n    n = n / 2;\n    scale<<<1, 32>>>(x, 2.0f, n);\n"
        "    cufftExecC2C(plan, z, z, CUFFT_FORWARD);\n}\n",
        "a.cu",
    )
    assert "f" not in done.raised and any("size of a plan" in d.reason for d in done.diagnostics)


def test_a_size_that_changes_is_not_the_whole_array():
    f, done = host(
        "void f(float *out, int n) {\n    float *d; cudaMalloc(&d, n * sizeof(float));\n"
        "    thrust::fill(thrust::device, d, d + n, 1.0f);\n    int m = n;\n    n = n / 2;\n"
        "    thrust::fill(thrust::device, d, d + n, 2.0f);\n    scale<<<1, 32>>>(d, 2.0f, m);\n"
        "    cudaMemcpy(out, d, m * sizeof(float), cudaMemcpyDeviceToHost);\n}\n"
    )
    np.testing.assert_allclose(f(array(6), 6), [4, 4, 4, 2, 2, 2])
    agrees(done, f, out=array(6), n=6)


@pytest.mark.parametrize("rest", (0, 2))
def test_a_matrix_inside_another(rest):
    """``A + 1`` and ``C + 2`` with leading dimensions: the memory may end with the last element that is named."""
    m, n, k, lda, ldc = 3, 2, 4, 5, 4
    f, done = host(
        "void f(cublasHandle_t h, const float *A, const float *B, float *C, float beta, int m, int n, int k, int lda,"
        " int ldc) {\n    float alpha = 0.5f;\n    scale<<<1, 256>>>(C, 2.0f, ldc * (n - 1) + m + 2);\n"
        "    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A + 1, lda, B, k, &beta, C + 2, ldc);\n}\n"
    )
    A, B, C = array(lda * (k - 1) + m + 1 + rest), array(k * n, 1), array(ldc * (n - 1) + m + 2 + rest, 2)
    want = C.copy()
    want[: ldc * (n - 1) + m + 2] *= 2
    want[2:] = stored(
        want[2:], 0.5 * column_major(A[1:], m, k, lda) @ column_major(B, k, n, k)
        + 0.25 * column_major(want[2:], m, n, ldc), ldc,
    )  # fmt: skip
    sizes = {"m": m, "n": n, "k": k, "lda": lda, "ldc": ldc}
    np.testing.assert_allclose(f(A, B, C, 0.25, **sizes), want, rtol=1e-5, atol=1e-6)
    agrees(done, f, A=A, B=B, C=C, beta=0.25, **sizes)


@pytest.mark.parametrize(
    "work",
    (
        "auto p = thrust::mismatch(thrust::device, x, x + n, y); r = *p.second - *p.first;",
        "auto b = thrust::make_zip_iterator(thrust::make_tuple(x, y)); r = strange(b, n);",
        "auto p = thrust::mismatch(thrust::device, x, x + n, y); y[0] = *p.second;",
        "auto p = thrust::mismatch(thrust::device, x, x + n, y); y[0] += *p.second;",
        "auto p = thrust::mismatch(thrust::device, x, x + n, y); float q = *p.first; r = 2.0f * q;",
        "auto p = thrust::mismatch(thrust::device, x, x + n, y); if (*p.first > 0.0f) r = 1.0f;",
    ),
)
def test_a_value_that_is_not_known_is_not_lost(work):
    """What comes of an unknown call is no time and no error code: a result of it is refused, not left out."""
    body = (
        f"float f(float *x, float *y, int n) {{\n    float r = 0.0f;\n    scale<<<1, 32>>>(x, 2.0f, n);\n    {work}\n"
    )
    done = pipeline.translate(SCALE + body + "    return r;\n}\n", "a.cu")
    assert "f" not in done.raised and any(d.kernel == "f" and d.severity == "error" for d in done.diagnostics)


@pytest.mark.parametrize("value", ("ms", "status", "1000.0f * ms / n"))
def test_a_time_and_a_status_are_left_out(value):
    body = (
        "float f(float *x, float *y, int n) {\n    cudaEvent_t a, b; float ms; int status = cudaSetDevice(0);\n"
        "    cudaEventCreate(&a); cudaEventCreate(&b);\n    cudaEventRecord(a);\n    scale<<<1, 32>>>(x, 2.0f, n);\n"
        f"    cudaEventRecord(b); cudaEventElapsedTime(&ms, a, b);\n    return {value};\n}}\n"
    )
    f, _ = host(body)
    np.testing.assert_allclose(f(array(9), array(9), 9), 2 * array(9))


def test_a_check_of_statuses_is_no_host():
    """It only looks at a status of the library: nothing is said of it, and its calls are dropped."""
    source = """
__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
void check(cublasStatus_t status, const char *file, int line) {
  if (status != CUBLAS_STATUS_SUCCESS) { printf("%s:%d: %d\\n", file, line, status); exit(EXIT_FAILURE); }
}
void run(cublasHandle_t handle, float *x, const float *y, float a, int n) {
  twice<<<(n + 63) / 64, 64>>>(x, n);
  check(cublasSaxpy(handle, n, &a, y, 1, x, 1), __FILE__, __LINE__);
}
"""
    done = pipeline.translate(source, "a.cu")
    assert done.raised == ("twice", "run") and not done.diagnostics, done.diagnostics
