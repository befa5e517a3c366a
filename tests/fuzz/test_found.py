"""What the fuzzer found, shrunk: each kernel gave a wrong value or did not run until it was mended."""

from dataclasses import replace
from textwrap import indent

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified
from tests.fuzz.check import Finding, check
from tests.fuzz.drawing import drawn
from tests.fuzz.generate import Arg, Kernel, Program

HEAD = "import math\n\nfrom numba import cuda, float64, njit\n\n\n"
X, Y, OUT = (Arg(name, ("n",), "f") for name in ("x", "y", "out"))
N = Arg("n", None, "i")


def findings(body, args, threads=("n",), block=0, seed=3, head=HEAD):
    """What becomes of ``f0`` with this body, on large and small arguments (64 bits: seeds that 3 divides)."""
    decorator = "@cuda.jit\n" if threads else ""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    source = f"{head}{decorator}def f0({', '.join(a.name for a in args)}):\n{lines}"
    program = Program(source, (Kernel("f0", tuple(args), threads, block),), seed)
    return source, check(program, gradients=False, seeds=(seed, seed + 3, seed + 6))


TILE = """
i = cuda.grid(1)
tile = cuda.shared.array(4, float64)
lane = cuda.threadIdx.x
tile[lane] = x[i] if i < n else 0.0
cuda.syncthreads()
reach = 2
while reach > 0:
    if lane < reach:
        tile[lane] = min(tile[lane + reach], tile[lane])
    cuda.syncthreads()
    reach //= 2
t = tile[0]
"""


@pytest.mark.parametrize("last", ["    y[i] += t", "    y[i] = t", "    if i > 0:\n        y[i] -= t * x[i]"])
def test_a_guard_on_the_number_does_not_widen_a_block(last):
    """``4 * block + lane < n`` bounds the lane by n, too; a block has 4 (700770, 700954: each element got the values of
    several blocks)."""
    body = TILE + f"if i < n:\n    if not 0 < i < n - 1:\n        out[i] = x[i]\n{last}\n"
    source, found = findings(body, (X, Y, OUT, N), block=4)
    assert {f.kind for f in found} == {"ok"}, (source, found)


def test_the_check_sees_a_wide_block(monkeypatch):
    """The twin: with the lanes of a wider block the values are wrong, and that is seen."""
    right = pipeline.translate

    def wide(source, file):
        done = right(source, file)
        text = done.text.replace("lane = jnp.arange(4)", "lane = jnp.arange(7)")
        assert text != done.text
        object.__setattr__(done, "text", text)
        return done

    monkeypatch.setattr(pipeline, "translate", wide)
    _, found = findings(TILE + "if i < n:\n    if i > 0:\n        y[i] -= t\n", (X, Y, N), block=4)
    assert "wrong" in {f.kind for f in found}


def test_one_thread_of_a_small_block_adds_up():
    """A tile of 8 says that no block is wider: nothing demands 64 threads (700206)."""
    body = """
i = cuda.grid(1)
tile = cuda.shared.array(8, float64)
lane = cuda.threadIdx.x
tile[lane] = x[i] if i < n else 0.0
cuda.syncthreads()
if lane == 0:
    for k in range(1, 8):
        tile[k] += tile[k - 1]
if i < n:
    out[i] = x[i] % 1.0
"""
    assert {f.kind for f in findings(body, (X, OUT, N), block=8)[1]} == {"ok"}


def test_a_float_that_bounds_a_loop_is_converted():
    """``int(alpha)`` as a bound was printed as ``alpha`` (700266); narrow integers wrap."""
    source = "def f0(out, alpha):\n    for k in range(int(alpha)):\n        out[k] = k\n"
    text = pipeline.translate(source, "case.py").text
    assert (
        "int(alpha)" in text
        and "n & 255"
        in pipeline.translate(
            "__global__ void f(float *y, int n) {\n  for (int k = 0; k < (unsigned char)n; k++) y[k] = k;\n}\n",
            "case.cu",
        ).text
    )
    body = "for k in range(int(alpha)):\n    if int(alpha) != k:\n        break\n    out[k] = 0.0"
    assert Finding("f0", "ok") in findings(body, (OUT, Arg("alpha", None, "f")), ())[1]


