"""Counters that the rounds of nested loops move on (``col[at++] = ...``) are functions of both indices."""

import pytest

from kraise import pipeline
from tests.checks import agrees

NEST = """
__global__ void f(const float* x, float* y, int* z, int n, int p, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    %s
}"""

CLOSED = {
    "along a row": """int at = i * p * q;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) y[at++] = x[i] * a + b;""",
    "down a column": """int at = i;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) { y[at] = x[i] * a + b; at += n; }""",
    "a pointer": """float* o = y + i;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) { *o = x[i] * a + b; o += n; }""",
    "three deep": """int at = i;
    for (int a = 0; a < p; a++)
        for (int b = 0; b < q; b++)
            for (int c = 0; c < p; c++) { y[at] = x[i] * c; at += n; }""",
    "counted down": """int at = i;
    for (int a = p - 1; a >= 0; a--) for (int b = q; b > 0; b--) { y[at] = x[i] * a + b; at += n; }""",
    "used afterwards": """int at = i * p * q;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) y[at++] = x[i] * a + b;
    z[i] = at;""",
}
SIZES = [(3, 2, 3), (3, 0, 2), (2, 3, 0)]
NEGATIVE = [(2, 3, -1), (2, -2, 2)]


def _verified(body, sizes=SIZES):
    done = pipeline.translate(NEST % body, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    for n, p, q in sizes:
        size = max(n * max(p, 0) * max(q, 0) * max(p, 1), n)
        request = pipeline.Request(
            shapes={"x": (n,), "y": (size,), "z": (n,)},
            values={"n": n, "p": p, "q": q},
            gradients=False,
        )
        agrees(done, request, n, p, q)
    return done.text


@pytest.mark.parametrize("name", CLOSED)
def test_moved_by_an_inner_loop(name):
    text = _verified(CLOSED[name])
    assert "lax" not in text, text


OTHERWISE = {
    "asked for beside the inner loop": """int at = i;
    for (int a = 0; a < p; a++) { z[i] = at; for (int b = 0; b < q; b++) at += n; }""",
    "a triangle": "int s = i; for (int a = 0; a < p; a++) for (int b = 0; b < a; b++) s += 2; z[i] = s;",
    "left early": """int s = i;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) { s += 1; if (x[i] < 0.1f * b) break; }
    z[i] = s;""",
    "in some rounds": """int s = i;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) { if (x[b % n] > 0.f) s++; }
    z[i] = s;""",
    "by what the outer loop counts": """int s = i;
    for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) s += a;
    z[i] = s;""",
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_counters_keep_their_values(name):
    _verified(OTHERWISE[name], SIZES + NEGATIVE)


def test_a_counter_in_some_rounds_is_no_place():
    body = "int at = i; for (int a = 0; a < p; a++) for (int b = 0; b < q; b++) if (x[b] > 0.f) { y[at] = a; at += n; }"
    done = pipeline.translate(NEST % body, "k.cu")
    assert {d.code for d in done.diagnostics} & {"KR201", "KR202"}


PLANES = """
__global__ void f(const float* x, float* y, int w, int h, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= w || j >= h) return;
    int c = i + j * w, plane = w * %s;
    y[c] = x[c] + x[c + plane];
    c += plane;
    for (int k = 1; k < d - 1; k++) { y[c] = x[c - plane] + x[c + plane]; c += plane; }
    y[c] = x[c - plane];
}"""


def test_the_first_and_the_last_plane_beside_the_loop():
    done = pipeline.translate(PLANES % "h", "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    for w, h, d in ((3, 2, 4), (2, 3, 1), (1, 2, 2)):
        size = w * h * max(d, 2)
        request = pipeline.Request(
            shapes={"x": (size,), "y": (size,)}, values={"w": w, "h": h, "d": d}, gradients=d == 4
        )
        agrees(done, request, w, h, d)


def test_planes_that_overlap_are_a_race():
    done = pipeline.translate(PLANES % "(h - 1)", "k.cu")
    assert {d.code for d in done.diagnostics} & {"KR201", "KR202"}
