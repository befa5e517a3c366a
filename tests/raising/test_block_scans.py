"""Scans of blocks by their warps: each warp's running sum, and what the warps before it had, which one loop of each
thread adds up, a first warp scans, or the thread 0 of a block does."""

import pytest

from kraise import pipeline
from tests.checks import agrees, verified

WARP = """
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  for (int o = 1; o < 32; o <<= 1) {
    float t = __shfl_up_sync(0xffffffff, v, o);
    if (lane >= o) v += t;
  }
  if (lane == 31) ws[wid] = v;
  __syncthreads();
"""
SERIAL = "float off = 0.f; for (int k = 0; k < wid; ++k) off += ws[k];"
MASKED = "float off = 0.f; for (int k = 0; k < 32; ++k) if (k < wid) off += ws[k];"
LAST = "if (threadIdx.x == blockDim.x - 1) z[blockIdx.x] = v + off;"
FIRST_WARP = """
  if (wid == 0) {
    float s = lane < blockDim.x / 32 ? ws[lane] : 0.f;
    for (int o = 1; o < 32; o <<= 1) { float t = __shfl_up_sync(0xffffffff, s, o); if (lane >= o) s += t; }
    ws[lane] = s;
  }
  __syncthreads();
"""
ENDS = {
    "serial": f"{SERIAL} if (i < n) y[i] = v + off;",
    "serial, shifted": f"{SERIAL.replace('wid', '(threadIdx.x >> 5)')} if (i < n) y[i] = v + off;",
    "serial, divided": f"{SERIAL.replace('wid', 'threadIdx.x / 32')} if (i < n) y[i] = v + off;",
    "serial, exclusive": f"{SERIAL} if (i < n) y[i] = off + v - own;",
    "serial, masked": f"{MASKED} if (i < n) y[i] = v + off;",
    "serial, by halves": f"{SERIAL} if (i < n) y[i] = 0.5f * (v + off);",
    "serial, two stores": f"{SERIAL} if (i < n) y[i] = v + off; {LAST}",
    "first warp": f"{FIRST_WARP} if (wid > 0) v += ws[wid - 1]; if (i < n) y[i] = v;",
    "first warp, chosen": f"{FIRST_WARP} v += wid > 0 ? ws[wid - 1] : 0.f; if (i < n) y[i] = v;",
}
NUMBERED = {name: ENDS[name].replace("blockDim.x", "256") for name in ("serial", "serial, two stores", "first warp")}


def translated(end, size="blockDim.x", warp=WARP):
    head = f"__shared__ float ws[32]; int i = blockIdx.x * {size} + threadIdx.x; float own = i < n ? x[i] : 0.f;"
    text = f"__global__ void f(const float *x, float *y, float *z, int n) {{ {head} float v = own; {warp} {end} }}"
    return pipeline.translate(text, "k.cu")


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.long_cases(
    "serial, exclusive",
    "serial, masked",
    "serial, shifted",
    "serial, divided",
    "serial, by halves",
    "serial, two stores",
    "first warp, chosen",
)
def test_running_sums(end):
    done = translated(end)
    assert done.text is not None and "jnp.cumsum(" in done.text and "loop" not in done.text, done.text
    for n, grid, block in ((1, 1, 32), (150, 2, 96)):
        shapes = {"x": (n,), "y": (n,), "z": (grid,)}
        agrees(done, pipeline.Request(shapes=shapes, values={"n": n}, grid=grid, block=block), n, done.text)


@pytest.mark.parametrize("end", NUMBERED.values(), ids=NUMBERED)
@pytest.mark.long_cases("serial, two stores")
def test_blocks_of_a_number(end):
    """That the source's blocks have 256 threads says more than that they are of whole warps."""
    done = translated(end, "256")
    assert done.text is not None and "jnp.cumsum(" in done.text and "loop" not in done.text, done.text
    agrees(done, pipeline.Request(shapes={"x": (300,), "y": (300,), "z": (2,)}, values={"n": 300}, grid=2, block=256))


