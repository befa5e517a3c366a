"""What main reads from outside in each round of a loop, or in a branch."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

FRAMES = """
#include <stdio.h>
#include <stdlib.h>
__global__ void blend(const float *img, float *acc, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) acc[i] = a * img[i] + (1 - a) * acc[i];
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]), frames = atoi(argv[2]);
    float *img = (float *)malloc(n * sizeof(float)), *acc = (float *)malloc(n * sizeof(float));
    float *d_img, *d_acc;
    cudaMalloc(&d_img, n * sizeof(float));
    cudaMalloc(&d_acc, n * sizeof(float));
    cudaMemset(d_acc, 0, n * sizeof(float));
    for (int t = 1; t < frames; t++) {
        for (int i = 0; i < n; i++) img[i] = rand() / (float)RAND_MAX;
        float a = rand() % 10 / 10.0f;
        cudaMemcpy(d_img, img, n * sizeof(float), cudaMemcpyHostToDevice);
        blend<<<(n + 63) / 64, 64>>>(d_img, d_acc, a, n);
        BACK
    }
    cudaMemcpy(acc, d_acc, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\\n", acc[0]);
    return 0;
}
"""


def main(text):
    return pipeline.translate(text, "a.cu", Options(only=("main",)))


def test_what_each_round_reads_is_one_array_of_all_rounds():
    done = main(FRAMES.replace("BACK", ""))
    rng = np.random.default_rng(0)
    images, a = rng.random((3, 5), np.float32), rng.random(3, np.float32)
    want = np.zeros(5, np.float32)
    for image, weight in zip(images, a, strict=True):
        want = weight * image + (1 - weight) * want
    found = load_module(done.text).main(5, 4, images.ravel(), a)
    np.testing.assert_allclose(found, want, rtol=1e-5)


def test_an_array_that_takes_results_between_its_inputs_is_refused():
    back = "cudaMemcpy(img, d_acc, n * sizeof(float), cudaMemcpyDeviceToHost);"
    done = main(FRAMES.replace("BACK", back))
    assert "main" not in done.raised and any("changed otherwise" in d.reason for d in done.diagnostics)


TESTED = """
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <stdio.h>
using namespace std;
__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
typedef struct { int n; float shift; const char *path; } Params;
int fill(float *h, int n, float s) { for (int i = 0; i < n; i++) h[i] += i * s; return n > 0 ? 0 : -1; }
int work(float *d, int n) { twice<<<(n + 63) / 64, 64>>>(d, n); return cudaGetLastError() == cudaSuccess ? 0 : 1; }
static int load(const char *path, float *h, int n) {
    FILE *f = fopen(path, "r");
    if (!f) { fprintf(stderr, "no %s\\n", path); return -1; }
    for (int i = 0; i < n; i++) if (fscanf(f, "%f", &h[i]) != 1) { fclose(f); return -1; }
    fclose(f);
    return 0;
}
static void save(const char *path, const float *h, int n) {
    FILE *f = fopen(path, "w");
    for (int i = 0; i < n; i++) { fprintf(f, "%g", h[i]); fputc(' ', f); }
    fclose(f);
}
FILE *log_file;
void run(int argc, char **argv) {
    log_file = fopen("log", "w");
    if (!log_file) { printf("no log\\n"); return; }
    Params p = {8, 0.5f, "in.txt"};
    if (argc == 4) { p.n = atoi(argv[1]); p.shift = atof(argv[2]); p.path = argv[3]; }
    else if (argc != 1) { printf("usage\\n"); exit(1); }
    int n = p.n;
    float *h = (float *)malloc(n * sizeof(float)), *d;
    READ
    if (fill(h, n, p.shift) != 0) exit(2);
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    if (work(d, n) != 0) exit(3);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    save("out.txt", h, n);
}
int main(int argc, char **argv) { run(argc, argv); return EXIT_SUCCESS; }
"""
READ = (
    "if (load(p.path, h, n) != 0) exit(2);",
    "if (argc == 4) { ifstream in(argv[3]); if (!in) { cerr << argv[3]; exit(1); } in.read((char *)h, n * 4); }\n"
    "else { srand(1); for (int i = 0; i < n; i++) h[i] = rand(); }",
)


@pytest.mark.parametrize("read", READ)
def test_what_tests_for_errors_do_on_their_way_stays(read):
    """They fill arrays and launch; all of it was dropped with the test."""
    done = main(TESTED.replace("READ", read))
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    h = np.arange(5, dtype=np.float32) ** 2
    found = load_module(done.text).main(h, p_n=5, p_shift=0.25)
    np.testing.assert_allclose(found, 2 * (h + 0.25 * np.arange(5)), rtol=1e-6)


FILLED = """
#include <stdio.h>
#include <stdlib.h>
__global__ void scale(float *x, float s, int n) { int i = threadIdx.x; if (i < n) x[i] *= s; }
int main(int argc, char **argv) {
    int n = 16, m = 0, rounds = 2;
    if (argc > 2) rounds = atoi(argv[2]); else rounds = 3;
    float *h = (float *)malloc(n * sizeof(float)), *d, big = 0;
    for (int i = 0; i < n; i++) { float r = rand() % 9; h[i] = r; if (r > 4) m++; BIG }
    for (int i = 0; i < n; i++) h[i] /= big + 1;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int r = 0; r < rounds; r++) scale<<<1, 64>>>(d, (float)m, n);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    return 0;
}
"""


def test_what_is_counted_while_an_array_is_filled_is_a_parameter():
    done = main(FILLED.replace("BIG", ""))
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    assert {p.name: p.default and p.default.value for p in host.params} == {"h": None, "m": None, "rounds": 3}
    h = np.arange(16, dtype=np.float32) / 4
    np.testing.assert_allclose(load_module(done.text).main(h, 2), 8 * h, rtol=1e-6)


def test_a_sum_that_is_made_while_an_array_is_filled_is_not_lost():
    done = main(FILLED.replace("BIG", "if (r > big) big = r;"))
    assert "main" not in done.raised and any("big" in d.reason for d in done.diagnostics)
