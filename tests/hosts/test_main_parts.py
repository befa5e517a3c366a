"""What ``main`` is made of besides its launches: structs of pointers, generators, streams, options, containers."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module, x64

HEAD = """
#include <fstream>
#include <string>
#include <vector>
struct Pair { double *x, *v; int n; };
struct Table { int n; std::vector<double> cells; std::string name; };
__global__ void drift(Pair p, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) p.x[i] += dt * p.v[i];
}
__global__ void twice(double *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
Table load(const std::string &path) {
    Table t; std::ifstream f(path); f >> t.n; t.cells.resize(t.n);
    for (auto &c : t.cells) f >> c;
    return t;
}
static void check(cudaError_t e) { if (e != cudaSuccess) printf("failed %d", (int)e); }
static void report(const double *x, const char *name, int n) {
    for (int i = 0; i < n; i++) printf("%s %f", name, x[i]);
}
class Wave {
    std::array<double *, 2> buf_; std::vector<double> host_; int n_, at_ = 0;
  public:
    Wave(int n) : host_(n), n_(n) { for (auto &b : buf_) { cudaMalloc(&b, n * sizeof(double)); } }
    void start() {
        for (int i = 0; i < n_; i++) host_[i] = i;
        cudaMemcpy(buf_[0], host_.data(), n_ * sizeof(double), cudaMemcpyHostToDevice);
    }
    void step() { twice<<<1, 64>>>(buf_[at_ % 2], n_); }
    const std::vector<double> &get() {
        cudaMemcpy(host_.data(), buf_[at_ % 2], n_ * sizeof(double), cudaMemcpyDeviceToHost); return host_;
    }
};
std::vector<double> doubled(const std::vector<double> &x) {
    int n = x.size(); double *d; check(cudaMalloc(&d, n * sizeof(double)));
    check(cudaMemcpy(d, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    twice<<<(n + 63) / 64, 64>>>(d, n);
    std::vector<double> y(n); check(cudaMemcpy(y.data(), d, n * sizeof(double), cudaMemcpyDeviceToHost));
    return y;
}
int main(int argc, char **argv) {
"""
RUN = """
    double *d; check(cudaMalloc(&d, n * sizeof(double)));
    cudaMemcpy(d, u, n * sizeof(double), cudaMemcpyHostToDevice);
    report(u, argv[0], n);
    twice<<<(n + 63) / 64, 64>>>(d, n);
    cudaMemcpy(u, d, n * sizeof(double), cudaMemcpyDeviceToHost);
}
"""


def main(body):
    return pipeline.translate(HEAD + body, "a.cu", Options(only=("main",)))


def called(done, **given):
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    with x64(True):
        return np.asarray(load_module(done.text).main(**given))


def test_a_launch_changes_the_arrays_of_a_struct():
    done = main("""
    const int n = 6; double *h = new double[n]; Pair p; p.n = n;
    for (int i = 0; i < n; i++) h[i] = i + 1;
    cudaMalloc(&p.x, n * sizeof(double)); cudaMalloc(&p.v, n * sizeof(double));
    cudaMemcpy(p.x, h, n * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(p.v, h, n * sizeof(double), cudaMemcpyHostToDevice);
    for (int s = 0; s < 3; s++) drift<<<1, 64>>>(p, 0.5);
    cudaMemcpy(h, p.x, n * sizeof(double), cudaMemcpyDeviceToHost);
}""")
    np.testing.assert_allclose(called(done), np.arange(1.0, 7) * 2.5, rtol=1e-12)


def test_random_numbers_on_the_device_are_a_parameter():
    done = main("""
    int n = 6; double *u = new double[n], *d; cudaMalloc(&d, n * sizeof(double));
    curandGenerator_t gen; curandCreateGenerator(&gen, CURAND_RNG_PSEUDO_DEFAULT);
    if (curandGenerateNormalDouble(gen, d, n, 0.0, 1.0) != CURAND_STATUS_SUCCESS) return 1;
    twice<<<1, 64>>>(d, n);
    cudaMemcpy(u, d, n * sizeof(double), cudaMemcpyDeviceToHost);
}""")
    np.testing.assert_allclose(called(done, d=np.arange(6.0)), 2 * np.arange(6.0))


def test_a_host_function_of_its_own_does_not_draw_numbers():
    text = HEAD + "}\nvoid draw(curandGenerator_t g, double *d, int n) { curandGenerateUniformDouble(g, d, n);"
    text += " twice<<<1, 64>>>(d, n); }"
    assert "draw" not in pipeline.translate(text, "a.cu").raised


@pytest.mark.parametrize(
    "text",
    [
        "int n; std::ifstream f(argv[1]); f >> n; double *u = new double[n];\nfor (int i = 0; i < n; i++) f >> u[i];",
        "Table t = load(argv[1]); int n = t.n; double *u = t.cells.data();",
        "int n = atoi(argv[1]); std::ifstream f(argv[2]); std::vector<double> w(n);\n"
        "for (auto &c : w) f >> c; double *u = w.data();",
        # by reference
        "int n = atoi(argv[1]); std::vector<double> w(n, 1.0); for (auto &c : w) c = strange(n); double *u = w.data();",
    ],
)
def test_arrays_that_are_read_or_made_elsewhere_are_parameters(text):
    done = main(text + RUN)
    (host,) = [x for x in done.source.hosts if x.name == "main"] or [None]
    assert host is not None, [d.reason for d in done.diagnostics]
    (array,) = [p.name for p in host.params if p.type.__class__.__name__ == "ArrayType"]
    (number,) = [p.name for p in host.params if p.name != array]
    np.testing.assert_allclose(called(done, **{array: np.arange(5.0), number: 5}), 2 * np.arange(5.0))


def test_an_array_that_a_pointer_of_its_own_block_changes_is_not_what_it_was():
    text = "const int n = 4; double *u = new double[n]; for (int i = 0; i < n; i++) u[i] = 1;\n"
    text += "for (int k = 0; k < 2; k++) { double *p = u; p[k] = strange(k); }"
    done = main(text + RUN)
    assert "main" not in done.raised or "u" in done.text.split("def main(")[1].split(")")[0]


OPTIONS = """
    int n = 4; double *u = new double[8];
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "-n") == 0) n = atoi(argv[++k]);
        else if (strcmp(argv[k], "-h") == 0) { printf("usage\\n"); return 0; }
        else { printf("usage\\n"); return 1; }
    }
    for (int i = 0; i < n; i++) u[i] = i;
