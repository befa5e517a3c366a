"""What blocks hand out while they compute together, dynamic shared memory, lanes that hold a part; and wrong twins."""

from pathlib import Path

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.frontends import cuda_c
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
from kraise.options import Options
from kraise.raising import raise_function
from tests.checks import verified

SAMPLES = Path(__file__).parents[2] / "samples"


def raised(text, name):
    module, found = cuda_c.read(text, "kernel.cu")
    assert not [d for d in found if d.severity == "error"], [d.reason for d in found]
    return raise_function(module, module.function(name), Options())


def codes(text, name):
    with pytest.raises(Refused) as refused:
        raised(text, name)
    return {d.code for d in refused.value.diagnostics}


def scans(kernel):
    nodes = [n for s in kernel.body for n in topological(statement_expressions(s))]
    return {n.op for n in nodes if isinstance(n, eq.Scan)}


SCANS = (SAMPLES / "cuda_scan_totals" / "kernel.cu").read_text().replace("THREADS 64", "THREADS 8")  # is quicker


def test_totals_leave_a_scan():
    assert scans(raised(SCANS, "scan_and_total")) == {"add"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("scan_and_total", "    __syncthreads();\n    if (t < d) tree", "    if (t < d) tree"),
        ("scan_and_total", "if (t == 0) {", "if (t <= 1) {"),  # two threads hand it out
        ("scan_and_total", "tree[2 * THREADS - 1] = 0.0f;", "tree[2 * THREADS - 1] = 1.0f;"),
        ("two_buffers", "buffer[from * THREADS + t - offset]", "buffer[to * THREADS + t - offset]"),
        ("two_buffers", "    __syncthreads();\n  }", "  }"),
    ],
)
@pytest.mark.long_cases("buffer[to", "t <= 1")
def test_wrong_scans_are_no_scans(name, old, new):
    assert old in SCANS
    text = SCANS.replace(old, new)
    try:
        kernel = raised(text, name)
    except Refused:
        return
    assert not scans(kernel)


BEFORE = """
__global__ void kernel(float *x, float *y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float mine = x[blockIdx.x * 64 + (t + 1) % 64];
  s[t] = mine;
  BARRIER
  x[blockIdx.x * 64 + t] = mine;
  for (int d = 32; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[t] += s[t + d];
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
"""


def test_a_store_before_the_threads_have_met_does_not_move_behind_a_barrier():
    assert "KR201" in codes(BEFORE.replace("BARRIER", ""), "kernel")


PART = """
__global__ void kernel(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  float w = READ + 0.0f;
  STORE
}
"""


def test_lane_0_is_read_by_all():
    text = PART.replace("READ", "__shfl_sync(~0u, v, 0)").replace("STORE", "y[i] = x[i] - w;")
    assert raised(text, "kernel").launch != "required"


@pytest.mark.parametrize("read", [f"__shfl_{how}sync(~0u, v, 1)" for how in ("down_", "xor_", "")])
@pytest.mark.parametrize("store", ["y[i] = w;", "if (threadIdx.x % 32 == 0) y[i / 32] = w;"])
def test_lanes_that_hold_a_part_are_not_read(read, store):
    assert codes(PART.replace("READ", read).replace("STORE", store), "kernel") == {"KR299"}


BYTES = """
__global__ void kernel(const float *x, float *y) {
  extern __shared__ unsigned char raw[];
  float *s = (float *)raw;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  raw[threadIdx.x] = 3;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
"""


def test_shared_memory_of_two_types():
    _, found = cuda_c.read(BYTES, "kernel.cu")
    assert [d.code for d in found if d.severity == "error"] == ["KR299"]


ALIAS = """
__device__ float first(const float *x) {
  extern __shared__ float a[];
  a[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  return a[0];
}
__global__ void kernel(const float *x, float *y) {
  extern __shared__ float b[];
  float v = first(x);
  y[threadIdx.x] = v + b[threadIdx.x];
}
"""


