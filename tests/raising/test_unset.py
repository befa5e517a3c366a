"""A thread's own arrays: cells that nothing has stored to, and subscripts that leave them in ways that are no sum."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = """
__constant__ int table[6] = {3, 1, 4, 1, 5, 9};
__device__ float of_own(float v, int far) { float q[4]; q[0] = v; q[1] = 2.f * v; return q[0] + q[far]; }
__global__ void f(const float *x, const int *h, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
"""
POWERS = "float p[8]; p[0] = 1.f; {} for (int k = 2; k < 8; k++) p[k] = p[k - 1] * x[i]; y[i] = p[3] + p[7];"
UNSET = {  # what is left out, the body without it, and the code
    "powers": ("p[1] = x[i];", POWERS, "KR207"),
    "one of the first": ("p[1] = 0.f;", "float p[8]; {} for (int k = 2; k < 8; k++) p[k] = x[i] + k;"
                         " y[i] = p[1] + p[3];", "KR207"),
    "a count of which the zero is missing": ("c[3] = 0;", "int c[4]; for (int k = 0; k < 3; k++) c[k] = 0; {}"
                                             " for (int k = 0; k < 5; k++) c[h[i * 5 + k] & 3]++; y[i] = c[0] + c[3];",
                                             "KR207"),
    "what a recurrence begins with": ("p[0] = x[i];", "float p[50]; for (int k = 1; k < 50; k++) p[k] = x[i] * k; {}"
                                      " for (int k = 1; k < 50; k++) p[k] = p[k] + p[k - 1] * 0.5f; y[i] = p[49];",
                                      "KR207"),
    "by halves": ("p[8] = 1.f;", "float p[16]; {} for (int s = 1; s < 8; s <<= 1) p[s] = x[i] * s; p[0] = 0.f;"
                  " float v = 0.f; for (int s = 1; s < 16; s *= 2) v += p[s]; y[i] = v;", "KR207"),
    "in a loop over the work": ("p[2] = 1.f;", "float v = 0.f; for (int j = i; j < n; j += 64) {{ float p[3];"
                                " p[0] = x[j]; p[1] = 2.f; {} v += p[0] * p[1] + p[2]; }} y[i] = v;", "KR207"),
    "of a function": ("0 *", "y[i] = of_own(x[i], {} 3);", "KR207"),
    "beyond by bits": ("k == 4 ? 0.f : (float)", "int w[5]; for (int k = 0; k < 5; k++) w[k] = h[i * 5 + k];"
                       " float v = 0.f; for (int k = 0; k < 5; k++) v += {} w[k ^ 1]; y[i] = v;", "KR204"),
    "beyond a table by bits": ("& 5", "float v = 0.f; for (int k = 0; k < 5; k++) v += table[(k ^ 2) {}] * x[i];"
                               " y[i] = v;", "KR204"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSET)
def test_what_no_statement_has_stored_is_not_read(name):
    missing, body, code = UNSET[name]
    refused = pipeline.translate(HEAD + body.format("") + "}", "k.cu")
    assert refused.text is None and {d.code for d in refused.diagnostics} == {code}, refused.diagnostics
    done = pipeline.translate(HEAD + body.format(missing) + "}", "k.cu")
    assert done.text is not None, done.diagnostics
    shapes = {n: s for n, s in {"x": (400,), "h": (40,)}.items() if f"{n}[" in body}
    agrees(done, pipeline.Request(shapes=shapes, values={"n": 8}, grid=(1,), block=(8,)))


TAKEN = {  # a cell may be filled, or need not be loaded
    "by data": "float p[4]; if (x[i] > 0.f) p[1] = x[i]; y[i] = p[1];",
    "at a place that data say": "float p[4]; p[h[i]] = x[i]; y[i] = p[1];",
    "where data say": "float p[4]; p[0] = x[i]; y[i] = x[i] > 9e9f ? p[1] : p[0];",
    "in a round that data leave out": "float p[4], v = 0.f; p[0] = p[1] = 1.f;"
    " for (int k = 0; k < 4; k++) { if (k >= 2 && x[i] < 9e9f) break; v += p[k] * x[i]; } y[i] = v;",
    "in a loop of any number of rounds": "float p[4]; p[0] = 1.f; float v = 0.f;"
    " for (int k = 0; k < h[i]; k++) v += p[k + 1]; y[i] = v;",
}


@pytest.mark.parametrize("body", TAKEN.values(), ids=TAKEN)
def test_what_data_decide_is_taken_to_be_there(body):
    done = pipeline.translate(HEAD + body + "}", "k.cu")
    assert {d.code for d in done.diagnostics} <= {"KR205", "KR299"}, done.diagnostics
