"""What the fuzzer found in loops: each kernel gave a wrong value or did not run until it was mended."""

import pytest

from kraise import pipeline
from tests.checks import verified
from tests.fuzz.drawing import drawn
from tests.fuzz.generate import Arg
from tests.fuzz.test_found import OUT, N, X, findings

A = Arg("a", ("n", "n"), "f")
K = Arg("k", None, "i")

AGAIN = """
i = cuda.grid(1)
if i < n:
    for l in range(k):
        w = 0.5
        for j in range(i + 1):
            w = w / (1.5 + x[j] * x[j]) + 0.25
            {store}
"""
STORES = {
    "a sum": "a[i, j] -= w * x[i]",
    "a sum that reads its cell": "a[i, j] += w * a[i, j]",
    "a store that reads its cell": "a[i, j] = 0.5 * a[i, j] + w",
    "a store": "a[i, j] = w * x[i]",
    "a greatest": "a[i, j] = max(a[i, j], w)",
}


@pytest.mark.parametrize("name", STORES)
def test_what_the_rounds_add_is_added_by_each_round_around(name):
    """A loop that stays was repeated once for all rounds of the loop around it (1225396)."""
    source, found = findings(AGAIN.format(store=STORES[name]), (A, X, N, K))
    assert {f.kind for f in found} == {"ok"}, (source, found)


NOTHING_SEEN = """
i = cuda.grid(1)
if i < n:
    t = 0.0
    q = 0
    for j in range(k):
        t = math.sin(t + x[i])
        q += 1
        out[i] = t
    out[i] = x[i]
"""


def test_a_loop_whose_results_nothing_sees_is_not_there():
    """Its carries had types of their own, and the call raised (1224350, 1322926)."""
    source, found = findings(NOTHING_SEEN, (X, OUT, N, K))
    assert {f.kind for f in found} == {"ok"}, (source, found)
    assert "loop" not in (text := pipeline.translate(source, "f.py").text) and "sin" not in text


ONE_SEEN = """
i = cuda.grid(1)
if i < n:
    t = 0.0
    s = 1.0
    for j in range(k):
        t = math.sin(t + x[i])
        s = math.cos(s + t)
    out[i] = t
"""


def test_a_carry_that_nothing_sees_is_not_carried():
    source, found = findings(ONE_SEEN, (X, OUT, N, K))
    assert {f.kind for f in found} == {"ok"}, (source, found)
    assert "cos(" not in pipeline.translate(source, "f.py").text


RUNNING = """
i = cuda.grid(1)
tile = cuda.shared.array(4, float64)
lane = cuda.threadIdx.x
tile[lane] = x[i] if i < n else -1.0
cuda.syncthreads()
reach = 2
while reach > 0:
    if lane < reach:
        tile[lane] = max(tile[lane], tile[lane + reach])
    cuda.syncthreads()
    reach //= 2
u = tile[0]
if i < n:
    for p in range(n):
        u = max(u, y[p] * x[i])
        out[i] -= u * u
"""


def test_a_running_value_that_starts_from_what_a_block_holds():
    """The block's value had an axis too many (1224503)."""
    source, found = findings(RUNNING, (X, Arg("y", ("n",), "f"), OUT, N), block=4)
    assert {f.kind for f in found} == {"ok"}, (source, found)


WIDE = """
i = cuda.grid(1)
if i < n:
    v = 0.0
    for j in range(i, -1, -1):
        v += math.tanh(0.125 * i) * i + j
    t = -8.0
    for j in range(i, -1, -1):
        e = (math.atan(v * j) - t) * out[i]
        if e >= t:
            t = e
    out[i] = t
"""


def test_a_sum_of_numbers_that_reaches_a_carry():
    """It is as wide as JAX makes floats, and so is what is carried (1322926)."""
    source, found = findings(WIDE, (OUT, N))
    assert {f.kind for f in found} == {"ok"}, (source, found)