@pytest.mark.parametrize(
    "value",
    ["(unsigned)m / 3", "(float)(unsigned)m", "(unsigned)(m - 4) / 5", "m > 5u ? 2 : 1", "(unsigned)m * 2ll", "m >> 3"],
)
@pytest.mark.parametrize("m", [-7, 9])
def test_a_scalar_that_only_enters_values_may_be_negative(value, m):
    """``(unsigned)m`` is ``m`` for a size; for any other number the bits count."""
    body = f"int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = {value};"
    done = pipeline.translate(f"__global__ void f(double *y, int m, int n) {{\n  {body}\n}}\n", "case.cu")
    reports, _ = verified(done, pipeline.Request(values={"m": m}, gradients=False))
    assert reports and {row.status for row in reports[0].rows} == {"ok"}, (done.text, reports)


def test_a_size_needs_no_conversion():
    """The twin: what bounds the threads is 0 or more, however it is converted."""
    source = "__global__ void f(float *y, int n) {\n  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    text = pipeline.translate(source + "  if (i < n) y[i] = 1.0f / (unsigned)n;\n}\n", "case.cu").text
    assert "uint32" not in text


def test_a_launch_says_nothing_of_the_array_that_it_pads():
    """Rows of blocks that reach beyond the array are filled up with what the guard hides."""
    program = drawn(720222, "python", "base")
    found = check(replace(program, kernels=program.kernels[:1]), gradients=False, twice=False)
    assert [f.kind for f in found] == ["ok"], program.source


def test_a_running_value_within_another_is_each_round_s_own():
    """``b`` needs ``res`` at the last store, a product over rounds; ``out`` in each factor is that round's, not the
    last one's (1000087)."""
    body = """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int l = 0; l < k; l++) {
        out[i] -= 0.125 * l;
        if (z[l] < 1.0) res[i] *= out[i];
        if (z[i] > 0.5) b[i] = res[i] * 0.5;
    }"""
    head = "__global__ void f(double *b, double *out, double *res, const double *z, int n, int k) {"
    done = pipeline.translate(f"{head}{body}\n}}\n", "case.cu")
    assert "cumsum" in done.text
    reports, _ = verified(done, pipeline.Request(values={"n": 5, "k": 4}, gradients=False))
    assert reports and {row.status for row in reports[0].rows} == {"ok"}, (done.text, reports)


def test_a_dividend_is_there_before_what_leaves_the_loop():
    """The quotient does not depend on the round and moves out of the fold; its dividend stayed in it (1000627)."""
    program = drawn(1000627, "cuda_c", "base")
    assert [f.kind for f in check(program, gradients=False, twice=False)] == ["ok"], program.source


GUARDED_TILE = """
int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
__shared__ float tile[4];
if (i < m) { tile[lane] = y[i]; } else { tile[lane] = 0.0f; }
__syncthreads();
if (lane == 0) for (int j = 1; j < 4; j++) tile[j] += tile[j - 1];
__syncthreads();
float s = tile[0];
__syncthreads();
if (lane < 3) tile[lane] = 0.5f * s;
__syncthreads();
if (i < m) out[i] = tile[lane];
"""


def test_both_arms_of_a_guard_bound_the_block():
    """A tile of 4 that each thread writes, on either side of a guard: nothing demands 64 threads (1000219)."""
    text = pipeline.translate(f"__global__ void f(int m, const float *y, float *out) {{{GUARDED_TILE}}}\n", "f.cu").text
    assert text is not None and "64" not in text


def test_an_arm_that_no_instance_takes_says_nothing():
    """``m0`` is even: what is read under ``m0 % 2 == 1`` proves nothing of ``i % k`` (1000840)."""
    body = """
n, k = z.shape
i = cuda.grid(1)
if i < n:
    for m0 in range(0, n, 2):
        if m0 % 2 == 1:
            if z[m0, 0] >= z[m0, i % k]:
                continue
        b[i] += m0 >> 2
"""
    args = (Arg("z", ("n", "m"), "f"), Arg("b", ("n",), "f"))
    assert {f.kind for f in findings(body, args)[1]} == {"ok"}


