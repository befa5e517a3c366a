"""A pointer that is set to another array among the statements that declare it is another pointer from there on."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.compare import verify

KERNEL = """__global__ void f(const float *a, float *b, float *c, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {}
}}"""
RAISED = {
    "another row": "if (i >= n) return; const float *x = a + i * 3; float s = x[0] + x[2];"
    " x = c + i * 3; b[i] = s * x[1];",
    "of what was stored": "if (i >= n) return; float *x = b + i; *x = 2 * a[i]; x = c + i; *x = b[i] + 1;",
    "a parameter": "if (i >= n) return; float s = a[i]; a = c; s += a[i]; a += n; b[i] = s * a[i];",
    "walked": "if (i >= n) return; const float *x = a; float s = 0; for (int k = 0; k < 3; k++) s += *x++;"
    " x = c + 2; for (int k = 0; k < 3; k++) s += *x++; b[i] = s * i;",
    "in a branch of its own": "if (i < n) { const float *x = a; float s = x[i]; x = c; b[i] = s * x[i]; }",
    "in a branch": "if (i >= n) return; const float *x = a; if (a[i] > 0) x = c; x += 1; b[i] = x[i];",
    "in branches of branches": "if (i >= n) return; const float *x; int k = i; if (a[i] > 0) { k += 2; if (i % 2)"
    " x = a + 3; else x = c; } else { k = 1; x = c + 2 * i; } x += k; float s = *x; b[i] = s * x[1];",
    "in rounds that are written out": "if (i >= n) return; const float *x = a; float s = 0;"
    " for (int k = 0; k < 3; k++) { s += x[i]; if (k == 1) x = c; } b[i] = s;",
}
REFUSED = {
    "in a branch of a loop": "if (i >= n) return; const float *x = a; float s = 0;"
    " for (int k = 0; k < n; k++) { if (k < i) { x = c; x += k; } s += *x; } b[i] = s;",
    "in a loop": "if (i >= n) return; const float *x = a; float s = 0;"
    " for (int k = 0; k < n; k++) { s += x[i]; if (k == i) x = c + k; } b[i] = s;",
}


@pytest.mark.parametrize("name", RAISED)
def test_set_among_the_statements_that_declare_it(name):
    done = pipeline.translate(KERNEL.format(RAISED[name]), "a.cu")
    assert done.raised == ("f",), done.diagnostics
    rng = np.random.default_rng(0)
    arrays = {a: rng.uniform(-1, 1, 30).astype(np.float32) for a in "abc"}
    report = verify(done.source, done.text, "f", Case("f", {**arrays, "n": 8}, (2,), (4,)))
    assert report.ok, [(r.check, r.message) for r in report.failures]


@pytest.mark.parametrize("name", REFUSED)
def test_set_elsewhere_is_refused(name):
    done = pipeline.translate(KERNEL.format(REFUSED[name]), "a.cu")
    assert not done.raised and "another array" in done.diagnostics[0].reason


def test_a_distance_to_an_array_that_a_pointer_need_not_point_into_is_refused():
    body = "if (i >= n) return; const float *x; if (a[i] > 0) x = a + i; else x = c; b[i] = x - a;"
    done = pipeline.translate(KERNEL.format(body), "a.cu")
    assert not done.raised and "`-` on these pointers" in done.diagnostics[0].reason