BY_WARP = """
i = cuda.grid(1)
lane = cuda.threadIdx.x % 32
v = x[i] * i if i < n else 1.0
reach = 16
while reach >= 1:
    v += cuda.shfl_xor_sync(0xffffffff, v, reach)
    reach //= 2
if lane == 0:
    cuda.atomic.add(out, 0, v)
"""


def test_the_sum_of_warps_loads_no_more_than_the_array_has():
    """``x[:threads]`` of fewer elements beside the threads' numbers (1233656, 1325435)."""
    source, found = findings(BY_WARP, (X, Arg("out", ("n",), "f"), N), block=32)
    assert {f.kind for f in found} <= {"ok", "discarded"} and "ok" in {f.kind for f in found}, (source, found)


def test_a_number_of_another_width_is_a_number():
    """``(0).astype(b.dtype)`` was no number (1390617)."""
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { b[i] = (0 * x[i]) % -5; c[i] = 0ull * x[i]; }"
    source = f"__global__ void f(int n, int *b, unsigned *c, const long long *x) {{ {body} }}"
    (report,), problems = verified(pipeline.translate(source, "k.cu"), pipeline.Request())
    assert report.ok and not problems, report.failures


COUNTS = [
    "-c / 2 + (-c) % 7",
    "(3 - c) * 0.5f",
    "(20 - __clz(x[i])) / 3",
    "c < 3 - c ? 1 : 0",
    "(__popcll(x[i]) - 9) / 2",
]


@pytest.mark.parametrize("value", COUNTS)
def test_the_number_of_bits_has_a_sign(value):
    """JAX counts the bits of unsigned numbers in unsigned numbers (1294046)."""
    body = f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ int c = __popc(x[i]); y[i] = {value}; }}"
    done = pipeline.translate(f"__global__ void f(const unsigned *x, float *y, int n) {{ {body} }}", "k.cu")
    (report,), problems = verified(done, pipeline.Request(gradients=False))
    assert report.ok and not problems, report.failures


FEWER_ROWS = """
i = cuda.grid(1)
if i < n:
    t = a[i * m] if i < m - 2 and i < n else x[i]
    s = 0.0
    for j in range(m):
        s += x[i] if i >= n - 2 else a[i * m + j]
    out[i] = s + t
"""


def test_rows_that_no_thread_reads_can_be_asked_for():
    """Of ``n - 2`` rows, none were left for the masked load of two threads: it raised (1300923, 1402063)."""
    flat, m = Arg("a", ("n", "m"), "f", flat=True), Arg("m", None, "i")
    source, found = findings(FEWER_ROWS, (flat, X, OUT, N, m))
    assert {f.kind for f in found} == {"ok"}, (source, found)


FIRST_FEW = """
i = cuda.grid(1)
lane = cuda.threadIdx.x
tile = cuda.shared.array(4, float64)
tile[lane] = x[i] if i < n else 0.0
cuda.syncthreads()
val = tile[3 - lane]
if i < n:
    for l in range(k):
        if i <= 3:
            val = max(val, val + b[i])
        out[i] *= math.tanh(val)
"""


def test_an_array_may_end_before_a_number_that_guards_it():
    """Four cells of one that has three were to fill a row of four: it raised (1271574)."""
    source, found = findings(FIRST_FEW, (X, Arg("b", ("n",), "f"), OUT, N, K), block=4)
    assert {f.kind for f in found} <= {"ok", "empty"}, (source, found)


INDEX_IN_A_CELL = """
__global__ void f0(int n, int m, int *out, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m) return;
    out[i * m + j] = j <= i + 1 ? j / 4 : out[i * m + j] - 2;
    for (int k = 0; k < i; k++) out[i * m + j] ^= i;
    out[i * m + j] += out[i * m + j] + i;
    x[i * m + j] *= 2.0f;
}
"""


def test_a_cell_that_starts_from_an_index_has_the_width_of_its_array():
    """In 64 bits it was wider than what the rounds make, and the loop raised (1402705)."""
    ((report,), _) = verified(pipeline.translate(INDEX_IN_A_CELL, "f.cu"), pipeline.Request())
    assert report.ok, report


