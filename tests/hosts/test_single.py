"""Rounds that a host counts in floats of 32 bits are not those of Python's."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
__global__ void twice(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2; }
void run(float *x, int n) {
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice);
    BODY
    for (int i = 0; i < steps; i++) twice<<<(n + 31) / 32, 32>>>(d, n);
    cudaMemcpy(x, d, n * sizeof(float), cudaMemcpyDeviceToHost);
}
"""
STEPS = {
    "float dt = 0.1f; int steps = (int)(0.3f / dt);": 3,
    "const float total = 0.3f; float dt = 0.1f; int steps = total / dt;": 3,
    "int steps = (int)(0.3f / 0.1f);": 3,
    "double dt = 0.1; int steps = (int)(0.3 / dt);": 2,
    "float t = 0.1f; int steps = t == 0.1 ? 7 : 2;": 2,
    "float t = 0.1f; int steps = 1; if (t * 3 == 0.3f) steps = 4; if (t > 0.1) steps += 1;": 5,
    "float dt = 0.1f; if (n > 1) dt = 0.15f; int steps = (int)(0.31f / dt);": 2,
}


@pytest.mark.parametrize("body", STEPS)
def test_steps(body):
    done = pipeline.translate(SOURCE.replace("BODY", body), "steps.cu")
    assert done.raised == ("twice", "run"), done.diagnostics
    assert done.text is not None
    found = load_module(done.text).run(np.ones(2, np.float32), 2)
    assert found.tolist() == [2.0 ** STEPS[body]] * 2
