"""Launches along x alone whose blocks are tiles numbered through: ``blockIdx.x % tiles`` and ``blockIdx.x / tiles``."""

import pytest

from kraise import pipeline
from tests.checks import agrees

COUNT = "int nbx = (nx + 7) / 8;"
TILE = "int bx = blockIdx.x % nbx, by = blockIdx.x / nbx;"
BY_DIGITS = "int tx = threadIdx.x % 8, ty = threadIdx.x / 8;"
BY_AXES = "int tx = threadIdx.x, ty = threadIdx.y;"
PLACE = "int x = bx * 8 + tx, y = by * 8 + ty;"
HEAD = "__global__ void f(const float *u, float *v, int nx, int ny"
STENCIL = "if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) v[y * nx + x] = u[y * nx + x - 1] * u[(y + 1) * nx + x];"
TURNED = "if (x < nx && y < ny) v[x * ny + y] = u[y * nx + x] * u[y * nx + x];"
STAGED = """__shared__ float s[8][9];
  if (x < nx && y < ny) s[ty][tx] = u[y * nx + x];
  __syncthreads();
  x = by * 8 + tx; y = bx * 8 + ty;
  if (x < ny && y < nx) v[y * ny + x] = s[tx][ty] * s[tx][ty];"""
IN_ROUNDS = """__shared__ float s[8][9];
  for (int j = 0; j < 8; j += 2) if (x < nx && y + j < ny) s[ty + j][tx] = u[(y + j) * nx + x];
  __syncthreads();
  x = by * 8 + tx; y = bx * 8 + ty;
  for (int j = 0; j < 8; j += 2) if (x < ny && y + j < nx) v[(y + j) * ny + x] = s[tx][ty + j];"""