"""


def test_options_that_end_with_how_the_program_is_called():
    done = main(OPTIONS + RUN)
    np.testing.assert_allclose(called(done, n=5)[:5], 2 * np.arange(5.0))


@pytest.mark.parametrize("ends", ["{ n = 2; return 0; }", "{ twice<<<1, 64>>>(u, n); return 1; }"])
def test_options_under_which_the_program_does_something_else_are_refused(ends):
    assert "main" not in main(OPTIONS.replace('{ printf("usage\\n"); return 0; }', ends) + RUN).raised


def test_vectors_that_grow_under_conditions_are_parameters():
    done = main("""
    int n = 4; std::vector<double> w;
    for (int i = 0; i < n; i++) { if (i > 0) w.push_back(i); w.push_back(2 * i); }
    int m = w.size(); double *d; cudaMalloc(&d, m * sizeof(double));
    cudaMemcpy(d, w.data(), m * sizeof(double), cudaMemcpyHostToDevice);
    twice<<<(m + 63) / 64, 64>>>(d, m);
    cudaMemcpy(w.data(), d, m * sizeof(double), cudaMemcpyDeviceToHost);
}""")
    np.testing.assert_allclose(called(done, w=np.arange(7.0)), 2 * np.arange(7.0))


def test_vectors_of_the_device_are_copied_back_to_vectors():
    done = main("""
    const int n = 4; thrust::host_vector<double> h(n); for (int i = 0; i < n; i++) h[i] = i;
    thrust::device_vector<double> d = h;
    twice<<<1, 64>>>(thrust::raw_pointer_cast(d.data()), n);
    thrust::host_vector<double> r = d;
    std::cout << r[0];
}""")
    np.testing.assert_allclose(called(done), 2 * np.arange(4.0))


@pytest.mark.parametrize(
    "text",
    [
        'std::vector<double> x(4); for (int i = 0; i < 4; i++) x[i] = i; auto y = doubled(x); printf("%f", y[0]); }',
        "std::vector<double> x(4), y; for (int i = 0; i < 4; i++) x[i] = i; y = doubled(x); }",
        "Wave w(4); w.start(); w.step(); const auto &f = w.get(); double e = 0; for (auto v : f) e += v; }",
        "double *h[2], *d[2]; for (int s = 0; s < 2; s++) { h[s] = new double[4]; cudaMalloc(&d[s], 32); }\n"
        "for (int i = 0; i < 4; i++) h[1][i] = i; cudaMemcpy(d[1], h[1], 32, cudaMemcpyHostToDevice);\n"
        "twice<<<1, 64>>>(d[1], 4); cudaMemcpy(h[1], d[1], 32, cudaMemcpyDeviceToHost); }",
    ],
)
def test_vectors_and_arrays_of_pointers_in_classes_and_functions(text):
    done = main(text)
    np.testing.assert_allclose(called(done), 2 * np.arange(4.0))
    assert "main_loop" in done.text or "Wave_" in done.text  # the host's own loop is no loop over elements


def test_an_image_that_a_function_reads_into_a_struct_is_a_parameter():
    read = """bool read(const char *f, Pair &p) {
    FILE *s = fopen(f, "r"); if (!s) return false;
    fscanf(s, "%d", &p.n); p.x = new double[p.n]; fread(p.x, 8, p.n, s); return true;
}
"""
    text = HEAD.replace("int main(", read + "int main(")
    text += 'Pair p; if (!read(argv[1], p)) { printf("no"); return 1; } int n = p.n; double *u = p.x;' + RUN
    done = pipeline.translate(text, "a.cu", Options(only=("main",)))
    np.testing.assert_allclose(called(done, p_x=np.arange(5.0), p_n=5), 2 * np.arange(5.0))


FILLED = "const int n = 4; double *u = new double[n]; for (int i = 0; i < n; i++) u[i] = i;\n"


@pytest.mark.parametrize(
    "text",
    [
        "int *q = (int *)u; q[0] = 1;",  # memory of another type
        "double *q = unknown(u); q[0] = 1;",  # it may see u
        "double *q; q = unknown(u); for (int i = 0; i < n; i++) q[i] = 1;",
    ],
)
def test_pointers_that_may_see_what_is_copied_are_refused(text):
    assert "main" not in main(FILLED + text + RUN).raised


def test_pointers_made_after_the_last_copy_see_what_no_result_needs():
    after = RUN.rstrip().removesuffix("}") + 'double *w = table(u, n); double s = w[0]; printf("%f", w[1]); }'
    table = "double *table(const double *x, int n) { double *t = new double[n]; t[0] = unknown(n); return t; }\n"
    text = HEAD.replace("int main(", table + "int main(") + FILLED + after
    np.testing.assert_allclose(called(pipeline.translate(text, "a.cu", Options(only=("main",)))), 2 * np.arange(4.0))


def test_a_cast_to_another_type_is_no_argument_of_a_launch():
    text = HEAD + "}\nvoid f(float *x, int n) { twice<<<1, 64>>>((double *)x, n); }\n"
    text += "void g(void *x, int n) { twice<<<1, 64>>>((double *)x, n); }\n"
    assert "f" not in pipeline.translate(text, "a.cu").raised


def test_templates_are_deduced_from_containers_and_classes():
    text = """
