"""Parameters that count a host's rounds: the loop stays a loop, and what a round computes is what its launch does."""

from dataclasses import replace

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests import checks

KERNELS = """
__global__ void down(float *x, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > k && j < n) x[j] -= 0.5f * x[k];
}
__global__ void rows(float *a, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + k;
    if (j < n) a[k * n + j] = a[k * n + j] * 0.5f + (k > 0 ? a[(k - 1) * n + j] : 1.0f);
}
__global__ void column(float *a, const float *x, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.0f;
    if (i < n) { for (int j = 0; j < k; j++) s += a[i * n + j] * x[j]; a[i * n + k] = s + x[i]; }
}
__global__ void backwards(float *x, const float *a, int n, int i) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < i) x[r] -= a[r * n + i] * x[i];
}
__global__ void plane(float *b, const float *a, int nx, int ny, int nz, int z) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z < nz - 1)
        b[z * (16 * 8) + y * 16 + x] =
            a[(z - 1) * (16 * 8) + y * 16 + x + 1] + a[(z + 1) * (16 * 8) + (y - 1) * 16 + x];
}
__global__ void pivot(float *a, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > k && j < n) a[k * 32 + j] = a[k * 32 + j] / (a[k * 32 + k] + 2.0f);
}
__global__ void hop(float *y, const float *x, int n, int s) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n - (1 << s)) y[j] = x[j + (1 << s)] * 0.5f;
}
"""
LOOPS = {
    "down": "void run(float *x, int n) { for (int k = 0; k < n; k++) down<<<(n + 63) / 64, 64>>>(x, n, k); }",
    "two loops": """void run(float *x, int n) {
        for (int k = 0; k < n; k++) down<<<(n + 63) / 64, 64>>>(x, n, k);
        for (int k = 1; k < n - 1; k += 2) down<<<(n + 63) / 64, 64>>>(x, n, k); }""",
    "a loop in a loop": """void run(float *x, int n, int steps) {
        for (int t = 0; t < steps; t++)
            for (int k = 0; k < n; k++) down<<<(n + 63) / 64, 64>>>(x, n, k); }""",
    "the next one": """void run(float *x, int n) {
        for (int k = 0; k < n - 1; k++) down<<<(n + 63) / 64, 64>>>(x, n, k + 1); }""",
    "rows": "void run(float *a, int n) { for (int k = 0; k < n; k++) rows<<<(n + 63) / 64, 64>>>(a, n, k); }",
    "the diagonal of rows of 32": """void run(float *a, int n) {
        for (int k = 0; k < 32; k++) pivot<<<(n + 63) / 64, 64>>>(a, n, k); }""",
    "column": """void run(float *a, const float *x, int n) {
        for (int k = 0; k < n; k++) column<<<(n + 63) / 64, 64>>>(a, x, n, k); }""",
    "backwards": """void run(float *x, const float *a, int n) {
        for (int i = n - 1; i >= 0; i--) backwards<<<(n + 63) / 64, 64>>>(x, a, n, i); }""",
    "by a size that is left": """void run(float *x, int n) {
        for (int k = 0; k < n; k++) down<<<(n + 63) / 64, 64>>>(x, n, n - 1 - k); }""",
}
WRITTEN_OUT = {
    "few rounds": "void run(float *x, int n) { for (int k = 0; k < 3; k++) down<<<(n + 63) / 64, 64>>>(x, n, k); }",
    "an exponent": """void run(float *y, const float *x, int n, int m) {
        for (int s = 0; s < m; s++) hop<<<(n + 63) / 64, 64>>>(y, x, n, s); }""",
    "doubled": "void run(float *x, int n) { for (int k = 1; k < n; k *= 2) down<<<(n + 63) / 64, 64>>>(x, n, k); }",
    "a size that is given again": """void run(float *x, int n) {
        int m = n; n = n - 1;
        for (int k = 0; k < m; k++) down<<<(m + 63) / 64, 64>>>(x, n, k); }""",
    "launched elsewhere, too": """void run(float *x, int n, int m) {
        down<<<(n + 63) / 64, 64>>>(x, n, m);
        for (int k = 0; k < n; k++) down<<<(n + 63) / 64, 64>>>(x, n, k); }""",
}
RACES = {
    "reads what others of its round write": "if (j < n && j > k) x[j] += x[j == n - 1 ? k : j + 1];",
    "writes what others read": "if (j < n && j >= k) x[j] -= 0.5f * x[k];",
}


def verified(source, *names):
    """The text, after ``names`` were compared with the interpreter."""
    done = pipeline.translate(source, "k.cu")
    assert {*names} <= {*done.raised}, [d.reason for d in done.diagnostics]
    reports, findings = checks.verified(replace(done, raised=names), pipeline.Request())
    assert not findings, [d.reason for d in findings]
    assert [r.kernel for r in reports] == [*names] and all(r.ok for r in reports), [r.failures for r in reports]
    return done.text


