"""Elements that are parted in two, each kind in order: the split of a radix sort, in a block and in a warp."""

import pytest

from kraise import pipeline
from tests.checks import agrees

BLOCK = """
__global__ void f({T} *a, int bit) {{
    __shared__ {T} s[8];
    __shared__ {T} count[8];
    int t = threadIdx.x;
    {T} v = a[blockIdx.x * 8 + t], b = (v >> bit) & 1, e = 1 - b;
    count[t] = e;
    __syncthreads();
    for (int off = 1; off < 8; off *= 2) {{
        {T} u = t >= off ? count[t - off] : 0;
        __syncthreads();
        count[t] += u;
        __syncthreads();
    }}
    {T} before = count[t] - e, total = count[7];
    {T} d = {place};
    s[d] = v;
    __syncthreads();
    a[blockIdx.x * 8 + t] = s[t];
}}"""


@pytest.mark.parametrize(
    "kind, place",
    [
        ("int", "b ? t - before + total : before"),
        ("int", "e ? before : total + t - before"),
        ("unsigned", "b ? t - before + total : before"),
    ],
)
def test_the_split_of_a_block(kind, place):
    done = pipeline.translate(BLOCK.format(T=kind, place=place), "k.cu")
    assert done.text is not None and "cumsum" in done.text and "loop(" not in done.text
    request = pipeline.Request(shapes={"a": (16,)}, values={"bit": 1}, grid=(2, 1, 1), block=(8, 1, 1))
    agrees(done, request, kind, place)


@pytest.mark.parametrize(
    "place",
    [
        "b ? t - before : before",  # both kinds from the first place on
        "b ? t - before + total - 1 : before",
        "b ? before : t - before + total",
        "b ? total + before : before",
        "v & 1 ? t - before + total : before",  # another bit than the one that is counted
    ],
)
def test_places_that_meet_are_refused(place):
    done = pipeline.translate(BLOCK.format(T="int", place=place), "k.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202", "KR204", "KR207"), done.text


WARP = """
__global__ void f(const float *x, float *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float v = x[i];
    bool p = v > 0.f;
    unsigned m = __ballot_sync(0xffffffff, p);
    int r = __popc(m & ((1u << lane) - 1));
    int d = {place};
    out[i - lane + d] = 2.f * v;
}}"""


def test_the_split_of_a_warp():
    done = pipeline.translate(WARP.format(place="p ? 32 - __popc(m) + r : lane - r"), "k.cu")
    assert done.text is not None and "loop(" not in done.text
    agrees(done, pipeline.Request(shapes={"x": (64,), "out": (64,)}, grid=(1, 1, 1), block=(64, 1, 1)))


@pytest.mark.parametrize("place", ["p ? r : lane - r", "p ? 31 - __popc(m) + r : lane - r", "p ? __popc(m) + r : lane"])
def test_lanes_that_meet_are_refused(place):
    done = pipeline.translate(WARP.format(place=place), "k.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202"), done.text
