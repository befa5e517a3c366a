"""What ``verify`` tries of launches: it ends soon where nothing guards a kernel, and what it cannot run is said."""

from kraise import pipeline
from kraise.frontends import cuda_c
from kraise.verify import launches

PRODUCT = """
template <int TILE> __global__ void product(float *c, const float *a, const float *b, int wa, int wb) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < wa; k += TILE) {
    as[threadIdx.y][threadIdx.x] = a[y * wa + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * wb + x];
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[y * wb + x] = sum;
}
void run(float *c, float *a, float *b, int n, bool large) {
  if (large) product<32><<<dim3(n, n), dim3(32, 32)>>>(c, a, b, 32 * n, 32 * n);
  else product<16><<<dim3(n, n), dim3(16, 16)>>>(c, a, b, 16 * n, 16 * n);
}
"""
DIVIDES = """
__global__ void mark(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }
void run(int *x, int n, int threads) { int rows = n / (threads / 32); mark<<<rows, 64>>>(x, n); }
"""


def test_a_search_for_launches_ends_soon_where_nothing_guards(monkeypatch):
    rounds = []
    run = launches.interpreter.run

    def counted(*args, **given):
        outcome = run(*args, **given)
        if given.get("probe") is not None:
            rounds.append(given["probe"].rounds)
        return outcome

    monkeypatch.setattr(launches.interpreter, "run", counted)
    module, _ = cuda_c.read(PRODUCT, "k.cu")
    kernel = next(f for f in module.functions if f.name == "product")
    arrays = {n: [1.0] * 64 for n in "abc"}
    running = launches.prober(module, kernel.name, arrays | {"wa": 29, "wb": 23, "TILE": 8}, None)
    assert launches.covering((0, 1), (8, 8, 1), running) is None
    launches.covering_each((3, 2, 1), (0, 1), (8, 8, 1), running)
    assert rounds and max(rounds) < 4 * launches.MOST_ROUNDS


def test_a_host_that_divides_by_zero_is_no_internal_error():
    done = pipeline.translate(DIVIDES, "k.cu")
    assert "run" in done.raised
    _, findings = pipeline.verify(done, pipeline.Request(gradients=False), "k.cu", DIVIDES)
    assert {f.code for f in findings} <= {"KR215", "KR502"}