@pytest.mark.parametrize("name", LOOPS)
def test_loops_stay_loops(name):
    text = verified(KERNELS + LOOPS[name], "run")
    assert ("fori_loop" in text or "jax.lax.scan" in text) and "in range(" not in text
    assert "as in the loop that launches it" in text


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_rounds_that_are_written_out(name):
    text = verified(KERNELS + WRITTEN_OUT[name], "run")
    assert "as in the loop that launches it" not in text
    assert "    for " in text or "    while " in text


@pytest.mark.parametrize("guard", RACES)
def test_races_within_a_round(guard):
    source = f"""__global__ void down(float *x, int n, int k) {{
        int j = blockIdx.x * blockDim.x + threadIdx.x; {RACES[guard]} }}
        void run(float *x, int n) {{ for (int k = 0; k < n; k++) down<<<(n + 63) / 64, 64>>>(x, n, k); }}"""
    done = pipeline.translate(source, "k.cu")
    assert done.raised == ()
    assert {d.code for d in done.diagnostics} == {"KR201", "KR212"}


def test_what_only_the_loop_proves():
    """Rows that a launch keeps apart: a kernel that is refused alone comes out with what the loop says of it."""
    kernel = """__global__ void up(float *x, const float *a, int n, int k) {
        int j = blockIdx.x * blockDim.x + threadIdx.x;
        if (j < n) x[(n - 2 - k) * n + j] -= x[(n - 1 - k) * n + j] * a[j]; }
        """
    text = verified(
        kernel + "void run(float *x, const float *a, int n) { "
        "for (int k = 0; k < n - 1; k++) up<<<(n + 63) / 64, 64>>>(x, a, n, k); }",
        "run",
    )
    assert "x2[n - k - 1] * a[:n]" in text


def test_planes_of_a_constant_size():
    text = verified(
        KERNELS
        + """void run(float *b, const float *a, int nx, int ny, int nz) {
        dim3 t(8, 8), g((nx + 7) / 8, (ny + 7) / 8);
        for (int z = 1; z < nz - 1; z++) plane<<<g, t>>>(b, a, nx, ny, nz, z); }""",
        "plane",
    )
    assert "a3[z - 1, 1 : ny - 1, 2:nx]" in text and "def plane" in text


def test_shapes_say_the_range_in_python():
    source = """
import numpy as np
from numba import cuda

@cuda.jit
def spread(a, k):
    i, j = cuda.grid(2)
    if k < i < a.shape[0] and k < j < a.shape[1]:
        a[i, j] -= a[i, k] * a[k, j]

def run(a):
    n = a.shape[0]
    d = cuda.to_device(a)
    for k in range(n - 1):
        spread[((n + 15) // 16, (n + 15) // 16), (16, 16)](d, k)
    return d.copy_to_host()
"""
    done = pipeline.translate(source, "k.py")
    reports, findings = checks.verified(done, pipeline.Request())
    assert done.raised == ("spread", "run") and not findings and not [r for r in reports if r.failures]
    assert "0 <= k < a.shape[0] - 1, as in the loop that launches it" in done.text
    assert "fori_loop" in done.text and "in range(" not in done.text


def test_the_diagonal_of_rows_of_a_number():
    """``a[k * 33]`` is cell k of row k; a round has a row of its own, not all cells of all rounds."""
    text = pipeline.translate(KERNELS + LOOPS["the diagonal of rows of 32"], "k.cu").text
    assert "a2[k, k]" in text and "a2.at[k, :n]" in text


def test_a_method_that_launches_gets_an_element_of_each_round():
    """The loop is over an array's elements, but no nest: its launch is in the method."""
    source = """
    __global__ void shift(float *x, int n, float a) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += a;
    }
    class Line {
     public:
      Line(int n) : n_(n) { cudaMalloc(&x_, n * sizeof(float)); cudaMemset(x_, 0, n * sizeof(float)); }
      ~Line() { cudaFree(x_); }
      void step(float a) { shift<<<(n_ + 127) / 128, 128>>>(x_, n_, a); }
      void get(float *out) { cudaMemcpy(out, x_, n_ * sizeof(float), cudaMemcpyDeviceToHost); }
     private:
      int n_;
      float *x_;
    };
    void run(float *out, const float *source, int n, int rounds) {
      Line line(n);
      for (int t = 0; t < rounds; ++t) line.step(source[t]);
      line.get(out);
    }
    """
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None and "run" in done.raised, [d.reason for d in done.diagnostics]
    wanted = np.full(3, 6.0, np.float32)
    got = load_module(done.text).run(np.zeros(3, np.float32), np.arange(9, dtype=np.float32), 3, 4)
    np.testing.assert_allclose(got, wanted)
