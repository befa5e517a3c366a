"""Swizzled tiles: columns of shared memory that are exchanged within their row, ``tile[j][i ^ j]``."""

import pytest

from kraise import pipeline
from tests.checks import agrees

TILES = """
__global__ void f(const float *in, float *out, int w, int h) {{
    __shared__ float tile[8][8];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
    if (x < w && y < h) tile[{store}] = in[y * w + x];
    {barrier}
    x = blockIdx.y * 8 + tx;
    y = blockIdx.x * 8 + ty;
    if (x < h && y < w) out[y * h + x] = tile[{load}];
}}"""
BARRIER = "__syncthreads();"


def _translated(store: str, load: str, barrier: str = BARRIER) -> pipeline.Translation:
    return pipeline.translate(TILES.format(store=store, load=load, barrier=barrier), "k.cu")


def _checked(done: pipeline.Translation, *about: object) -> None:
    for h, w in ((8, 8), (16, 8)):
        request = pipeline.Request(
            shapes={"in": (h * w,), "out": (h * w,)},
            values={"w": w, "h": h},
            grid=((w + 7) // 8, (h + 7) // 8, 1),
            block=(8, 8, 1),
        )
        agrees(done, request, h, w, *about)


@pytest.mark.parametrize("store, load", [("ty][tx ^ ty", "tx][ty ^ tx"), ("ty][ty ^ tx", "tx][ty ^ tx")])
def test_a_transposition(store, load):
    done = _translated(store, load)
    assert done.text is not None and ".T" in done.text and "^" not in done.text and "arange" not in done.text
    _checked(done)


@pytest.mark.parametrize(
    "store, load",
    [
        ("ty][tx ^ ty", "ty][tx"),  # exchanged within the row
        ("ty ^ tx][tx", "tx ^ ty][tx"),
    ],
)
def test_other_places_of_the_row(store, load):
    done = _translated(store, load)
    assert done.text is not None
    request = pipeline.Request(
        shapes={"in": (64,), "out": (64,)}, values={"w": 8, "h": 8}, grid=(1, 1, 1), block=(8, 8, 1)
    )
    agrees(done, request, store, load)


@pytest.mark.parametrize(
    "store, load, barrier, code",
    [
        ("ty][tx ^ ty", "tx][ty ^ tx", "", "KR201"),
        ("ty][tx & ty", "tx][ty ^ tx", BARRIER, "KR202"),
        ("ty][tx | ty", "tx][ty ^ tx", BARRIER, "KR202"),
        ("ty >> 1][tx ^ ty", "tx][ty ^ tx", BARRIER, "KR202"),  # two rows of threads in one of the tile
        ("0][tx ^ ty", "tx][ty ^ tx", BARRIER, "KR202"),
    ],
)
def test_tiles_in_which_threads_meet_are_refused(store, load, barrier, code):
    done = _translated(store, load, barrier)
    assert done.text is None and {d.code for d in done.diagnostics} & {code}, [str(d) for d in done.diagnostics]


def test_in_numba():
    source = """
from numba import cuda, float32

@cuda.jit
def f(a, out):
    tile = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        tile[ty, tx ^ ty] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 8 + tx
    y = cuda.blockIdx.x * 8 + ty
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[tx, ty ^ tx]
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None and ".T" in done.text
    agrees(done, pipeline.Request(shapes={"a": (8, 16), "out": (16, 8)}, grid=(2, 1, 1), block=(8, 8, 1)))
