"""Sizes that are shared out (``hs = C / NH``): rows of the quotient; the size must be a multiple, which is checked."""

import jax.numpy as jnp
import pytest

from kraise import pipeline
from tests.checks import agrees, verified


def _verified(source, cases, **more):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    for shapes, values in cases:
        agrees(done, pipeline.Request(shapes=shapes, values=values, **more))
    return done.text


HEADS = """
__global__ void heads(float* out, const float* x, const float* w, int T, int C, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= T * NH) return;
    int h = idx %% NH, t = idx / NH;
    int hs = C / NH;
    float* o = out + t * C + %s;
    for (int i = 0; i < hs; i++) o[i] = 0.0f;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < hs; i++) o[i] += w[h * 3 + k] * x[t * C + h * hs + i];
}"""


def test_heads_of_a_row():
    cases = [
        ({"out": (t * c,), "x": (t * c,), "w": (3 * nh,)}, {"T": t, "C": c, "NH": nh})
        for t, c, nh in ((2, 6, 3), (3, 4, 1), (1, 5, 5))
    ]
    text = _verified(HEADS % "h * hs", cases, gradients=False)
    assert "lax" not in text and "C is a multiple of NH" in text
    found: dict = {}
    exec(text, found)
    with pytest.raises(ValueError, match="C must be a multiple of NH"):
        found["heads"](jnp.zeros(10), jnp.zeros(10), jnp.zeros(6), 2, 5, 2)
    with pytest.raises(ValueError, match="NH must be positive"):
        found["heads"](jnp.zeros(10), jnp.zeros(10), jnp.zeros(6), 2, 5, 0)


def test_heads_that_overlap_are_a_race():
    for at in ("h * (hs - 1)", "h * hs / 2"):
        done = pipeline.translate(HEADS % at, "k.cu")
        assert {d.code for d in done.diagnostics} <= {"KR201", "KR202"} and done.diagnostics


NORM = """
__global__ void group_norm(const float* x, const float* gamma, float* y, int N, int C, int HW, int G) {
    int g = blockIdx.x % G, n = blockIdx.x / G;
    int D = C / G, size = D * HW;
    const float* xg = x + (n * C + g * D) * HW;
    float* yg = y + (n * C + g * D) * HW;
    __shared__ float s[64];
    float sum = 0.f;
    for (int i = threadIdx.x; i < size; i += blockDim.x) sum += xg[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h >>= 1) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    float m = s[0] / size;
    for (int i = threadIdx.x; i < size; i += blockDim.x) yg[i] = (xg[i] - m) * gamma[g * D + i / HW];
}"""


def test_one_block_for_each_group_of_channels():
    n, c, hw, g = 2, 6, 5, 3
    case = {"x": (n * c * hw,), "gamma": (c,), "y": (n * c * hw,)}, {"N": n, "C": c, "HW": hw, "G": g}
    text = _verified(NORM, [case], grid=(n * g,), block=(4,))
    assert "sum(axis=1" in text and "lax.fori_loop" not in text


def test_a_size_that_is_only_divided_is_no_multiple():
    source = """
__global__ void f(const float* x, float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (n / m);
}"""
    text = _verified(source, [({"x": (7,), "y": (7,)}, {"n": 7, "m": 2})], gradients=False)
    assert "multiple" not in text


PRODUCT = """
template <int T> __global__ void product(float* c, const float* a, const float* b, int wa, int wb) {
    __shared__ float left[T][T], right[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    int begin = wa * T * blockIdx.y;
    for (int i = begin, j = T * blockIdx.x; i <= begin + wa - 1; i += T, j += T * wb) {
        left[y][x] = a[i + wa * y + x];
        right[y][x] = b[j + wb * y + x];
        __syncthreads();
        for (int k = 0; k < T; k++) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[wb * T * blockIdx.y + T * blockIdx.x + wb * y + x] = sum;
}
void both(float* c, float* d, const float* a, const float* b, int n) {
    product<2><<<dim3(n / 2, n / 2), dim3(2, 2)>>>(c, a, b, n, n);
    product<4><<<dim3(n / 4, n / 4), dim3(4, 4)>>>(d, a, b, n, n);
}"""


def test_tiles_of_a_named_size_make_up_a_row():
    done = pipeline.translate(PRODUCT, "k.cu")
    assert done.text is not None and "a2 @ b2" in done.text and "wa is a multiple of T" in done.text
    case = {"a": (24,), "b": (48,), "c": (32,)}, {"wa": 6, "wb": 8, "T": 2}
    request = pipeline.Request(shapes=case[0], values=case[1], grid=(4, 2), block=(2, 2))
    reports, problems = verified(done, request)
    assert not [r.failures for r in reports if r.kernel == "product" and r.failures], problems
    found: dict = {}
    exec(done.text, found)
    with pytest.raises(ValueError, match="wa must be a multiple of T"):
        found["product"](jnp.zeros(64), jnp.zeros(40), jnp.zeros(40), 5, 8, T=2)


def test_tiles_that_are_no_rows():
    skewed = PRODUCT.replace("a[i + wa * y + x]", "a[i + wa * y + x + y]")  # the last one of a row is in the next
    assert " @ " not in (pipeline.translate(skewed, "k.cu").text or "")
    racing = PRODUCT.replace("        __syncthreads();\n        for", "        for")
    assert {d.code for d in pipeline.translate(racing, "k.cu").diagnostics} & {"KR201"}


