"""Stores to places that a library's running sum has counted, and those that nothing has."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
__global__ void flags(const float *x, int *f, float least, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f[i] = {flag};
}}
__global__ void kept(const float *x, const int *f, const int *p, float *y, int *from, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && f[i] == 1) {{ y[p[i]{less}] = x[i]; from[p[i]{less}] = i; }}
}}
void compact(const float *x, float *y, int *from, float least, int n) {{
    int *f, *p;
    cudaMalloc(&f, n * sizeof(int));
    cudaMalloc(&p, n * sizeof(int));
    flags<<<(n + 63) / 64, 64>>>(x, f, least, n);
    thrust::{scan}(thrust::device, f, f + {count}, p);
    kept<<<(n + 63) / 64, 64>>>(x, f, p, y, from, n);
}}
"""
GIVEN = {"flag": "x[i] > least", "less": "", "scan": "exclusive_scan", "count": "n"}


def translated(**changed):
    return pipeline.translate(SOURCE.format(**GIVEN | changed), "compact.cu")


@pytest.mark.parametrize("changed", [{}, {"less": " - 1", "scan": "inclusive_scan"}, {"flag": "x[i] < 0 ? 1 : 0"}])
def test_what_a_library_counts_are_places(changed):
    done = translated(**changed)
    assert {"kept", "compact"} <= {
        *done.raised
    } and "no two threads store to one element of y, as in compact" in done.text
    x = np.random.default_rng(0).standard_normal(9).astype(np.float32)
    y, at = np.zeros(9, np.float32), np.full(9, -1, np.int32)
    (mine,) = np.nonzero(x < 0 if "flag" in changed else x > 0.25)
    got = load_module(done.text).compact(x, y, at, 0.25, 9)
    np.testing.assert_array_equal(got[0], np.append(x[mine], y[mine.size :]))
    np.testing.assert_array_equal(got[1], np.append(mine, at[mine.size :]))


@pytest.mark.parametrize(
    "changed",
    [
        {"flag": "x[i] > least ? 1 : -1"},  # what is not kept counts backwards
        {"flag": "(int)x[i]"},
        {"count": "n / 2"},
        {"scan": "inclusive_scan", "flag": "x[i] > least ? 0 : 1", "count": "n - 1"},
    ],
)
def test_what_is_no_count_of_what_is_stored_is_none(changed):
    done = translated(**changed)
    assert not {"kept", "compact"} & {*done.raised}
    assert "KR202" in {d.code for d in done.diagnostics}