def test_dynamic_shared_memory_is_one_memory():
    kernel = raised(ALIAS, "kernel")
    reads = [n for s in kernel.body for n in topological(statement_expressions(s)) if isinstance(n, eq.Read)]
    assert {n.version.array for n in reads} == {"x"}


LOOK = """
__global__ void kernel(const int *x, int *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { int v = x[i]; if (v > m[0]) atomicMax(&m[0], v); MORE }
}
"""


def test_a_look_before_an_extremum_is_nothing():
    kernel = raised(LOOK.replace("MORE", ""), "kernel")
    assert all(s.where is None for s in kernel.body)


@pytest.mark.parametrize(
    ("old", "new"),
    [("v > m[0]", "v < m[0]"), ("MORE", "atomicMin(&m[0], 3);"), ("Max", "Add")],
)
def test_other_looks_are_races(old, new):
    assert "KR201" in codes(LOOK.replace(old, new).replace("MORE", ""), "kernel")


STEPS = """
__global__ void kernel(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 8 == 0) y[i / BY] = x[i];
}
"""


def test_every_eighth_thread():
    kernel = raised(STEPS.replace("BY", "8"), "kernel")
    assert kernel.launch == "required"  # what is written says not how many threads there are: up to seven more


def test_steps_that_meet():
    assert "KR201" in codes(STEPS.replace("BY", "16"), "kernel")


BY_SIZE = (SAMPLES / "cuda_scan_by_size" / "kernel.cu").read_text()


def test_a_size_that_is_the_block():
    for name, size in (("ping_pong_scan", "n must be block"), ("prescan", "n must be twice block")):
        kernel = raised(BY_SIZE, name)
        assert scans(kernel) == {"add"} and size in [text for _, text in kernel.checks]


def test_a_size_that_is_another():
    wrong = BY_SIZE.replace("temp[pin * n + thid - offset]", "temp[pin * n + thid - offset + 1]")
    assert wrong != BY_SIZE
    assert "KR201" in codes(wrong, "ping_pong_scan")


RELAXED = (SAMPLES / "cuda_block_relaxation" / "kernel.cu").read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    s[t] = v;\n    __syncthreads();", "    s[t] = v;"),
        ("    __syncthreads();\n  }", "  }"),
        ("if (t == 0) y", "if (t < 2) y"),
    ],
)
def test_steps_through_shared_memory_without_a_barrier(old, new):
    assert old in RELAXED
    assert "KR201" in codes(RELAXED.replace(old, new), "block_relaxation")


@pytest.mark.parametrize(
    "step",
    [
        "v = v * 0.5f + __shfl_down_sync(~0u, v, d);",
        "float w = __shfl_xor_sync(~0u, v, d); if (w > v) { v = w; k = d; }",
        "int votes = __popc(__ballot_sync(~0u, v > 0)); v -= votes;",
    ],
)
@pytest.mark.long_cases("__shfl_down_sync")
def test_lanes_exchange_what_a_loop_carries(step):
    text = """
__global__ void kernel(const float *x, float *y, int *at) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  int k = -1;
  for (int d = 16; d > 0; d /= 2) { STEP }
  y[i] = v;
  at[i] = k;
}
""".replace("STEP", step)
    done = pipeline.translate(text, "k.cu")
    assert done.raised == ("kernel",), [d.reason for d in done.diagnostics]
    reports, findings = verified(done, pipeline.Request())
    assert not findings and not [r for r in reports if r.failures]