def test_a_negative_divisor_takes_the_width_of_the_dividend():
    """``lax.div`` of an int32 and the 64-bit ``-2`` (1001081)."""
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) { out[i] /= -2; y[i] = 0.5; }"
    done = pipeline.translate(f"__global__ void f(int *out, double *y, int n) {{\n  {body}\n}}\n", "f.cu")
    reports, _ = verified(done, pipeline.Request(gradients=False))
    assert reports and {row.status for row in reports[0].rows} == {"ok"}, (done.text, reports)


@pytest.mark.parametrize("change", ["out[l] -= 1.0", "out[l] *= x[l]", "out[l] += abs(l) % 7 * x[l]"])
def test_an_array_keeps_its_type_where_all_of_it_is_updated(change):
    """Integers minus 1.0 were floats, and beside a range 64 bits wide (1002984)."""
    out, x = Arg("out", ("n",), "i"), Arg("x", ("n",), "f")
    args = (out, x) if "x" in change else (out,)
    assert {f.kind for f in findings(f"for l in range(len(out)):\n    {change}\n", args, ())[1]} == {"ok"}


@pytest.mark.parametrize("seed, kernel", [(1000130, "f1"), (1001664, "f0")])
def test_the_lanes_that_fill_the_last_block_read_no_array(seed, kernel):
    """A guard that the loop does not repeat, or the launch's own number of rows: the array ends before both."""
    program = drawn(seed, "cuda_c" if seed % 2 else "python", "base")
    program = replace(program, kernels=tuple(k for k in program.kernels if k.name == kernel))
    assert [f.kind for f in check(program, gradients=False, twice=False)] == ["ok"], program.source


TWO_TREES = """
int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;
__shared__ double tile[SIZE];
tile[lane] = i < n ? x[i] : 0.0;
__syncthreads();
for (int reach = SIZE / 2; reach > 0; reach /= 2) {
    if (lane < reach) tile[lane] = fmin(tile[lane + reach], tile[lane]);
    __syncthreads();
}
double v = tile[0];
__syncthreads();
for (int reach = SIZE / 2; reach > 0; reach /= 2) {
    if (lane < reach) tile[lane] += tile[lane + reach];
    __syncthreads();
}
if (i < n) out[i] = tile[0] + v;
"""


@pytest.mark.parametrize("size", [4, 64])
def test_a_tree_over_what_a_tree_left(size):
    """The second took the cells that the first had half-combined for what they were before it (1007916)."""
    head = "__global__ void f(const double *x, double *out, int n) {"
    done = pipeline.translate(f"{head}{TWO_TREES.replace('SIZE', str(size))}}}\n", "f.cu")
    if not done.raised:
        assert {d.code for d in done.errors} == {"KR299"}
        return
    request = pipeline.Request(values={"n": 2 * size + 1}, grid=(3,), block=(size,), gradients=False)
    reports, _ = verified(done, request)
    assert reports and {row.status for row in reports[0].rows} == {"ok"}, (done.text, reports)


def test_a_signed_operand_beside_an_unsigned_one_is_unsigned():
    """JAX takes int32 beside uint32 for an int64, C for an unsigned (1009727)."""
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = (max(i, 2) * (3 - out[i])) % 11;"
    text = pipeline.translate(f"__global__ void f(int n, unsigned int *out) {{\n  {body}\n}}\n", "f.cu").text
    assert text is not None and "jnp.maximum(i, 2)" in text and text.count("uint32") == 1, text


SCANNED = """
i = cuda.grid(1)
tile = cuda.shared.array(4, float64)
lane = cuda.threadIdx.x
tile[lane] = VALUE if i < n else 0.0
cuda.syncthreads()
reach = 1
while reach < 4:
    t = tile[lane]
    if lane >= reach:
        t = max(t, tile[lane - reach])
    cuda.syncthreads()
    tile[lane] = t
    cuda.syncthreads()
    reach *= 2
w = 0.0
for j in ROUNDS:
    w = 0.5 * w + tile[j]
if i < n:
    out[i] = w
"""