@pytest.mark.parametrize("end", ["serial", "first warp"])
@pytest.mark.parametrize("barrier", ["", "__syncwarp();"])
@pytest.mark.long_cases("first warp")
def test_warps_that_do_not_wait_for_each_other(end, barrier):
    done = translated(ENDS[end], warp=WARP.replace("__syncthreads();", barrier))
    assert done.text is None, done.text


@pytest.mark.parametrize("end", ["serial", "first warp"])
@pytest.mark.parametrize(
    ("old", "new"), [("lane == 31", "lane == 30"), ("lane >= o", "lane > o"), ("o < 32", "o < 16")]
)
@pytest.mark.long_cases("lane == 30-first warp", "lane > o-serial", "o < 16")
def test_what_is_no_running_sum(end, old, new):
    done = translated(ENDS[end], warp=WARP.replace(old, new))
    if done.text is not None:
        request = pipeline.Request(shapes={"x": (100,), "y": (100,), "z": (2,)}, values={"n": 100}, grid=2, block=64)
        agrees(done, request, done.text)


def test_a_store_with_a_race_does_not_wait():
    """What is stored to the array that others read before the barrier is no store of the scan's."""
    end = f"{SERIAL} y[i] = v + off;"
    head = "__shared__ float ws[32]; int i = blockIdx.x * blockDim.x + threadIdx.x; float v = y[i ^ 1];"
    done = pipeline.translate(f"__global__ void f(float *y) {{ {head} {WARP} {end} }}", "k.cu")
    assert done.text is None or "y[" in done.text
    unsafe = WARP.replace("__syncthreads();", "")
    done = pipeline.translate(f"__global__ void f(float *y) {{ {head} {unsafe} {end} }}", "k.cu")
    assert done.text is None, done.text


@pytest.mark.long
def test_over_all_blocks():
    """Blocks' sums, scanned by a second kernel and added by a third."""
    head = "__shared__ float ws[32]; int i = blockIdx.x * blockDim.x + threadIdx.x; float v = i < n ? x[i] : 0.f;"
    text = f"""
__global__ void blocks(const float *x, float *y, float *z, int n) {{ {head} {WARP} {ENDS["serial, two stores"]} }}
__global__ void sums(float *z, int m) {{
  float a = 0.f;
  for (int b = 0; b < m; b++) {{ float t = z[b]; z[b] = a; a += t; }}
}}
__global__ void add(float *y, const float *z, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += z[blockIdx.x];
}}
void scan(const float *x, float *y, int n) {{
  float *dx, *dy, *dz;
  int m = (n + 63) / 64;
  cudaMalloc(&dx, n * sizeof(float)); cudaMalloc(&dy, n * sizeof(float)); cudaMalloc(&dz, m * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  blocks<<<m, 64>>>(dx, dy, dz, n);
  sums<<<1, 1>>>(dz, m);
  add<<<m, 64>>>(dy, dz, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
}}
"""
    done = pipeline.translate(text, "k.cu")
    assert "scan" in done.raised, done.diagnostics
    request = pipeline.Request(shapes={"x": (150,), "y": (150,)}, values={"n": 150})
    reports, problems = verified(done, request)
    (found,) = [r for r in reports if r.kernel == "scan"]
    assert found.ok, (problems, [(f.check, f.message) for f in found.failures])


@pytest.mark.long
def test_in_python():
    source = """
from numba import cuda, float32

@cuda.jit
def f(x, y):
    ws = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    wid = cuda.threadIdx.x // 32
    v = x[i] if i < x.size else 0.0
    for o in (1, 2, 4, 8, 16):
        t = cuda.shfl_up_sync(0xffffffff, v, o)
        if lane >= o:
            v += t
    if lane == 31:
        ws[wid] = v
    cuda.syncthreads()
    off = 0.0
    for k in range(wid):
        off += ws[k]
    if i < x.size:
        y[i] = v + off
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None and "jnp.cumsum(" in done.text, (done.diagnostics, done.text)
    agrees(done, pipeline.Request(shapes={"x": (100,), "y": (100,)}, grid=2, block=64))
