"""Literals in the width that C gives them: floats among doubles, and doubles that make an integer or a condition."""

import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module, x64

SOURCE = """
#define STEP 0.7f
#define SHARE (STEP / 3)
#define T 0.3
#define DT 0.1
__constant__ float TABLE[3] = {0.1f, 0.2f, 0.3f};

__global__ void doubles(const double *x, double *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float third = 1.0 / 3.0;
    if (i < n) {
        y[5 * i] = x[i] * 0.1f;
        y[5 * i + 1] = x[i] * SHARE - 1.0f / 3.0f;
        y[5 * i + 2] = x[i] * TABLE[1] + third;
        y[5 * i + 3] = x[i] * a + fmaxf(0.1f, 0.2f);
        y[5 * i + 4] = x[i] + (0.1f + 0.2f);
    }
}

__global__ void integers(int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int rounds = 0;
        for (int k = 0; k < (int)(T / DT); k++) rounds++;
        y[i] = rounds + 10 * (int)(0.29 * 100) + 1000 * (int)(0.29f * 100);
        y[i] += (0.1 + 0.2 == 0.3) + 100000 * (0.1f + 0.2f == 0.3f) + 1000000 * (int)((float)(0.29 * 100));
    }
}
"""


def test_floats_among_doubles_and_doubles_that_make_integers():
    done = pipeline.translate(SOURCE, "literals.cu")
    assert done.raised == ("doubles", "integers")
    assert done.text is not None
    x = np.array([1.0, 3.0])
    f = np.float32
    with x64(True):
        module = load_module(done.text)
        found = np.asarray(module.doubles(x, np.zeros(10), 0.1, 2)).reshape(2, 5)
        whole = np.asarray(module.integers(np.zeros(1, np.int32), 1))
    wanted = [
        x * f(0.1),
        x * (f(0.7) / f(3)) - f(1) / f(3),
        x * f(0.2) + f(1.0 / 3.0),
        x * f(0.1) + f(0.2),
        x + f(f(0.1) + f(0.2)),
    ]
    np.testing.assert_allclose(found, np.stack([w.astype(np.float64) for w in wanted], 1), rtol=1e-12)
    single = int(f(0.29) * f(100))
    assert whole.tolist() == [2 + 10 * 28 + 1000 * single + 100000 * (f(0.1) + f(0.2) == f(0.3)) + 1000000 * 29]


def test_literals_of_float_code_keep_their_text():
    """Nothing changes where no integer and no double comes of them."""
    source = "__global__ void k(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] = 0.1f * x[i] + 0.3; }"
    text = pipeline.translate(source, "k.cu").text
    assert text is not None and "0.1 * x[:n] + 0.3" in text