@pytest.mark.parametrize("value, args", [("abs(0.75)", (OUT, N)), ("x[i] * y[i]", (X, Y, OUT, N))])
@pytest.mark.parametrize("rounds", ["range(lane)", "range(3, lane, -1)", "range(1, 4, 2)"])
def test_a_loop_takes_the_running_value_of_its_round(value, args, rounds):
    """The scan had no axis in the loop that reads it: an internal error (1000646, 1002621, 1005447, 1007914)."""
    body = indent(SCANNED.replace("VALUE", value).replace("ROUNDS", rounds), "    ")
    source = f"{HEAD}@cuda.jit\ndef f0({', '.join(a.name for a in args)}):\n{body}"
    program = Program(source, (Kernel("f0", args, ("n",), 4),), 3)
    found = check(program, gradients=True, variants=(0,), twice=False)
    assert [f.kind for f in found] == ["ok"], (source, found)


def test_a_condition_on_another_index_than_the_row_stays():
    """It was taken for the row's own range where it read nothing (1020932)."""
    source = """def k(x, out, ptr, n):
    for i in range(n):
        for j in range(out.shape[1]):
            c = 0
            for l in range(ptr[i], ptr[i + 1]):
                t = x[l]
                if {}:
                    c += 1
            out[i, j] = c
"""
    ptr = np.array([0, 2, 4, 5], np.int32)
    x, out = np.zeros(5, np.float32), np.zeros((3, 4), np.int32)
    counts = np.repeat([[2], [2], [1]], 4, axis=1)
    for condition, kept in (("j % 2 == 0", np.arange(4) % 2 == 0), ("i % 2 == 0", (np.arange(3) % 2 == 0)[:, None])):
        text = pipeline.translate(source.format(condition), "k.py").text
        np.testing.assert_array_equal(load_module(text).k(x, out, ptr, 3), counts * kept)


@pytest.mark.parametrize("value", ["tile[j]", "tile[j] * math.sin(w)"])
def test_what_a_loop_carries_is_as_wide_as_what_the_tile_holds(value):
    """A tile of 32 bits, filled from an argument that the gradients have in 64: the rounds changed the dtype of what
    they carry (990308)."""
    body = f"""
    i = cuda.grid(1)
    tile = cuda.shared.array(4, float32)
    lane = cuda.threadIdx.x
    tile[lane] = x[i] if i < n else 0.0
    cuda.syncthreads()
    w = 0.0
    for j in range(lane):
        w = 0.5 * w + {value}
    if i < n:
        out[i] = w
"""
    source = f"{HEAD.replace('float64', 'float32')}@cuda.jit\ndef f0(x, out, n):{body}"
    program = Program(source, (Kernel("f0", (X, OUT, N), ("n",), 4),), 1)
    assert [f.kind for f in check(program, gradients=True, variants=(0,), twice=False)] == ["ok"], source


def test_a_running_sum_of_numbers_without_a_width():
    """It has the default one, which is not that of what the loop carries (1009318)."""
    body = SCANNED.replace("VALUE", "0.125 * i").replace("ROUNDS", "range(lane, 4)").replace("t = max(t, ", "t += (")
    source = f"{HEAD}@cuda.jit\ndef f0(out, n):\n{indent(body, '    ')}".replace("float64", "float32")
    program = Program(source, (Kernel("f0", (OUT, N), ("n",), 4),), 1)
    assert [f.kind for f in check(program, gradients=True, variants=(0,), twice=False)] == ["ok"], source


@pytest.mark.parametrize("change", ["out[i] ^= j + i", "out[i] = j"])
def test_an_integer_that_a_loop_carries_beside_an_index_of_64_bits(change):
    """It keeps its own width (1040187)."""
    rounds = f"for (int j = 0; j < m; j++) {{ if (out[i] == y[j]) break; if (x[i] > 0.0) {change}; }}"
    body = f"int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {rounds}"
    head = "__global__ void f(const int *y, const double *x, int *out, int n, int m)"
    done = pipeline.translate(f"{head} {{\n  {body}\n}}\n", "f.cu")
    request = pipeline.Request(values={"n": 7, "m": 5}, grid=(2,), block=(4,), gradients=False)
    reports, _ = verified(done, request)
    assert reports and {row.status for row in reports[0].rows} == {"ok"}, (done.text, reports)


