"""What is said of a CUDA host that is refused: each cause once, and its kernels come out."""

from kraise import pipeline
from kraise.options import Options

KERNEL = """
__global__ void add(float *x, float s, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += s; }
"""


def refused(text, name="f"):
    done = pipeline.translate(KERNEL + text, "a.cu", Options(only=(name,)))
    assert name not in done.raised
    assert done.raised == ("add",)  # the kernel comes out none the less
    return [d for d in done.diagnostics if d.severity == "error"]


def test_lines_that_follow_from_a_declaration_are_not_reported():
    (one,) = refused("""
void f(float *x, int m, int n) {
    std::vector<float *> d(m);
    for (int k = 0; k < m; k++) cudaMalloc(&d[k], n * 4);
    add<<<1, 64>>>(d[0], 1.0f, n);
    cudaMemcpy(x, d[0], n * 4, cudaMemcpyDeviceToHost);
}
""")
    assert one.span.line == 5
    assert "number of pointers" in one.reason


def test_one_reason_in_several_lines_is_reported_once_with_the_lines():
    (one,) = refused("""
void f(float *x, int n) {
    std::vector<float> h;
    for (int i = 0; i < n; i++) {
        if (i % 3) h.push_back(1.0f);
        if (i % 5) h.push_back(2.0f);
    }
    float *d;
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
    add<<<1, 64>>>(d, 1.0f, n);
    cudaMemcpy(x, d, n * 4, cudaMemcpyDeviceToHost);
}
""")
    assert one.span.line == 7
    assert one.hint.endswith("(the same in line 8)")


def test_two_causes_are_two_reports():
    found = refused("""
void f(float *x, int k) {
    float *d[4], *e;
    cudaMalloc(&d[k], 4);
    cudaMemset(e, 3, 4);
    add<<<1, 64>>>(d[k], 1.0f, 64);
}
""")
    assert len({d.span.line for d in found}) > 1
