"""Variables of the file that ``main`` and its helpers change, and templates that launch: all of them are ``main``'s."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>
int rows, cols;
static int launches, *data;
float weight = 0.5f, *d_a, *d_b;
const int EXTRA = 1;
__global__ void shift(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) b[i] = a[i] + a[i - 1];
}
template <typename T> __global__ void scale(T *x, T s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = s * x[i];
}
void options(int argc, char **argv) {
    if (argc == 3) { cols = atoi(argv[1]); rows = atoi(argv[2]); }
    else { printf("usage\\n"); exit(0); }
    data = new int[rows * cols];
    for (int i = 0; i < rows * cols; i++) data[i] = rand() % 10;
}
int size() { return rows * cols; }
void allocate() {
    cudaMalloc((void **)&d_a, size() * sizeof(float));
    cudaMalloc((void **)&d_b, size() * sizeof(float));
}
void turn() { float *t = d_a; d_a = d_b; d_b = t; launches += EXTRA; }
void launch() { shift<<<(rows * cols + 63) / 64, 64>>>(d_a, d_b, rows * cols); turn(); weight *= 2.0f; }
template <typename T> void scaled(T *d, T s, int n) { scale<T><<<(n + 63) / 64, 64>>>(d, s, n); }
int main(int argc, char **argv) {
    options(argc, argv);
    allocate();
    float *h = (float *)malloc(rows * cols * sizeof(float));
    for (int i = 0; i < rows * cols; i++) h[i] = data[i] * weight;
    cudaMemcpy(d_a, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    int weights = 3;
    { int rows = 2; weights += rows; }
    for (int k = 0; k < 3; k++) launch();
    scaled<float>(d_a, weight + launches + weights, rows * cols);
    cudaMemcpy(h, d_a, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 10; i++) printf("%f ", h[i]);
    cudaFree(d_a); cudaFree(d_b);
    return 0;
}
"""


def main(text):
    return pipeline.translate(text, "a.cu", Options(only=("main",)))


def test_variables_of_the_file_are_variables_of_main():
    done = main(PROGRAM)
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    assert {p.name: p.default for p in host.params} == {"cols": None, "rows": None, "data": None}
    data = np.arange(15, dtype=np.int32) % 10
    a = b = data * np.float32(0.5)
    for _ in range(3):
        b = np.concatenate([b[:1], a[1:] + a[:-1]])
        a, b = b, a
    np.testing.assert_allclose(load_module(done.text).main(rows=3, cols=5, data=data), a * (4.0 + 3 + 5), rtol=1e-6)


@pytest.mark.parametrize(
    "old, new",
    [
        ("int size() { return rows * cols; }", "int size() { if (rows) { for (;;) return rows; } return 1; }"),
        ("static int launches, *data;", "static int launches, **data;"),
    ],
)
def test_what_is_not_followed_is_refused(old, new):
    assert "main" not in main(PROGRAM.replace(old, new)).raised


GIVEN = """
#define N 6
int n;
float *h_u, *d_u, *d_v, alpha = 0.1f, table[N][N], row[N];
int frame = 0;
__global__ void heat(const float *u, float *v, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) v[i] = u[i] + a * (u[i - 1] - 2 * u[i] + u[i + 1]);
}
void setup(int size) {
    n = size;
    cudaMalloc((void **)&d_u, n * sizeof(float));
    cudaMalloc((void **)&d_v, n * sizeof(float));
    cudaMemcpy(d_u, h_u, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_u, n * sizeof(float), cudaMemcpyHostToDevice);
}
void step() {
    heat<<<(n + 255) / 256, 256>>>(d_u, d_v, n, alpha);
    cudaMemcpy(d_u, d_v, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
void many(int steps) { for (int t = 0; t < steps; t++) step(); }
void whole(float *x, int size, int steps) {
    setup(size);
    many(steps);
    cudaMemcpy(x, d_u, n * sizeof(float), cudaMemcpyDeviceToHost);
}
void stronger(float a) { alpha = a; step(); }
void rows() {
    float *a, *b;
    cudaMalloc(&a, sizeof(table));
    cudaMalloc(&b, sizeof(row));
    cudaMemcpy(a, table, sizeof(table), cudaMemcpyHostToDevice);
    cudaMemcpy(b, row, N * sizeof(row[0]), cudaMemcpyHostToDevice);
    heat<<<1, 64>>>(a, b, N, alpha);
    cudaMemcpy(row, b, sizeof(row), cudaMemcpyDeviceToHost);
}
void turn() {
    heat<<<(n + 255) / 256, 256>>>(d_u, d_v, n, alpha);
    float *t = d_u; d_u = d_v; d_v = t;
}
void swapped() { heat<<<(n + 255) / 256, 256>>>(d_u, d_v, n, alpha); std::swap(d_u, d_v); }
void counted() { if (frame % 2 == 0) heat<<<(n + 255) / 256, 256>>>(d_u, d_v, n, alpha); frame++; }
void until(int last) { while (frame < last) counted(); }
"""