@pytest.mark.parametrize("kind, seed", [("local", 51), ("aliases", 15), ("squares", 14)])
def test_programs_of_other_kinds(kind, seed):
    """A choice within a choice lost its parentheses (local 51); an integer that starts as an index had another width
    after a round (aliases 15). The check can tell a race that the emitted function refuses (squares 14)."""
    program = drawn(seed, ("python", "cuda_c")[seed % 2], kind)
    assert not [f for f in check(program, gradients=False, twice=False, variants=(0,)) if f.is_bug], program.source


@pytest.mark.parametrize("seed", [6, 24, 32])
def test_tiles_that_reach_beyond_the_array(seed):
    """A range rounded up to whole tiles, a rim to the left of a row: slices were cut short, and the call raised."""
    program = drawn(seed, "python", "squares")
    assert [f.kind for f in check(program, gradients=False, twice=False)] == ["ok"], program.source


CLZ = """__global__ void f0(int n, const double *x, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + __clz(i) + __clz(5) + __clzll(i) + __popc(-i);
}
"""


def test_leading_zeros_of_an_index_are_those_of_its_own_width():
    """Beside doubles an index has 64 bits: 32 zeros too many."""
    kernel = Kernel("f0", (N, X, OUT), ("n",))
    found = check(Program(CLZ, (kernel,), 3, "f.cu"), gradients=False)
    assert {f.kind for f in found} == {"ok"}, found


@pytest.mark.parametrize("seed", [1102027, 1102625])
def test_a_carry_that_numbers_make_keeps_its_width(seed):
    """In 64-bit mode ``jnp.where(c, 0.75, 0.0)`` is wider than the float that a loop carries."""
    program = drawn(seed, "cuda_c", "base")
    assert not [f for f in check(program, gradients=True, twice=False, variants=(0,)) if f.is_bug], program.source


FORWARDED = """
i = cuda.grid(1)
if i < n:
    v[i] = 1.7 * x[i]
    out[i] = v[i] + x[i]
"""


def test_what_an_array_of_integers_holds_is_read_again():
    """The value that was stored was taken instead, its fraction with it."""
    v = Arg("v", ("n",), "i")
    source, found = findings(FORWARDED, (v, X, OUT, N))
    assert {f.kind for f in found} == {"ok"}, (source, found)


@pytest.mark.parametrize("seed, kernel", [(1100242, "f2"), (1005485, "f0")])
def test_what_a_round_counts_is_not_used_before_the_loop(seed, kernel):
    """An array filled up before the loop took a count that only the loop's round had made."""
    program = drawn(seed, "cuda_c" if seed % 2 else "python", "base")
    program = replace(program, kernels=tuple(k for k in program.kernels if k.name == kernel))
    assert [f.kind for f in check(program, gradients=False, twice=False, variants=(0,))] == ["ok"], program.source


ODD_ROUNDS = """
for j in range(1, n, 2):
    out[0] = (0.0 < (0.125 * j + x[0]) < 1.0) or (b[j] >= b[j])
    b[j] += (0.125 * j) / (1.5 + b[j] * b[j])
"""


def test_what_a_round_of_two_counts_is_not_used_before_the_loop():
    args = (N, X, Arg("b", ("n",), "f"), Arg("out", ("n",), "b"))
    source, found = findings(ODD_ROUNDS, args, ())
    assert {f.kind for f in found} - {"empty"} == {"ok"}, (source, found)


@pytest.mark.parametrize("seed", [1111339, 1111340])
def test_blocks_that_are_numbered_by_themselves_count_the_threads_of_the_launch(seed):
    """``32 * block + thread < n`` bounded the warps of a block by n: an atomic added those of other blocks again."""
    program = drawn(seed, "cuda_c" if seed % 2 else "python", "warps")
    assert not [f for f in check(program, gradients=False, twice=False) if f.is_bug], program.source


CHOICE_OF_NUMBERS = """
for i in range(len(idx)):
    idx[i] = 3 if a <= x[i] else 4
"""


def test_a_choice_of_numbers_has_the_type_of_its_array():
    """In 64 bits, ``jnp.where(c, 3, 4)`` is wider than 32 bits of integers (1321008)."""
    args = (Arg("idx", ("n",), "i"), Arg("x", ("n",), "f"), Arg("a", None, "f"))
    source, found = findings(CHOICE_OF_NUMBERS, args, threads=())
    assert {f.kind for f in found} == {"ok"}, (source, found)
