"""A flat index below a count that its digits do not name (``index < n``) taken apart twice; rows along a diagonal."""

import pytest

from kraise import pipeline
from tests.checks import agrees


def _verified(source, **request):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(gradients=False, **request))
    return done.text


PLANES = """
__global__ void f(const float* x, float* y, int n, int h, int w) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < n) {
        int j = index %% w;
        int i = (index / w) %% h;
        int c = index / w / h;
        y[(%s * h + i) * w + j] = x[index] + c;
    }
}"""


def test_every_second_plane():
    for n in (24, 17, 1, 0):  # whole planes, begun ones, none
        _verified(PLANES % "2 * c", shapes={"x": (24,), "y": (48,)}, values={"n": n, "h": 3, "w": 4})


def test_planes_that_overlap_are_a_race():
    done = pipeline.translate(PLANES % "c / 2", "k.cu")
    assert {d.code for d in done.diagnostics} <= {"KR201", "KR202"} and done.diagnostics


DIAGONAL = """
__global__ void f(const int* a, const int* b, int* H, int m, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int j = d - i;
    if (i > m || j < 1 || j > n) return;
    int best = H[(i - 1) * (n + 1) + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1);
    best = max(best, H[(i - 1) * (n + 1) + j] - 1);
    best = max(best, H[i * (n + 1) + j - %s] - 1);
    H[i * (n + 1) + j] = best;
}"""


def test_one_diagonal_of_an_alignment():
    for m, n, d in ((4, 3, 5), (1, 1, 2), (3, 5, 4), (5, 2, 7), (2, 2, 9)):
        shapes = {"a": (m,), "b": (n,), "H": ((m + 1) * (n + 1),)}
        _verified(DIAGONAL % "1", shapes=shapes, values={"m": m, "n": n, "d": d})


def test_a_cell_of_the_same_diagonal_is_a_race():
    done = pipeline.translate(
        (DIAGONAL % "1").replace("H[(i - 1) * (n + 1) + j] - 1", "H[(i - 1) * (n + 1) + j + 1]"), "k.cu"
    )
    assert [d.code for d in done.diagnostics] == ["KR201"]


def test_a_sorting_network_of_integers_takes_no_time():
    source = """
__global__ void median(const unsigned char* in, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 8 >= n) return;
    unsigned char v[9];
    int k = 0;
    for (int d = 0; d < 9; d++) v[k++] = in[i + d];
    for (int a = 0; a < 9; a++)
        for (int b = a + 1; b < 9; b++)
            if (v[a] > v[b]) { unsigned char t = v[a]; v[a] = v[b]; v[b] = t; }
    out[i] = v[4];
}"""
    text = _verified(source, shapes={"in": (20,), "out": (20,)}, values={"n": 20})
    assert "jnp.minimum" in text and "lax" not in text


CHOSEN = """
__global__ void f(float* w, const float* d, const int* row, const unsigned* u, int n, int C, int D) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < %s)
        for (int i = 0; i < n; i++)
            %s;
}"""
SIZES = {"n": 4, "C": 3, "D": 4}
SHAPES = {"w": (18,), "d": (12,), "row": (5,), "u": (4,)}


@pytest.mark.parametrize(
    "does",
    [
        "w[row[i] * C + c] += d[i * C + c]",
        "w[*row * C + c] += d[i * C + c]",
        "w[row[i] * C + c] = d[i * C + c] - w[row[i + 1] * C + c]",
        "w[(row[i] + 1) * C - c - 1] += d[i * C + c]",
    ],
)
def test_each_thread_has_its_column_of_rows_that_data_choose(does):
    text = _verified(CHOSEN % ("C", does), shapes=SHAPES, values=SIZES)
    assert "reshape(" in text or "- 1" in does


@pytest.mark.parametrize(
    ("columns", "does"),
    [
        ("D", "w[row[i] * C + c] += d[i]"),  # more columns than a row has
        ("C", "w[row[i] * C + row[c]] += d[i]"),
        ("C", "w[row[i] * C + c] = w[row[i] * C + C - 1 - c]"),
        ("C", "w[u[i] * C + c] += d[i]"),  # which wraps: rows may overlap
    ],
)
def test_columns_that_data_or_another_size_bound_are_a_race(columns, does):
    done = pipeline.translate(CHOSEN % (columns, does), "k.cu")
    assert [d.code for d in done.diagnostics] == ["KR201"]