SPAN = """
__global__ void span(const float* q, float* dst, int width, int heads) {
    int per = width / heads;
    int row = blockIdx.x / heads, head = blockIdx.x % heads;
    extern __shared__ float part[];
    int at = row * width + head * per + threadIdx.x;
    if (threadIdx.x < per) part[threadIdx.x] = q[at];
    __syncthreads();
    float s = 0.0f;
    for (int i = 0; i < per; i++) s += part[i] * part[i];
    GUARD dst[at] = q[at] / sqrtf(s);
}"""
SPANS = [
    ({"q": (rows * width + 1,), "dst": (rows * width + 1,)}, {"width": width, "heads": heads}, rows * heads)
    for rows, width, heads in ((2, 6, 3), (1, 8, 2), (3, 4, 1))
]


def test_a_share_of_a_size_bounds_unsigned_threads():
    """``threadIdx.x < width / heads`` compares unsigned numbers, which a share, not negative, is as it is."""
    done = pipeline.translate(SPAN.replace("GUARD", "if (threadIdx.x < per)"), "k.cu")
    assert done.text and not done.diagnostics, [d.reason for d in done.diagnostics]
    assert "uint32" not in done.text and "axis=1, keepdims=True" in done.text and "share of" not in done.text
    for shapes, values, blocks in SPANS:
        agrees(done, pipeline.Request(shapes=shapes, values=values, grid=(blocks,), block=(8,)))


def test_a_block_for_each_share_is_told_by_the_sizes():
    """Without a guard a block must have as many threads as a share: the message names the two sizes."""
    source = "__global__ void k(const float* q, float* dst, int width, int heads) { int per = width / heads;"
    done = pipeline.translate(source + " int at = blockIdx.x * per + threadIdx.x; dst[at] = q[at] * q[at]; }", "k.cu")
    assert done.text and "a block has width // heads threads along x" in done.text, done.diagnostics
    for shapes, values, blocks in SPANS:
        block = (values["width"] // values["heads"],)
        agrees(done, pipeline.Request(shapes=shapes, values=values, grid=(blocks,), block=block))


def test_a_thread_beyond_its_share_is_a_race():
    done = pipeline.translate(SPAN.replace("GUARD", "if (threadIdx.x <= per)"), "k.cu")
    assert not done.text and {d.code for d in done.diagnostics} <= {"KR201", "KR202"}


def test_blocks_of_threads_beyond_a_share_are_rows_of_whole_heads():
    """No number of threads is tied to a share: it is no parameter of the source (KR900 once)."""
    done = pipeline.translate(SPAN.replace("GUARD", "").replace("if (threadIdx.x < per) part", "part"), "k.cu")
    assert done.text and "a block has width // heads threads along x" in done.text, done.diagnostics
    for shapes, values, blocks in SPANS:
        block = (values["width"] // values["heads"],)
        agrees(done, pipeline.Request(shapes=shapes, values=values, grid=(blocks,), block=block))


def test_what_may_be_negative_is_no_share():
    """``(unsigned)per`` of a divisor that only enters values may be any number: it stays converted."""
    source = "__global__ void k(const float* x, float* y, int c, int n) { int i = threadIdx.x; int per = c / n;"
    done = pipeline.translate(source + " if (i < 4) y[i] = x[i] * (unsigned)per; }", "k.cu")
    assert done.text and "uint32" in done.text


SCORES = """
__global__ void scores(float *out, const float *x, int T, int C, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= NH * T * T) return;
    int s = idx % T, t = (idx / T) % T, h = idx / (T * T), hs = C / NH;
    float sum = 0.0f;
    for (int i = 0; i < hs; i++) sum += x[t * 2 * C + h * HEAD + i] * x[s * 2 * C + h * HEAD + C + i];
    out[idx] = sum;
}"""


def test_heads_of_arrays_that_are_only_loaded():
    cases = [
        ({"out": (nh * t * t,), "x": (2 * t * c,)}, {"T": t, "C": c, "NH": nh}) for t, c, nh in ((2, 6, 3), (3, 4, 1))
    ]
    text = _verified(SCORES.replace("HEAD", "hs"), cases)
    assert "x3[:, :NH], x3[:, NH:]" in text and "C is a multiple of NH" in text and "arange" not in text


def test_a_quotient_that_no_load_asks_for_may_leave_a_rest():
    source = (
        SCORES.replace("int T,", "int T, int S,")
        .replace("HEAD", "hs")
        .replace("out[idx] = sum;", "out[idx] = sum * (T / S);")
    )
    case = ({"out": (18,), "x": (24,)}, {"T": 3, "S": 2, "C": 4, "NH": 2})
    text = _verified(source, [case], gradients=False)
    assert "C is a multiple of NH" in text and "T is a multiple of S" not in text


def test_heads_of_another_width_are_gathers_as_before():
    text = _verified(SCORES.replace("HEAD", "2"), [({"out": (8,), "x": (20,)}, {"T": 2, "C": 5, "NH": 2})])
    assert "multiple" not in text