KERNELS = {  # and the shape of a block
    "stencil": (f"{HEAD}) {{ {COUNT} {TILE} {BY_DIGITS} {PLACE} {STENCIL} }}", (64,)),
    "stencil, the count given": (f"{HEAD}, int nbx) {{ {TILE} {BY_DIGITS} {PLACE} {STENCIL} }}", (64,)),
    "stencil, rounded up": (f"{HEAD}) {{ int nbx = (nx - 1) / 8 + 1; {TILE} {BY_AXES} {PLACE} {STENCIL} }}", (8, 8)),
    "turned": (f"{HEAD}) {{ {COUNT} {TILE} {BY_DIGITS} {PLACE} {TURNED} }}", (64,)),
    "turned, the count given": (f"{HEAD}, int nbx) {{ {TILE} {BY_AXES} {PLACE} {TURNED} }}", (8, 8)),
    "turned by bits": (
        f"{HEAD}) {{ {COUNT} {TILE} int tx = threadIdx.x & 7, ty = threadIdx.x >> 3; {PLACE} {TURNED} }}",
        (64,),
    ),
    "turned, what is left": (
        f"{HEAD}) {{ {COUNT} int by = blockIdx.x / nbx, bx = blockIdx.x - by * nbx; {BY_AXES} {PLACE} {TURNED} }}",
        (8, 8),
    ),
    "staged": (f"{HEAD}) {{ {COUNT} {TILE} {BY_AXES} {PLACE} {STAGED} }}", (8, 8)),
    "staged by digits": (f"{HEAD}) {{ {COUNT} {TILE} {BY_DIGITS} {PLACE} {STAGED} }}", (64,)),
    "counted by threads": (
        f"{HEAD}) {{ int nbx = (nx + blockDim.x - 1) / blockDim.x; int bx = blockIdx.x % nbx, y = blockIdx.x / nbx;"
        f" int x = bx * blockDim.x + threadIdx.x; {TURNED} }}",
        None,
    ),
    "dealt to the blocks": (
        f"{HEAD}) {{ {COUNT} {BY_AXES} int all = nbx * ((ny + 7) / 8);"
        f" for (int t = blockIdx.x; t < all; t += gridDim.x) {{ int bx = t % nbx, by = t / nbx; {PLACE} {TURNED} }} }}",
        (8, 8),
    ),
    "rows in rounds": (
        f"{HEAD}) {{ {COUNT} {TILE} {BY_DIGITS} {PLACE} for (int j = 0; j < 8; j += 4)"
        " if (x < nx && y + j < ny) v[x * ny + y + j] = u[(y + j) * nx + x] * u[(y + j) * nx + x]; }",
        (32,),
    ),
    "in rounds": (f"{HEAD}) {{ {COUNT} {TILE} {BY_AXES} {PLACE} {IN_ROUNDS} }}", (8, 2)),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.long_cases("rows in rounds", "turned", "the count given", "rounded up", "what is left", "staged by digits")
def test_tiles_that_blocks_number(name):
    source, block = KERNELS[name]
    done = pipeline.translate(source, "k.cu")
    assert done.text and not done.diagnostics, [d.reason for d in done.diagnostics]
    assert "grid" not in done.text and "arange" not in done.text, done.text
    for nx, ny in ((19, 11), (8, 16), (3, 2)):
        tiles = (nx + 7) // 8
        blocks = tiles * ((ny + 7) // 8) if block else (nx + 3) // 4 * ny
        request = pipeline.Request(
            shapes={"u": (nx * ny,), "v": (nx * ny,)},
            values={"nx": nx, "ny": ny, "nbx": tiles},
            grid=(blocks,),
            block=block or (4,),
        )
        agrees(done, request, name, nx, ny)


def test_fewer_tiles_than_there_are_columns_leave_columns_out():
    done = pipeline.translate(KERNELS["stencil, the count given"][0], "k.cu")
    request = pipeline.Request(
        shapes={"u": (20 * 9,), "v": (20 * 9,)}, values={"nx": 20, "ny": 9, "nbx": 2}, grid=(4,), block=(64,)
    )
    agrees(done, request)


PRODUCT = """
__global__ void product(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float a[8][8], b[8][8];
  int tiles = (N + 7) / 8;
  int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  int row = blockIdx.x / tiles * 8 + ty, col = blockIdx.x % tiles * 8 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 8) {
    a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    b[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 8; k++) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}"""


def test_a_product_of_tiles():
    done = pipeline.translate(PRODUCT, "k.cu")
    assert done.text and "A2 @ B2" in done.text and "grid" not in done.text, (done.text, done.diagnostics)
    m, n, k = 9, 13, 10
    request = pipeline.Request(
        shapes={"A": (m * k,), "B": (k * n,), "C": (m * n,)}, values={"M": m, "N": n, "K": k}, grid=(4,), block=(64,)
    )
    agrees(done, request)


IN_PYTHON = """
from numba import cuda

@cuda.jit
def f(u, v, tiles):
    by = cuda.blockIdx.x // tiles
    bx = cuda.blockIdx.x % tiles
    x = bx * 8 + cuda.threadIdx.x % 8
    y = by * 8 + cuda.threadIdx.x // 8
    if x < u.shape[1] and y < u.shape[0]:
        v[x, y] = u[y, x] ** 2
"""


def test_the_same_in_python():
    done = pipeline.translate(IN_PYTHON, "k.py")
    assert done.text and "grid" not in done.text and "arange" not in done.text, (done.text, done.diagnostics)
    request = pipeline.Request(shapes={"u": (9, 12), "v": (12, 9)}, values={"tiles": 2}, grid=(4,), block=(64,))
    agrees(done, request)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("turned", "bx * 8 + tx", "bx * 7 + tx"),  # tiles that overlap
        ("turned", "blockIdx.x / nbx", "blockIdx.x / (nbx + 1)"),
        ("turned", "threadIdx.x / 8", "threadIdx.x / 16"),
        ("staged", "  __syncthreads();\n", ""),
        ("in rounds", "j += 2", "j += 1"),
        ("counted by threads", "% nbx", "% (nbx + 1)"),
        ("dealt to the blocks", "t += gridDim.x", "t += 2"),
        ("rows in rounds", "j += 4", "j += 3"),
    ],
)
def test_tiles_that_overlap_are_refused(name, old, new):
    source, block = KERNELS[name]
    assert old in source
    source = source.replace(old, new).replace("= u[y * nx + x] * u[y * nx + x]", "+= u[y * nx + x]")
    if "__shared__" in source:
        source = source.replace("= u[", "+= u[")
    done = pipeline.translate(source, "k.cu")
    assert done.text is None and done.diagnostics, done.text
