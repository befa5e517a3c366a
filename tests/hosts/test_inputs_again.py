"""What main reads from outside in each round of a loop, or in a branch."""

import numpy as np

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
