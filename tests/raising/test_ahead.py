"""Tiles in two buffers of shared memory: one that is fetched ahead, or what it was."""

import pytest

from kraise import pipeline
from tests.checks import verified

TWO = """
#define T 2
__global__ void f(const float *A, const float *B, float *C, int M, int N, int K) {{
    __shared__ float sa[2][T][T];
    __shared__ float sb[T][2][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.f;
    int buf = 0, tiles = (K + T - 1) / T;
    sa[buf][ty][tx] = (row < M && tx < K) ? A[row * K + tx] : 0.f;
    sb[ty][buf][tx] = (ty < K && col < N) ? B[ty * N + col] : 0.f;
    {before}
    for (int t = 0; t < tiles; ++t) {{
        {top}
        int ka = (t + 1) * T + tx, kb = (t + 1) * T + ty, {cur};
        if ({guard}) {{
            {name}
            sa[nxt][ty][tx] = (row < M && ka < K) ? A[row * K + ka] : 0.f;
            sb[ty][nxt][tx] = (kb < K && col < N) ? B[kb * N + col] : 0.f;
        }}
        {middle}
        for (int k = 0; k < T; ++k) acc += sa[cur][ty][k] * sb[k][cur][tx];
        {bottom}
    }}
    if (row < M && col < N) C[row * N + col] = acc;
}}
"""
SYNC = "__syncthreads();"
USUAL = {
    "before": SYNC,
    "top": "",
    "cur": "cur = t % 2, nxt = cur ^ 1",
    "guard": "t + 1 < tiles",
    "name": "",
    "middle": "",
    "bottom": SYNC,
}
SAME = {  # what is a product
    "by parity": {},
    "by a number that turns": {"cur": "cur = buf, nxt = buf ^ 1", "bottom": "__syncthreads(); buf = 1 - buf;"},
    "a barrier at the top": {"before": "", "top": SYNC, "bottom": ""},
    "another guard": {"guard": "t < (K + T - 1) / T - 1"},
    "without a guard": {"guard": "1"},
    "a number of the counter's name": {"name": "int k = (t + 1) * T; ka = k + tx, kb = k + ty;"},
}
OTHERWISE = {  # rounds that leave out the filling find what was there two rounds before
    "every other": {"guard": "t % 2 == 0"},
}
RACES = {
    "none in a round": {"bottom": ""},
    "between the filling and the use": {"middle": SYNC, "bottom": ""},
}
TURNS = """
from numba import cuda, float32

@cuda.jit
def f(A, B, C):
    sa = cuda.shared.array((2, 2, 2), float32)
    sb = cuda.shared.array((2, 2, 2), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0.0)
    buf = 0
    sa[0, ty, tx] = A[y, tx]
    sb[0, ty, tx] = B[ty, x]
    cuda.syncthreads()
    for m in range(2, A.shape[1], 2):
        sa[buf ^ 1, ty, tx] = A[y, m + tx]
        sb[buf ^ 1, ty, tx] = B[m + ty, x]
        for k in range(2):
            acc += sa[buf, ty, k] * sb[buf, k, tx]
        cuda.syncthreads()
        buf ^= 1
    for k in range(2):
        acc += sa[buf, ty, k] * sb[buf, k, tx]
    C[y, x] = acc
"""


def _translated(**parts):
    return pipeline.translate(TWO.format(**USUAL | parts), "f.cu")


def _checked(done, launches):
    assert done.text is not None, [d.reason for d in done.diagnostics]
    for shapes, values, grid in launches:
        request = pipeline.Request(shapes=shapes, values=values, grid=grid, block=(2, 2), gradients=False)
        reports, problems = verified(done, request)
        assert not problems and all(r.ok for r in reports), [f.message for r in reports for f in r.failures]


def _products(*sizes):
    return [
        ({"A": (m * k,), "B": (k * n,), "C": (m * n,)}, {"M": m, "N": n, "K": k}, (-(-n // 2), -(-m // 2)))
        for m, n, k in sizes
    ]


@pytest.mark.parametrize("name", SAME)
@pytest.mark.long_cases("another guard", "without a guard")
def test_two_buffers_are_a_product(name):
    done = _translated(**SAME[name])
    _checked(done, _products((3, 4, 5)) if name in ("by parity", "a barrier at the top") else ())
    assert " @ " in done.text and "loop" not in done.text


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_rounds_are_none(name):
    done = _translated(**OTHERWISE[name])
    assert " @ " not in (done.text or "")
    if name == "every other":
        _checked(done, _products((2, 1, 7)))


@pytest.mark.parametrize("name", RACES)
@pytest.mark.long_cases("between the filling and the use")
def test_each_barrier_is_needed(name):
    assert [d.code for d in _translated(**RACES[name]).diagnostics][:1] == ["KR201"]


def test_what_the_last_round_filled_is_used_behind():
    done = pipeline.translate(TURNS, "f.py")
    _checked(done, [({"A": (2, n), "B": (n, 4), "C": (2, 4)}, {}, (2, 1)) for n in (2, 6)])
    assert " @ " in done.text and "loop" not in done.text


def test_behind_the_loop_a_barrier_is_needed():
    source = TURNS.replace("        cuda.syncthreads()\n", "").replace("    for m in", "    for m in", 1)
    source = source.replace("        sa[buf ^ 1, ty, tx]", "        cuda.syncthreads()\n        sa[buf ^ 1, ty, tx]")
    assert [d.code for d in pipeline.translate(source, "f.py").diagnostics][:1] == ["KR201"]