ROWS = """
__global__ void two_rows(const float *x, float *y, float *totals, int n) {
  __shared__ float row[2][8];
  int t = threadIdx.x, i = blockIdx.x * 8 + t;
  int to = 0, from = 1;
  row[to][t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 1; d < 8; d *= 2) {
    to = 1 - to;
    from = 1 - to;
    if (t >= d)
      row[to][t] = row[from][t] + row[from][t - d];
    else
      row[to][t] = row[from][t];
    __syncthreads();
  }
  if (i < n) y[i] = row[to][t] * x[i];
  if (t == 7) totals[blockIdx.x] = row[to][t];
}
"""
NUMBA_ROWS = """
from numba import cuda, float32

@cuda.jit
def two_rows(x, y, n):
    row = cuda.shared.array((2, 8), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    now = 0
    row[now, t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    d = 1
    while d < 8:
        row[1 - now, t] = row[now, t]
        if t >= d:
            row[1 - now, t] += row[now, t - d]
        now = 1 - now
        cuda.syncthreads()
        d *= 2
    if i < n:
        y[i] = row[now, t]
"""


@pytest.mark.parametrize(("text", "file"), [(ROWS, "k.cu"), (NUMBA_ROWS, "k.py")])
def test_scans_between_the_rows_of_one_array(text, file):
    done = pipeline.translate(text, file)
    assert done.text is not None and "jnp.cumsum(x2, axis=1)" in done.text and "at[:, 0" not in done.text
    reports, findings = verified(done, pipeline.Request(values={"n": 20}, grid=(3,), block=(8,)))
    assert not findings and reports and not [r for r in reports if r.failures]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    __syncthreads();\n  }", "  }"),
        ("row[from][t - d]", "row[to][t - d]"),
        ("row[from][t] + row[from][t - d]", "row[from][t] + row[to ^ 1][t - d + 1]"),
        ("totals[blockIdx.x] = row[to][t]", "totals[blockIdx.x] = row[from][t]"),  # a round less
    ],
)
@pytest.mark.long_cases("t - d + 1")
def test_other_rows_are_no_scans(old, new):
    assert old in ROWS
    done = pipeline.translate(ROWS.replace(old, new), "k.cu")
    assert "cumsum" not in (done.text or "")


def test_a_shared_cell_that_data_fill_is_not_filled_after_the_run():
    body = """  float all = row[to][7];
  if (x[i] > 0) row[0][t] = 9.0f;
  __syncthreads();
  y[i] = all + row[0][t];
}"""
    done = pipeline.translate(ROWS[: ROWS.index("  if (i < n) y")] + "  __syncthreads();\n" + body, "k.cu")
    if done.text is not None:
        reports, _ = verified(done, pipeline.Request(values={"n": 24}, grid=(3,), block=(8,)))
        assert reports and not [r for r in reports if r.failures]


HALVES = """__global__ void k(const int *x, int *y, int *tot, int n) {
  extern __shared__ int tmp[];
  int t = threadIdx.x, nb = blockDim.x, i = blockIdx.x * nb + t, po = 0, pi = 1;
  tmp[t] = (t > 0 && i - 1 < n) ? x[i - 1] : 0;
  __syncthreads();
  for (int off = 1; off < nb; off *= 2) {
    po = 1 - po; pi = 1 - po;
    if (t >= off) tmp[po * nb + t] = tmp[pi * nb + t] + tmp[pi * nb + t - off];
    else tmp[po * nb + t] = tmp[pi * nb + t];
    __syncthreads();
  }
  if (i < n) y[i] = tmp[po * nb + t];
  if (t == nb - 1) tot[blockIdx.x] = tmp[po * nb + t] + (i < n ? x[i] : 0);
}"""


def test_a_store_of_what_data_choose_beside_what_the_run_computes():
    done = pipeline.translate(HALVES, "k.cu")
    assert done.text is not None and "cumsum" in done.text, done.diagnostics
    request = pipeline.Request(shapes={"x": (20,), "y": (20,), "tot": (3,)}, values={"n": 20}, grid=(3,), block=(8,))
    reports, findings = verified(done, request)
    assert not findings and reports and not [r for r in reports if r.failures], [r.failures for r in reports]
    early = HALVES.replace("tmp[pi * nb + t] + tmp", "tmp[po * nb + t] + tmp")
    assert "cumsum" not in (pipeline.translate(early, "k.cu").text or "")
