"""Values that wait in registers while threads exchange others: tiles fetched ahead, planes that move on."""

import pytest

from kraise import pipeline
from tests.checks import verified

PRODUCT = """
#define T 2
__global__ void f(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float sa[T][T];
    __shared__ float sb[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.f;
    float a = (row < M && tx < K) ? A[row * K + tx] : 0.f;
    float b = (ty < K && col < N) ? B[ty * N + col] : 0.f;
    for (int t = 0; t < (K + T - 1) / T; ++t) {
        sa[ty][tx] = a;
        sb[ty][tx] = b;
        __syncthreads();
        if (t + 1 < (K + T - 1) / T) {
            int ka = (t + 1) * T + tx, kb = (t + 1) * T + ty;
            a = (row < M && ka < K) ? A[row * K + ka] : 0.f;
            b = (kb < K && col < N) ? B[kb * N + col] : 0.f;
        }
        for (int k = 0; k < T; ++k) acc += sa[ty][k] * sb[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
"""
PLANES = """
from numba import cuda, float32

@cuda.jit
def f(u, out):
    tile = cuda.shared.array((5, 6), float32)
    i, j = cuda.grid(2)
    tx = cuda.threadIdx.x + 1
    ty = cuda.threadIdx.y + 1
    nz, ny, nx = u.shape
    mid = u[0, j, i]
    front = u[1, j, i]
    for z in range(1, nz - 1):
        back = mid
        mid = front
        front = u[z + 1, j, i]
        cuda.syncthreads()
        tile[ty, tx] = mid
        if tx == 1 and i > 0:
            tile[ty, 0] = u[z, j, i - 1]
        if tx == 4 and i < nx - 1:
            tile[ty, 5] = u[z, j, i + 1]
        cuda.syncthreads()
        if i > 0 and i < nx - 1:
            out[z, j, i] = back + front - 6.0 * mid + tile[ty, tx - 1] + tile[ty, tx + 1]
"""
OTHERWISE = {  # the tile before the loop, or the rounds that fetch, are others
    "another first tile": ("A[row * K + tx]", "A[row * K + tx] * 2.f"),
    "no last tile": ("if (t + 1 < (K + T - 1) / T)", "if (t + 2 < (K + T - 1) / T)"),
    "never": ("if (t + 1 < (K + T - 1) / T)", "if (M < 3)"),
}


def _checked(source, name, **values):
    done = pipeline.translate(source, name)
    assert done.text is not None, [d.reason for d in done.diagnostics]
    block = (2, 2) if name == "f.cu" else (4, 4)
    for shapes, numbers, grid in values["launches"]:
        request = pipeline.Request(shapes=shapes, values=numbers, grid=grid, block=block, gradients=False)
        reports, problems = verified(done, request)
        assert not problems and all(r.ok for r in reports), [f.message for r in reports for f in r.failures]
    return done.text


def _products(source):
    sizes = [(3, 4, 5, (2, 2)), (2, 1, 1, (1, 1))]
    launches = [
        ({"A": (m * k,), "B": (k * n,), "C": (m * n,)}, {"M": m, "N": n, "K": k}, grid) for m, n, k, grid in sizes
    ]
    return _checked(source, "f.cu", launches=launches)


def test_a_tile_fetched_ahead_is_a_product():
    text = _products(PRODUCT)
    assert " @ " in text and "loop" not in text


@pytest.mark.parametrize("name", OTHERWISE)
def test_another_value_before_or_behind_is_none(name):
    assert " @ " not in _products(PRODUCT.replace(*OTHERWISE[name]))


@pytest.mark.parametrize("at", [0, 1])
def test_each_barrier_is_needed(at):
    first, second, third = PRODUCT.split("__syncthreads();")
    source = f"{first}{'__syncthreads();' * (at != 0)}{second}{'__syncthreads();' * (at != 1)}{third}"
    assert [d.code for d in pipeline.translate(source, "f.cu").diagnostics][:1] == ["KR201"]


def test_planes_that_move_on_are_slices():
    shapes = {"u": (5, 4, 8), "out": (5, 4, 8)}
    text = _checked(PLANES, "f.py", launches=[(shapes, {}, (2, 1))])
    assert "u[:-2, " in text and "loop" not in text and "scan" not in text


def test_planes_of_what_the_loop_stores_stay_a_loop():
    source = PLANES.replace("front = u[z + 1, j, i]", "front = u[z + 1, j, i] + tile[ty, tx]", 1)
    assert "u[:-2" not in (pipeline.translate(source, "f.py").text or "")
