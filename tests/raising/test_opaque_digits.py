"""A flat index below a count that its digits do not name (``index < n``) taken apart twice; rows along a diagonal."""

from kraise import pipeline


def _verified(source, **request):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    ((report,), problems) = pipeline.verify(done, pipeline.Request(gradients=False, **request))
    assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
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
