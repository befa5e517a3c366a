"""``main`` as a host function: what it reads from outside, what it gives back; what is not followed is not used."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from tests.hosts.test_hosts import CUDA, agrees, array, codes, cuda, python

PROGRAM = """
#include <stdio.h>
#define CHECK(call) { cudaError_t e = call; if (e != cudaSuccess) { printf("%s", cudaGetErrorString(e)); exit(1); } }
void fill(float *p, int n) { for (int i = 0; i < n; i++) p[i] = (float)rand() / RAND_MAX; }
void smooth(float *p, int n) { for (int i = 0; i < n; i++) p[i] = 0.5f * p[i]; }
void report(const float *p, int n) { for (int i = 0; i < n; i++) printf("%f ", p[i]); }
int main(int argc, char **argv) {
    int n = 1 << 4;
    if (argc > 1) n = atoi(argv[1]);
    size_t bytes = n * sizeof(float);
    double begin = seconds();
    float *h = (float *)malloc(bytes), *back = (float *)malloc(bytes), *a, *b;
    fill(h, n);
    smooth(h, n);
    CHECK(cudaMalloc((void **)&a, bytes));
    CHECK(cudaMalloc((void **)&b, bytes));
    CHECK(cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(b, 0, bytes));
    step<<<(n + 63) / 64, 64>>>(a, b, n);
    CHECK(cudaMemcpy(back, b, bytes, cudaMemcpyDeviceToHost));
    report(back, n);
    printf("%f s\\n", seconds() - begin);
    CHECK(cudaFree(a));
    return 0;
}
"""


def main(body):
    return pipeline.translate(CUDA + body, "a.cu", Options(only=("main",)))


def test_random_input_and_the_command_line_are_parameters():
    done = main(PROGRAM)
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    assert [(p.name, p.default.value if p.default else None) for p in host.params] == [("h", None), ("n", 16)]
    assert "def main(h, n=16):" in done.text
    agrees(done, "main", h=array(9), n=9)


def test_values_of_main_against_numpy():
    namespace: dict = {}
    exec(compile(main(PROGRAM).text, "a.py", "exec"), namespace)
    h = array(9)
    half = 0.5 * h
    expected = np.concatenate([[0], 0.5 * (half[:-2] + half[2:]), [0]])
    np.testing.assert_allclose(np.asarray(namespace["main"](h, 9)), expected, rtol=1e-6)


def test_a_main_that_prints_a_number_returns_it():
    body = """
    int main() {
        int n = 8; float *u, *v;
        cudaMallocManaged(&u, n * sizeof(float)); cudaMallocManaged(&v, n * sizeof(float));
        for (int i = 0; i < n; i++) { u[i] = i * 1.0f; v[i] = 0.0f; }
        step<<<1, 32>>>(u, v, n);
        cudaDeviceSynchronize();
        float top = 0.0f;
        for (int i = 0; i < n; i++) top = fmaxf(top, v[i]);
        printf("%f\\n", top);
        return 0;
    }
    """
    agrees(main(body), "main")


def test_input_after_a_use_is_refused():
    late = PROGRAM.replace("    report(back, n);", "    fill(h, n);\n    step<<<1, 64>>>(h, b, n);")
    assert "KR211" in codes(main(late))


@pytest.mark.parametrize("value", ("seconds()", "props.size", "clock()"))
def test_what_is_not_followed_is_not_used(value):
    body = (
        "void f(float *a, float *b, int n) {\n    cudaDeviceProp props; cudaGetDeviceProperties(&props, 0);\n"
        f"    int m = 3;\n    m = {value};\n    step<<<1, 64>>>(a, b, m);\n}}\n"
    )
    done = cuda(body)
    assert "KR211" in codes(done) and "f" not in done.raised


def test_lost_in_one_branch_or_in_the_round_before():
    head = "void f(float *a, float *b, int n, int k) {\n    int m = n;\n"
    branch = head + "    if (k > 0) m = clock(); else m = n;\n    step<<<1, 64>>>(a, b, m);\n}\n"
    loop = head + "    for (int i = 0; i < k; i++) { step<<<1, 64>>>(a, b, m); m = clock(); }\n}\n"
    assert "KR211" in codes(cuda(branch)) and "KR211" in codes(cuda(loop))


SYMBOLS = """
__constant__ float weight[2];
__constant__ float bias;
__device__ int hits;
__global__ void mix(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) y[i] = weight[0] * x[i] + weight[1] * x[i + 1] + bias;
}
__global__ void count(const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.5f) atomicAdd(&hits, 1);
}
void f(const float *x, float *y, const float *w, float b, int n) {
    cudaMemcpyToSymbol(weight, w, 2 * sizeof(float));
    cudaMemcpyToSymbol(bias, &b, sizeof(float));
    mix<<<(n + 63) / 64, 64>>>(x, y, n);
}
int g(const float *x, int n) {
    int zero = 0, found;
    cudaMemcpyToSymbol(hits, &zero, sizeof(int));
    count<<<(n + 63) / 64, 64>>>(x, n);
    cudaMemcpyFromSymbol(&found, hits, sizeof(int));
    return found;
}
void unset(const float *x, float *y, int n) { mix<<<(n + 63) / 64, 64>>>(x, y, n); }
"""


def test_variables_of_the_device():
    done = cuda(SYMBOLS)
    agrees(done, "f", x=array(9), y=array(9, 1), w=array(2, 2), b=0.25, n=9)
    agrees(done, "g", x=array(9), n=9)
    (host,) = [x for x in done.source.hosts if x.name == "unset"]
    assert {p.name for p in host.params} == {"x", "y", "n", "weight", "bias"}


def test_sizeof_of_a_declared_array_is_that_of_the_array():
    body = (
        "void f(float *a, int n) {\n    float start[3] = {1.0f, 2.0f, 4.0f};\n"
        "    cudaMemcpy(a, start, sizeof(start), cudaMemcpyHostToDevice);\n    step<<<1, 64>>>(start, a, 3);\n}\n"
    )
    agrees(cuda(body), "f", a=array(5), n=5)


def test_a_struct_of_the_device_is_refused_not_an_error():
    body = (
        "struct P { float a; int b; };\n__constant__ P par;\n"
        "__global__ void k(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= par.a; }\n"
        "void f(float *x, int n) { k<<<1, 32>>>(x, n); }\n"
    )
    assert codes(cuda(body)) == {"KR211"}


DRIVER = """
#include <random>
#include <vector>
#include <stdio.h>
__global__ void norm(const float3 *p, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * (p[i].x * p[i].x + p[i].y) - p[i].z;
}
static float between(float lo, float hi) { return lo + (hi - lo) * (rand() / (float)RAND_MAX); }
void reference(const float3 *p, float *y, float a, int n) {
    std::vector<float> t;
    for (int i = 0; i < n; i++) t.push_back(a * (p[i].x * p[i].x + p[i].y) - p[i].z);
    for (int i = 0; i < n; i++) y[i] += t[i];
}
int main(int argc, char **argv) {
    if (argc != 3) { printf("Usage: %s <n> <repeat>\\n", argv[0]); return 1; }
    const int n = atoi(argv[1]);
    const int repeat = atoi(argv[2]);
    if (n > 1000) { printf("too many\\n"); return 1; }
    std::vector<float> y(n), ref(n);
    float3 *p = (float3 *)malloc(n * sizeof(float3));
    std::default_random_engine g(123);
    std::uniform_real_distribution<float> distr(-2.f, 2.f);
    for (int i = 0; i < n; i++) { y[i] = distr(g) < 0 ? -1 : 1; ref[i] = y[i]; }
    for (int i = 0; i < n; i++) { p[i].x = between(0, 1); p[i].y = rand() % 5; p[i].z = 1; }
    const float a = rand() / (float)RAND_MAX;
    float *dy; float3 *dp;
    cudaMalloc(&dy, n * sizeof(float)); cudaMalloc(&dp, n * sizeof(float3));
    cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dp, p, n * sizeof(float3), cudaMemcpyHostToDevice);
    for (int r = 0; r < repeat; r++) norm<<<(n + 255) / 256, 256>>>(dp, dy, a, n);
    cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    reference(p, ref.data(), a, n);
    std::vector<float> bad;
    for (int i = 0; i < n; i++) if (y[i] != ref[i]) { bad.push_back(y[i]); printf("%f\\n", y[i]); }
    CHECK
    printf(bad.size() ? "FAIL" : "PASS");
    return 0;
}
"""


def test_a_driver_with_generators_and_a_check_of_its_own():
    """Generators, fills of structs and random numbers are inputs; the reference and its table are left out."""
    done = main(DRIVER.replace("CHECK", ""))
    assert "main" in done.raised
    (found,) = [x for x in done.source.hosts if x.name == "main"]
    assert [p.name for p in found.params] == ["n", "repeat", "y", "p", "a"]
    assert any(d.what == "work that no result needs" for d in found.dropped)
    rng = np.random.default_rng(3)
    y, p = rng.standard_normal(9).astype(np.float32), rng.standard_normal((9, 3)).astype(np.float32)
    want = y + 2 * (0.5 * (p[:, 0] ** 2 + p[:, 1]) - p[:, 2])
    from kraise.verify.load import load_module

    got = load_module(done.text).main(9, 2, y, p, np.float32(0.5))
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(
    "work",
    (
        "for (int i = 0; i < n; i++) { std::vector<float> t; t.push_back(y[i]); y[i] = t[0] + 1.0f; }",  # a result
        "float *q = y.data(); for (int i = 0; i < n; i++) { std::vector<float> t; t.push_back(1); q[i] = t[0]; }",
        "std::vector<float> t; t.push_back(y[0]); if (t[0] > 0) return 0; norm<<<1, 256>>>(dp, dy, a, n);"
        " cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);",
        "std::vector<float> t; t.insert(t.begin(), y[0]); norm<<<1, 256>>>(dp, dy, t[0], n);"
        " cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);",
    ),
)
def test_what_a_result_needs_is_not_left_out(work):
    done = main(DRIVER.replace("CHECK", work))
    assert "main" not in done.raised and any(d.kernel == "main" and d.severity == "error" for d in done.diagnostics)


def test_input_in_rounds_whose_number_is_not_known_is_refused():
    late = DRIVER.replace("    const float a = rand", "    float a = 1; while (a > 0.5f) a = rand")
    done = main(late.replace("CHECK", ""))
    assert "main" not in done.raised and any("each round" in d.reason for d in done.diagnostics)


COUNTED = """
void f(float *a, float *b, int n, float begin, float end) {
    float t = begin;
    while (t < end) { step<<<1, 64>>>(a, b, n); step<<<1, 64>>>(b, a, n); t += 1.0f; }
}
"""


def test_a_counter_of_floats_is_no_number_of_rounds():
    """0, 1, 2, 3 lie below 3.5: four rounds, and three and a half is no number of them."""
    done = cuda(COUNTED)
    agrees(done, "f", a=array(9), b=array(9, 1), n=9, begin=np.float32(0.0), end=np.float32(3.5))


ERRORS = """
void f(float *a, float *b, int n) {
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess && n > 3) step<<<1, 64>>>(a, b, n);
    if (e != cudaSuccess || n > 5) step<<<1, 64>>>(b, a, n);
    if (e == cudaSuccess || n > 90) step<<<1, 64>>>(a, b, n);
    if (e != cudaSuccess && n > 3) a[0] = 99.0f;
}
"""


@pytest.mark.parametrize("n", (3, 5, 9))
def test_error_codes_beside_other_tests(n):
    """The run without errors: what is left of a test beside one of an error code."""
    agrees(cuda(ERRORS), "f", a=array(9), b=array(9, 1), n=n)


def test_a_clock_of_doubles_runs_as_many_rounds():
    """0.1 ten times is less than 1.0 in 64 bits, and more in 32: eleven rounds."""
    from kraise.verify.load import load_module

    body = "    t = 0.0\n    rounds = 0\n    while t < 1.0:\n        scale[1, 64](x, 1.0)\n        t += 0.1\n"
    body += "        rounds += 1\n"
    done = python(f"def f(x):\n{body}    return x, rounds\n")
    assert "f" in done.raised
    assert int(load_module(done.text).f(array(9))[1]) == 11


DELEGATED = """
#include <stdio.h>
#include <stdlib.h>
void run(int argc, char **argv) {
    int n = atoi(argv[1]);
    float *h = (float *)aligned_alloc(64, n * sizeof(float)), *a, *b;
    for (int i = 0; i < n; i++) h[i] = 0.0f;
    for (int i = 1; i < n; i++) h[i] = rand() % 10 + 1;
    for (int i = 0; i < n; i += 2) h[i] = rand() % 10;
    cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, h, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, n * sizeof(float), cudaMemcpyHostToDevice);
    step<<<(n + 63) / 64, 64>>>(a, b, n);
    cudaMemcpy(h, b, n * sizeof(float), cudaMemcpyDeviceToHost);
}
int main(int argc, char **argv) { run(argc, argv); return 0; }
"""


def test_a_program_that_main_hands_its_arguments_to():
    """``run(argc, argv)``, and an array that several loops fill: the input is what the last of them leaves."""
    done = main(DELEGATED)
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    (found,) = [x for x in done.source.hosts if x.name == "main"]
    assert len(found.params) == 2
    agrees(done, "main", **{p.name: 9 if "n" in p.name else array(9) for p in found.params})


def test_a_launch_is_no_input():
    """A function that launches and cannot be raised is refused, whatever words it has: it fills nothing."""
    helper = """void run(const void *__restrict__ a, void *__restrict__ b, int n) {
        step<<<1, 64>>>((const float *)a, (float *)b, n);
        auto time = std::chrono::steady_clock::now();
    }
    """
    body = """int main() { const int n = 8; float *h = (float *)malloc(n * sizeof(float)), *a, *b;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, h, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int r = 0; r < 2; r++) { auto q = b + r; run((void *)a, (void *)q, n - 1); }
    cudaMemcpy(h, b, n * sizeof(float), cudaMemcpyDeviceToHost); return 0; }
    """
    done = main(helper + body)
    assert "main" not in done.raised and any(d.severity == "error" for d in done.diagnostics)


def test_a_launch_that_nothing_given_back_needs_stays():
    """What is printed are sizes: the launch is not left out as if the program had none."""
    body = """int main(int argc, char **argv) { int n = atoi(argv[1]); float *a, *b;
    cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, n * sizeof(float));
    racy<<<1, 64>>>(a, b, n); printf("%d\\n", n); return 0; }
    __global__ void racy(const float *a, float *b, int n) { b[0] = a[threadIdx.x]; }
    """
    assert "main" not in main(body).raised


ROWS = """
double now() {
    struct timeval t;
    struct timezone zone;
    gettimeofday(&t, &zone);
    return t.tv_sec + t.tv_usec * 1.0e-6;
}
void init(float a[4][8]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++) a[i][j] = (float)rand() / RAND_MAX;
}
int main() {
    float(*a)[4][8] = (float(*)[4][8])malloc(4 * 8 * sizeof(float));
    float *d, *e, *back = (float *)malloc(32 * sizeof(float));
    init(*a);
    cudaMalloc((void **)&d, 32 * sizeof(float));
    cudaMalloc((void **)&e, 32 * sizeof(float));
    cudaMemcpy(d, *a, 32 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(e, d, 32 * sizeof(float), cudaMemcpyDeviceToDevice);
    double begin = now();
    step<<<1, 64>>>(d, e, 32);
    printf("%f s\\n", now() - begin);
    cudaMemcpy(back, e, 32 * sizeof(float), cudaMemcpyDeviceToHost);
    return 0;
}
"""


def test_rows_that_a_generator_fills_are_a_parameter_and_a_clock_of_the_file_is_time():
    done = main(ROWS)
    assert "def main(a):" in done.text, [d.reason for d in done.diagnostics]
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    a = array(32)
    expected = a.copy()
    expected[1:-1] = 0.5 * (a[:-2] + a[2:])
    np.testing.assert_allclose(np.asarray(namespace["main"](a)).ravel(), expected, rtol=1e-6)


FILE = """
int main() {
    int n;
    float s = 0;
    FILE *file = fopen("a", "r");
    if (fscanf(file, "%d", &n) != 1) { printf("bad"); return 1; }
    fscanf(file, "%f", &s);
    float *h = (float *)malloc(n * sizeof(float)), *g = (float *)malloc(n * sizeof(float));
    for (int i = 0; i < n; i++) fscanf(file, "%f", &h[i]);
    fread(g, sizeof(float), n, file);
    for (int i = 0; i < n; i++) g[i] = s * g[i];
    float *d, *e;
    cudaMalloc((void **)&d, n * sizeof(float));
    cudaMalloc((void **)&e, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(e, g, n * sizeof(float), cudaMemcpyHostToDevice);
    step<<<(n + 63) / 64, 64>>>(d, e, n);
    cudaMemcpy(g, e, n * sizeof(float), cudaMemcpyDeviceToHost);
    return 0;
}
"""


def test_what_main_reads_from_a_file_is_a_parameter():
    done = main(FILE)
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    assert [p.name for p in host.params] == ["n", "s", "h", "g"]
    from kraise.verify.load import load_module

    h, g = array(7), array(7) + 1
    want = 3 * g
    want[1:-1] = 0.5 * (h[:-2] + h[2:])
    np.testing.assert_allclose(load_module(done.text).main(7, 3.0, h, g), want, rtol=1e-6)


def test_what_is_read_again_after_a_use_is_another_parameter():
    done = main(FILE.replace("    float *d, *e;", '    fscanf(file, "%f", &s);\n    g[0] = s;\n    float *d, *e;'))
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    assert [p.name for p in host.params] == ["n", "s", "h", "g", "s_in"]
    from kraise.verify.load import load_module

    h, g = array(7), array(7) + 1
    want = 3 * g
    want[0] = 5
    want[1:-1] = 0.5 * (h[:-2] + h[2:])
    np.testing.assert_allclose(load_module(done.text).main(7, 3.0, h, g, 5.0), want, rtol=1e-6)


TABLES = """
int table[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
float scale[2] = {0.5f, 2.0f};
void start() { scale[0] = 3.0f; }
static float pick(const float *p, int i) { return p[i] * scale[i % 2]; }
void f(float *a, float *b, int n) {
    for (int i = 0; i < n; i++) a[i] = table[i % 3][(i + 1) % 3] * scale[i % 2];
    float s = pick(a, 1);
    step<<<1, 64>>>(a, b, n);
    for (int i = 0; i < n; i++) b[i] += s;
}
void g(float *a, float *b, int n) {
    start();
    for (int i = 0; i < n; i++) a[i] = scale[i % 2];
    step<<<1, 64>>>(a, b, n);
}
"""


def test_variables_of_the_file_that_loops_of_a_host_read_are_parameters():
    done = cuda(TABLES)
    assert "def f(a, b, n, table, scale):" in done.text
    agrees(done, "f", a=array(9), b=array(9), n=9, table=np.arange(1, 10, dtype=np.int32).reshape(3, 3), scale=array(2))
    agrees(done, "g", a=array(9), b=array(9), n=9, scale=array(2))
    assert "scale.at[0].set(3.0)" in done.text and "return a, b, scale" in done.text
