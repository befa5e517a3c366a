"""What ``main`` makes before its first launch and is not read: its parameters. What a gradient may pass is none."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module, x64

KERNEL = """
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>
__global__ void decay(const double *u, double *v, double c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = u[i] - c * u[i];
}
struct Settings { int n = 8; int steps = 3; double rate = 0.1; std::string out = "a.txt"; bool loud = false; };
static Settings parse(int argc, char **argv) {
    Settings s;
    for (int i = 1; i < argc; ++i) {
        std::string a = argv[i];
        if (a == "-n" && i + 1 < argc) s.n = std::stoi(argv[++i]);
        else if (a == "-r") s.rate = std::stod(argv[++i]);
        else { std::cerr << "unknown " << a << std::endl; std::exit(1); }
    }
    return s;
}
static void options(int argc, char **argv, int &n, double *rate) { n = argc; *rate = atof(argv[1]); }
static std::map<int, double *> pieces;
static double *held(int at) { srand(at); return pieces[at]; }
static double *load(const char *name, int n) {
    double *p = new double[n];
    std::ifstream f(name);
    for (int i = 0; i < n; i++) f >> p[i];
    return p;
}
"""
REST = """
    double *a, *b;
    cudaMalloc(&a, n * sizeof(double)); cudaMalloc(&b, n * sizeof(double));
    cudaMemcpy(a, u, n * sizeof(double), cudaMemcpyHostToDevice);
    for (int s = 0; s < 3; s++) {
        decay<<<(n + 63) / 64, 64>>>(a, b, rate, n);
        std::swap(a, b);
    }
    cudaMemcpy(u, a, n * sizeof(double), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf("%f ", u[i]);
    return EXIT_SUCCESS;
}
"""
FILL = "double *u = new double[n]; for (int i = 0; i < n; i++) u[i] = i + 1.0;\n"
HEAD = "int main(int argc, char **argv) {\n"


def main(body):
    return pipeline.translate(KERNEL + HEAD + body + REST, "a.cu", Options(only=("main",)))


def params(done):
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    return {p.name: p.default.value if p.default else None for p in host.params}


def check(done, u, **named):
    """Its values by the rule of the kernel, and the gradient by the rate."""
    (name,) = (n for n in named if n.endswith("rate"))
    rate = named[name]
    import jax

    with x64(True):
        module = load_module(done.text)
        np.testing.assert_allclose(module.main(**named), u * (1 - rate) ** 3, rtol=1e-12)
        slope = jax.grad(lambda r: module.main(**{**named, name: r}).sum())(rate)
        np.testing.assert_allclose(slope, -3 * np.sum(u) * (1 - rate) ** 2, rtol=1e-12)


def test_options_in_a_struct_are_parameters_with_their_defaults():
    done = main("Settings o = parse(argc, argv); const int n = o.n; const double rate = o.rate;\n" + FILL)
    assert params(done) == {"s_n": 8, "s_rate": 0.1}
    check(done, np.arange(1.0, 6), s_n=5, s_rate=0.25)


@pytest.mark.parametrize(
    "text",
    [
        "int n; double rate; options(argc, argv, n, &rate);\n",
        "int n; double rate; for (int i = 1; i < argc; i++) { if (argv[i][0] == 'n') n = atoi(argv[++i]);\n"
        "  else if (argv[i][0] == 'r') rate = atof(argv[++i]); else { fprintf(stderr, \"usage\\n\"); exit(1); } }\n",
        "int n; double rate; std::ifstream f(argv[1]); f >> n >> rate;\n",
    ],
)
def test_numbers_of_the_command_line_are_parameters(text):
    done = main(text + FILL)
    assert set(params(done)) == {"n", "rate"}
    check(done, np.arange(1.0, 6), n=5, rate=0.25)


def test_an_array_that_a_function_loads_is_a_parameter():
    done = main("int n = atoi(argv[1]); double rate = 0.5; double *u = load(argv[2], n);\n")
    assert set(params(done)) == {"u", "n"}
    u = np.linspace(1, 2, 6)
    with x64(True):
        np.testing.assert_allclose(load_module(done.text).main(u=u, n=6), u * 0.125, rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        # the array is made of a number that a gradient may be wanted for: a parameter would cut it
        "int n = 8; double rate = atof(argv[1]); double *u = new double[n]; double *w = new double[n];\n"
        "for (int i = 0; i < n; i++) w[i] = rate; for (int i = 0; i < n; i++) { u[i] = unknown(w, i); }\n",
        # it was read before
        "int n = 8; double rate = 0.5; double *u = new double[n]; double *w = new double[2 * n];\n"
        "n = argc * 4; n = unknown(n);\n",
        # its memory may have another name
        "int n = 8; double rate = 0.5; double *u = held(strange(argc));\n",
        # it launches
        "int n = 8; double rate = 0.5; double *u = new double[n]; double *w; cudaMalloc(&w, 64); cudaMalloc(&u, 64);\n"
        "if (argc > 2) decay<<<1, 64>>>(w, u, rate, n);\n",
        # it may end the program well
        "int n = 8; double rate = 0.5; double *u = new double[n]; if (argc > 2) { n = 5; return 0; }\n",
    ],
)
def test_what_is_no_input_is_refused(text):
    done = main(text)
    assert "main" not in done.raised
    assert any(d.severity == "error" and d.kernel in ("main", "") for d in done.diagnostics)


def test_after_a_launch_nothing_is_an_input():
    done = main(
        "int n = 8; double rate = 0.5; double *u = new double[n], *w; cudaMalloc(&w, n * sizeof(double));\n"
        "cudaMemset(w, 0, n * sizeof(double)); decay<<<1, 64>>>(w, w, rate, n);\n"
        "double *v = load(argv[2], n); v[0] = strange(argc); cudaMemcpy(v, w, n * sizeof(double), "
        "cudaMemcpyDeviceToHost); v[1] = strange(argc); cudaMemcpy(w, v, n * sizeof(double), cudaMemcpyHostToDevice);\n"
    )
    assert [d.code for d in done.diagnostics if d.reason.startswith("v takes what is not followed")] == ["KR216"]
    assert done.text.rstrip().splitlines()[-1].strip().startswith("return jax.lax.fori_loop(0, 3, ")


def test_an_exit_with_a_named_failure_is_a_check():
    done = main("int n = 8; double rate = 0.5; if (argc > 1) n = atoi(argv[1]);\n"
                'if (n <= 0) { fprintf(stderr, "usage: %s n", argv[0]); return EXIT_FAILURE; }\n' + FILL)  # fmt: skip
    assert params(done) == {"n": 8}


def test_a_loop_over_options_gives_numbers():
    done = main(
        """
        int n = 4; double rate = 0.5; int verbose = 0;
        int c;
        while ((c = getopt(argc, argv, "n:r:v")) != -1) {
            switch (c) {
                case 'n': n = atoi(optarg); break;
                case 'r': rate = atof(optarg); break;
                case 'v': verbose = 1; break;
                default: fprintf(stderr, "usage\\n"); exit(EXIT_FAILURE);
            }
        }
    """
        + FILL
    )
    assert params(done) == {"n": 4, "rate": 0.5}
    check(done, np.arange(1.0, 6), n=5, rate=0.25)


def test_extents_of_the_command_line_have_their_defaults():
    done = main(
        """
        int block = 4; dim3 size(block * 2, 3, 1); double rate = 0.5;
        if (argc > 2) { size.x = atoi(argv[1]); }
        int n = size.x;
    """
        + FILL
    )
    assert params(done) == {"size_x": 8}
    with x64(True):
        np.testing.assert_allclose(load_module(done.text).main(size_x=5), np.arange(1.0, 6) / 8, rtol=1e-12)


def test_a_reference_of_another_file_in_a_helper_is_no_loss():
    text = (
        KERNEL
        + """
        extern "C" void gold(double *out, const double *u, int n);
        void run(int argc, char **argv) {
            int n = 8; double rate = 0.5;
    """
        + FILL
        + REST.replace("return EXIT_SUCCESS;", "double *g = new double[n]; gold(g, g, n);")
        + """
        int main(int argc, char **argv) { run(argc, argv); return 0; }
    """
    )
    done = pipeline.translate(text, "a.cu", Options(only=("main",)))
    assert params(done) == {}
    before = text.replace("double *g = new double[n]; gold(g, g, n);", "").replace(FILL, FILL + "gold(u, u, n);")
    done = pipeline.translate(before, "a.cu", Options(only=("main",)))
    assert "main" not in done.raised or "u" in params(done)


PLAIN_C = """
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
__global__ void scale(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
static struct option words[] = {{"gain", 1, NULL, 'g'}, {0, 0, 0, 0}};
float weights[4], table[2][3];
static void fill(void) { for (int i = 0; i < 4; i++) weights[i] = i + 1; for (int j = 0; j < 3; j++) table[1][j] = j; }
static int size_of(const char *name) {
    FILE *f = fopen(name, "r");
    int n;
    if (!f || fscanf(f, "%d", &n) != 1) { fprintf(stderr, "no %s\\n", name); exit(1); }
    fclose(f);
    return n;
}
static void read_all(const char *name, float *h, int n) {
    FILE *f = fopen(name, "r");
    for (int i = 0; i < n; i++) if (fscanf(f, "%f", &h[i]) != 1) exit(1);
    fclose(f);
}
template <typename T> void alone(int n, int rounds) {
    T *h = (T *)malloc(n * sizeof(T)), *d;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    for (int r = 0; r < rounds; r++) scale<<<1, n>>>(d, 2.0f, n);
    cudaMemcpy(h, d, n * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%f\\n", h[0]);
}
int main(int argc, char **argv) {
    float gain = 0.5f, *h, *d;
    int c, at, n = size_of("in");
    while ((c = getopt_long(argc, argv, "g:", words, &at)) != -1) {
        switch (c) { case 'g': gain = atof(optarg); break; default: exit(1); }
    }
    h = (float *)malloc(n * sizeof(float));
    fill();
    read_all("in", h, n);
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<1, n>>>(d, gain * weights[3] + table[1][2], n);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    alone<float>(3, 2);
    return 0;
}
"""


def test_a_program_in_plain_c():
    """Its file is a parameter, variables of the file are ``main``'s, a function that gives nothing what it shows."""
    done = pipeline.translate(PLAIN_C, "a.cu", Options(only=("main",)))
    assert done.raised[-1] == "main", [d.reason for d in done.diagnostics]
    x = np.arange(5, dtype=np.float32)
    got = load_module(done.text).main(h=x, n=5)
    np.testing.assert_allclose(got[0], x * (0.5 * 4 + 2))
    np.testing.assert_allclose(got[1], 4 * np.arange(3))
    assert "def main(n, h, gain=0.5)" in done.text
    apart = pipeline.translate(PLAIN_C, "a.cu")
    np.testing.assert_allclose(load_module(apart.text).alone(4, 1), 2 * np.arange(4))