def given(name, **arguments):
    """What a function that is not ``main`` gives, by its parameters."""
    done = pipeline.translate(GIVEN, "a.cu", Options(only=(name,)))
    assert name in done.raised, [d.reason for d in done.diagnostics]
    found = getattr(load_module(done.text), name)(**arguments)
    return tuple(map(np.asarray, found)) if isinstance(found, tuple) else np.asarray(found)


def stepped(u, steps, a):
    for _ in range(steps):
        u = np.concatenate([u[:1], u[1:-1] + a * (u[:-2] - 2 * u[1:-1] + u[2:]), u[-1:]])
    return u


def test_variables_of_the_file_are_parameters():
    u = np.array([1.0, 4.0, 2.0, 8.0, 5.0], np.float32)
    new_u, new_v = given("step", n=5, d_u=u, d_v=u, alpha=0.25)
    np.testing.assert_allclose(new_u, stepped(u, 1, 0.25), rtol=1e-6)
    np.testing.assert_array_equal(new_u, new_v)
    new_u, _ = given("many", steps=3, n=5, d_u=u, d_v=u, alpha=0.25)
    np.testing.assert_allclose(new_u, stepped(u, 3, 0.25), rtol=1e-6)


def test_what_a_function_sets_first_is_its_own():
    u = np.array([1.0, 4.0, 2.0, 8.0, 5.0], np.float32)
    x = given("whole", x=np.zeros(5, np.float32), size=5, steps=2, h_u=u, alpha=0.25)
    np.testing.assert_allclose(x, stepped(u, 2, 0.25), rtol=1e-6)
    new_u, _ = given("stronger", a=0.5, n=5, d_u=u, d_v=u)
    np.testing.assert_allclose(new_u, stepped(u, 1, 0.5), rtol=1e-6)


def test_arrays_of_the_file():
    table = np.arange(36, dtype=np.float32).reshape(6, 6) ** 2
    row = given("rows", table=table, row=np.zeros(6, np.float32), alpha=0.5)
    np.testing.assert_allclose(row[1:-1], stepped(table[0], 1, 0.5)[1:-1], rtol=1e-6)
    assert row[0] == row[-1] == 0


def test_numbers_that_a_function_reads_and_changes_are_given_back():
    u = np.array([1.0, 4.0, 2.0, 8.0, 5.0], np.float32)
    for frame in (2, 3):
        left, new_v = given("counted", n=5, d_u=u, d_v=u, alpha=0.25, frame=frame)
        np.testing.assert_allclose(new_v, stepped(u, 1 - frame % 2, 0.25), rtol=1e-6)
        assert left == frame + 1
    left, new_v = given("until", last=6, n=5, d_u=u, d_v=u, alpha=0.25, frame=4)
    np.testing.assert_allclose(new_v, stepped(u, 1, 0.25), rtol=1e-6)
    assert left == 6


@pytest.mark.parametrize("name", ["turn", "swapped"])
def test_what_the_caller_would_not_see_is_refused(name):
    done = pipeline.translate(GIVEN, "a.cu", Options(only=(name,)))
    assert name not in done.raised
    assert {d.code for d in done.diagnostics if d.severity == "error"} <= {"KR211", "KR207"}
