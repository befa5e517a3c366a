"""Fields one after another in one array (``f[i + 3 * n]``) and launches without a guard: rows that the launch fills."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

HEAD = "__global__ void k(int n, int m, const float *v, float *f) { int i = blockDim.x * blockIdx.x + threadIdx.x; "
FIELDS = {
    "numbers": "f[i] = v[i] * 2; f[i + 1 * n] = v[i + 1 * n] * 3; f[i + (1 + 2) * n] = v[i] + v[i + n]; }",
    "a loop": "for (int j = 0; j < 5; j++) f[i + j * n] = v[j]; }",
    "rows of a loop": "for (int j = 0; j < m; j++) f[j * n + i] = v[j * n + i] * 2; }",
}
LAUNCH = {"shapes": {"v": (32,), "f": (40,)}, "values": {"n": 8, "m": 3}, "grid": (2,), "block": (4,)}
RACES = {
    "a neighbour": "f[i] = f[i + 1] * 2; f[i + n] = 1; }",
    "a stride": "f[2 * i] = 1; f[i + n] = 2; }",
    "the field is read": "f[i] = f[(i + 1) % n + n]; f[i + n] = v[i]; }",
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name):
    done = pipeline.translate(HEAD + FIELDS[name], "k.cu")
    assert done.raised == ("k",), [d.reason for d in done.diagnostics]
    reports, findings = verified(done, pipeline.Request(**LAUNCH))
    assert not findings and not reports[0].failures
    assert "the launch must be as wide as a row" in done.text


@pytest.mark.parametrize("name", RACES)
def test_races(name):
    done = pipeline.translate(HEAD + RACES[name], "k.cu")
    assert not done.raised and {d.code for d in done.diagnostics} <= {"KR201", "KR202", "KR204"}


def test_fields_as_long_as_the_launch():
    every = HEAD + "int t = blockDim.x * gridDim.x; f[i] = v[i] * 2; "
    done = pipeline.translate(every + "f[i + 2 * t] = v[i + t]; }", "k.cu")
    reports, findings = verified(done, pipeline.Request(**LAUNCH, gradients=False))
    assert not findings and not reports[0].failures
    for meets in ("f[t - i] = v[i]; }", "f[i + t - 1] = v[i]; }"):
        assert not pipeline.translate(every + meets, "k.cu").raised


def test_a_guard_that_fits_the_fields():
    done = pipeline.translate(HEAD + "if (i < m) { f[i] = v[i + n]; f[i + 2 * n] = v[i] - 1; } }", "k.cu")
    assert "m <= n must hold" in done.text and "grid" not in done.text
    reports, findings = verified(done, pipeline.Request())
    assert not findings and not reports[0].failures


BORDERS = {
    "columns": ("n", "a[i * m] = a[i * m + m - 2]; a[i * m + m - 1] = a[i * m + 1];"),
    "rows": ("m", "a[i] = a[(n - 2) * m + i]; a[(n - 1) * m + i] = a[m + i];"),
    "of ghosts": ("n + 2", "a[i] = a[n * (n + 2) + i]; a[(n + 1) * (n + 2) + i] = a[n + 2 + i];"),
    "of planes": ("n", "for (int z = 0; z < 2; z++) a[(z * n + i) * m] = a[(z * n + i) * m + m - 2];"),
}
ACROSS = {
    "the next row": ("n", "a[i * m] = a[i * m + m];"),
    "the row before": ("n", "a[i * m + m - 1] = a[i * m - 1];"),
    "a column further on": ("m", "a[i] = a[(n - 1) * m + i + 1];"),
}
BORDER = (
    "__global__ void k(float *a, int n, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < %s) { %s } }"
)


@pytest.mark.parametrize("name", BORDERS)
def test_borders_are_copied_in_place(name):
    bound, body = BORDERS[name]
    done = pipeline.translate(BORDER % (bound, body), "k.cu")
    assert done.raised == ("k",), [d.reason for d in done.diagnostics]
    assert "a2 = a2.at[" in done.text and ("m >= 2 must hold" in done.text) == ("m - 2" in body)
    a, n, m = np.arange(1.0, 61, dtype=np.float32), 4, 5
    wanted = a.copy()
    for i in range(eval(bound)):
        for z in range(2):
            exec(body[body.index("a[") :], {"a": wanted, "i": i, "z": z, "n": n, "m": m})
    np.testing.assert_array_equal(load_module(done.text).k(a, n, m), wanted)


@pytest.mark.parametrize("name", ACROSS)
def test_borders_of_other_rows_are_races(name):
    done = pipeline.translate(BORDER % ACROSS[name], "k.cu")
    assert not done.raised and {d.code for d in done.diagnostics} == {"KR201"}