template <typename T> class Buffer {
    int n_; T *p_;
  public:
    Buffer(int n) : n_(n) { cudaMalloc(&p_, n * sizeof(T)); }
    Buffer(const std::vector<T> &h) : n_(h.size()) {
        cudaMalloc(&p_, n_ * sizeof(T)); cudaMemcpy(p_, h.data(), n_ * sizeof(T), cudaMemcpyHostToDevice);
    }
    T *get() { return p_; }
    int size() const { return n_; }
};
template <typename T> void run(Buffer<T> &b, std::vector<T> &out) {
    T *d[2][2]; int cur = 0;
    for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) cudaMalloc(&d[i][j], b.size() * sizeof(T));
    cudaMemcpy(d[0][1], b.get(), b.size() * sizeof(T), cudaMemcpyDeviceToDevice);
    for (int s = 1; s < b.size(); s *= 2) { step<T><<<1, 64>>>(d[cur][1], d[!cur][1], b.size()); cur = !cur; }
    cudaMemcpy(out.data(), d[cur][1], b.size() * sizeof(T), cudaMemcpyDeviceToHost);
}
template <typename T> __global__ void step(const T *x, T *y, int n) { int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
int main() {
    std::vector<double> x(4), r(4); for (int i = 0; i < 4; i++) x[i] = i;
    Buffer<double> b(x);
    run(b, r);
}
"""
    done = pipeline.translate(text, "a.cu", Options(only=("main",)))
    np.testing.assert_allclose(called(done), 4 * np.arange(4.0))