EXTREMUM_TWICE = """
i = cuda.grid(1)
tile = cuda.shared.array(8, float64)
lane = cuda.threadIdx.x
if i < n:
    v = -1e30
    for l in range(1, n):
        v = max(v, x[l - 1] * out[i])
    tile[lane] = v * v + x[i]
else:
    tile[lane] = 0.0
cuda.syncthreads()
reach = 4
while reach > 0:
    if lane < reach:
        tile[lane] *= 0.5 * tile[lane + reach]
    cuda.syncthreads()
    reach //= 2
if i < n:
    out[i] = tile[0]
"""


def test_an_extremum_of_nothing_is_asked_for_by_each_group_of_threads():
    """Only the first of two groups asked whether there is a value, and the other raised (1403960)."""
    text = pipeline.translate(findings(EXTREMUM_TWICE, (X, OUT, N), block=8)[0], "f.py").text
    assert text.count("jnp.max(") == text.count("if n > 1") == 2


FIRST_BLOCK = """
i = cuda.grid(1)
tile = cuda.shared.array(4, float64)
lane = cuda.threadIdx.x
tile[lane] = (math.log(x[i]) if x[i] > 0.0 else x[0]) if i < n else 0.0
cuda.syncthreads()
if lane == 3:
    for l in range(1, 4):
        tile[l] += tile[l - 1]
cuda.syncthreads()
reach = 2
while reach > 0:
    if lane < reach:
        tile[lane] += tile[lane + reach]
    cuda.syncthreads()
    reach //= 2
t = tile[0]
cuda.syncthreads()
if i < n:
    if i >= 1:
        out[i] = t
    else:
        b[0] = t
"""


def test_what_the_first_block_loads_alone_may_be_shorter():
    """The one store of block 0 took four cells of an array that has three, and raised (1292910)."""
    source, found = findings(FIRST_BLOCK, (X, OUT, Arg("b", ("n",), "f"), N), block=4)
    assert {f.kind for f in found} <= {"ok", "empty"}, (source, found)


NEEDLESS = """
i = cuda.grid(1)
tile = cuda.shared.array(8, float64)
lane = cuda.threadIdx.x
tile[lane] = x[i] if i < n else 0.0
cuda.syncthreads()
for j in range(3):
    if lane % 4 == 0:
        tile[lane] *= 0.5 * tile[lane + 2]
    cuda.syncthreads()
if i < n:
    if i > 0:
        out[i] = b[i % len(b)] + tile[0]
    elif a[i, i] >= x[3 % n]:
        out[i] = x[i]
"""


def test_sizes_are_not_asked_for_what_the_proof_did_without():
    """`3 % rows + 1 <= n` stayed from a run that did not help, and the call raised (1411222)."""
    source, found = findings(NEEDLESS, (A, X, OUT, Arg("b", ("k",), "f"), N), block=8)
    assert {f.kind for f in found} <= {"ok", "empty"}, (source, found)
    assert "overlap" not in pipeline.translate(source, "f.py").text


NEVER_TAKEN = """
for i in range(n - 1, -1, -1):
    t = -1e30
    for l in range(1, k, 2):
        w = x[(i + 3) % n] if l + i == i else 0.5 * l
        t = max(t, w)
    out[i] = t
"""


def test_an_arm_of_an_expression_that_no_instance_takes_is_gone():
    """In it, ``(i + 3) % n`` was ``i + 3``, a slice beyond the array, and the call raised (1412540)."""
    source, found = findings(NEVER_TAKEN, (X, OUT, N, K), threads=())
    assert {f.kind for f in found} == {"ok"}, (source, found)
    assert "x[" not in pipeline.translate(source, "f.py").text


def test_a_guard_by_what_blocks_carry_is_asked_of_no_single_block():
    """``while num < 5 and num - i == i`` beside a tile of the block was an internal error."""
    done = pipeline.translate(drawn(290153, "python").source, "fuzz.py")
    assert "f2" in done.raised, done.diagnostics
