"""Arrays that a loop carries, of which the kernel uses the first cells only; what a copy holds, plus something."""

import pytest

from kraise import pipeline
from tests.checks import agrees

RING = """
def smooth(a, b, n, rounds):
    for _ in range(rounds):
        for i in range(n):
            b[i] = 0.25 * (a[(i + n - 1) % n] + 2.0 * a[i] + a[(i + 1) % n])
        for i in range(n):
            a[i] = b[i] {more}
    return a
"""


@pytest.mark.parametrize("longer", [0, 3])
def test_the_first_cells_alone_are_carried(longer):
    done = pipeline.translate(RING.format(more="- 0.5 * b[n - 1 - i]"), "k.py")
    assert "a = a.at[:n].set(a1)" in done.text and done.text.count("a[:n]") == 1, done.text
    for n, rounds in ((5, 4), (1, 2), (4, 0)):
        request = pipeline.Request(shapes={"a": (n + longer,), "b": (n + longer,)}, values={"n": n, "rounds": rounds})
        agrees(done, request)


@pytest.mark.parametrize("more", ["- 0.5 * a[n]", "- 0.5 * b[i + 1]", "- (0.5 * a[i + 1] if a[i] > 1.0 else 0.0)"])
def test_not_where_something_asks_for_a_cell_behind_them(more):
    done = pipeline.translate(RING.format(more=more), "k.py")
    if done.text is None:
        pytest.fail(str(done.diagnostics))
    for n in (5, 2):
        request = pipeline.Request(shapes={"a": (n + 2,), "b": (n + 2,)}, values={"n": n, "rounds": 3})
        agrees(done, request)
    array = more[more.index("* ") + 2]
    assert f"{array}1" not in done.text, done.text


COPIED = """
__global__ void diffuse(const TYPE *u, float *v, int nx, int ny, float c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    v[y * nx + x] = u[y * nx + x];
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        v[y * nx + x] = u[PLACE] + c * (u[y * nx + x - 1] + u[y * nx + x + 1] - 2.0f * u[y * nx + x]);
}
"""


@pytest.mark.parametrize(
    "kind, place, added",
    [("float", "y * nx + x", True), ("float", "y * nx + x - nx", False), ("int", "y * nx + x", False)],
)
def test_what_a_copy_holds_and_something_more_is_added_to_it(kind, place, added):
    done = pipeline.translate(COPIED.replace("TYPE", kind).replace("PLACE", place), "k.cu")
    assert (".add(" in done.text) == added, done.text
    for nx, ny in ((6, 5), (2, 3)):
        request = pipeline.Request(
            shapes={"u": (nx * ny,), "v": (nx * ny,)}, values={"nx": nx, "ny": ny, "c": 0.25}, grid=(1, 1), block=(8, 8)
        )
        agrees(done, request, "v")
