"""The size of a kernel's blocks as the file's launches give it, also in a ``main`` that is not read."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.compare import verify

PRODUCT = """
const int N = 8;
__global__ void product(const float *a, const float *b, float *c) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[16], t[16];
  float sum = 0;
  for (int i = 0; i < N; i += blockDim.x) {
    s[threadIdx.y * blockDim.x + threadIdx.x] = a[row * N + i + threadIdx.x];
    t[threadIdx.y * blockDim.x + threadIdx.x] = b[(i + threadIdx.y) * N + col];
    __syncthreads();
    for (int k = 0; k < blockDim.x; k++) sum += s[threadIdx.y * blockDim.x + k] * t[k * blockDim.x + threadIdx.x];
    __syncthreads();
  }
  c[row * N + col] = sum;
}
"""
MAIN = 'int main(int argc, char **argv) {{ float *a, *b, *c; {0} printf("%f", c[0]); }}\n'
LAUNCHES = {
    "followed": "int side = 4; int blocks = N / side; dim3 threads(side, side); dim3 grid(blocks, blocks);"
    " product<<<grid, threads>>>(a, b, c);",
    "written there": "product<<<dim3(N / 4, N / 4), dim3(2 * 2, 4)>>>(a, b, c);",
    "through a pointer": "void (*run)(const float *, const float *, float *) = &product;"
    " dim3 grid(2, 2), threads(4, 4);"
    " run<<<grid, threads>>>(a, b, c);",
    "assigned": "dim3 threads = dim3(4, 4, 1); product<<<dim3(2, 2), threads, 0, 0>>>(a, b, c);",
}
UNKNOWN = {
    "changed later": "int side = 4; side = atoi(argv[1]); product<<<4, dim3(side, side)>>>(a, b, c);",
    "filled elsewhere": 'int side = 4; scanf("%d", &side); product<<<4, dim3(side, side)>>>(a, b, c);',
    "through a pointer to another": "void (*run)(float *) = other; run<<<4, dim3(4, 4)>>>(a);",
    "two sizes": "product<<<4, dim3(4, 4)>>>(a, b, c); product<<<4, dim3(2, 2)>>>(a, b, c);",
    "a member": "dim3 threads(4, 4); threads.y = argc; product<<<4, threads>>>(a, b, c);",
}


@pytest.mark.parametrize("name", LAUNCHES)
@pytest.mark.long_cases("written there", "assigned")
def test_a_size_that_only_main_gives(name):
    done = pipeline.translate(PRODUCT + MAIN.format(LAUNCHES[name]), "a.cu")
    assert done.raised == ("product",), done.diagnostics
    assert "a block has 4 threads along y" in done.text and "loop" not in done.text
    rng = np.random.default_rng(0)
    arrays = {n: rng.uniform(-1, 1, 64).astype(np.float32) for n in "abc"}
    report = verify(done.source, done.text, "product", Case("product", arrays, (2, 2), (4, 4)))
    assert report.ok, [(r.check, r.message) for r in report.failures]


@pytest.mark.parametrize("name", UNKNOWN)
def test_no_size_that_is_not_certain(name):
    done = pipeline.translate(PRODUCT + MAIN.format(UNKNOWN[name]), "a.cu")
    assert not done.raised and {d.code for d in done.diagnostics if d.kernel == "product"} == {"KR201"}
