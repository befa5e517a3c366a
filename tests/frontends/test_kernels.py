"""Kernels as people write them, and the Kernel IR that they become."""

from __future__ import annotations

import textwrap

import pytest

from kraise.frontends.python import read
from kraise.ir.print_kernel import module_text

from .conftest import HEADER, body, lower


def check(text: str, expected: str) -> None:
    assert text.strip() == textwrap.dedent(expected).strip()


def test_guarded_kernel():
    text = lower("""
        @cuda.jit
        def saxpy(y, x, a, n):
            i = cuda.grid(1)
            if i < n:
                y[i] += a * x[i]
    """)
    check(
        text,
        """
        kernel saxpy(y: number[1], x: number[1], a: number, n: int):
          i: int = block.x * block_dim.x + thread.x
          if i < n:
            y[i] = y[i] + a * x[i]
    """,
    )


def test_matmul_takes_extents_from_shapes():
    text = lower("""
        @cuda.jit
        def matmul(A, B, C):
            i, j = cuda.grid(2)
            if i < C.shape[0] and j < C.shape[1]:
                tmp = 0.
                for k in range(A.shape[1]):
                    tmp += A[i, k] * B[k, j]
                C[i, j] = tmp
    """)
    check(
        text,
        """
        kernel matmul(A: number[2], B: number[2], C: number[2]):
          i: int = block.x * block_dim.x + thread.x
          j: int = block.y * block_dim.y + thread.y
          if i < C.shape[0] and j < C.shape[1]:
            tmp: number = 0.0
            for k in 0 .. A.shape[1]:
              tmp: number = tmp + A[i, k] * B[k, j]
            C[i, j] = tmp
    """,
    )


def test_shared_memory_and_barriers():
    text = lower("""
        TILE = 16
        @cuda.jit
        def k(x, y):
            s = cuda.shared.array(shape=(TILE, TILE + 1), dtype=np.float32)
            t = cuda.threadIdx.x
            s[t, 0] = x[t]
            cuda.syncthreads()
            y[t] = s[-1, t]
    """)
    check(
        text,
        """
        kernel k(x: number[1], y: number[1]):
          shared s: float32[TILE, TILE + 1]
          t: int = thread.x
          s[t, 0] = x[t]
          barrier block
          y[t] = s[TILE - 1, t]
    """,
    )


def test_parallel_assignment_needs_one_temporary():
    text = body("""
        def k(x, y, n):
            for i in range(n):
                a = x[i]
                b = y[i]
                a, b = b, a + b
                x[i], y[i] = a, b
                x[i], x[0] = x[0], x[i]
    """)
    check(
        text,
        """
        for i in 0 .. n:
          a: number = x[i]
          b: number = y[i]
          b_new: number = a + b
          a: number = b
          b: number = b_new
          x[i] = a
          y[i] = b
          moved: number = x[i]
          x[i] = x[0]
          x[0] = moved
    """,
    )


def test_rows_are_views():
    text = body("""
        def k(pos, out):
            for i in range(len(pos)):
                p = pos[i]
                x, y = p
                out[i] = p[0] + x * y + pos[i][-1]
    """)
    check(
        text,
        """
        for i in 0 .. pos.shape[0]:
          x: number = pos[i, 0]
          y: number = pos[i, 1]
          out[i] = pos[i, 0] + x * y + pos[i, pos.shape[1] - 1]
    """,
    )


def test_a_view_keeps_the_index_it_was_made_with():
    text = body("""
        def k(a, out, n):
            i = 0
            for t in range(n):
                row = a[i]
                i = i + 1
                out[t] = row[0]
    """)
    check(
        text,
        """
        i: int = 0
        for t in 0 .. n:
          row_index: int = i
          i: int = i + 1
          out[t] = a[row_index, 0]
    """,
    )


def test_loop_sugar():
    text = body("""
        def k(a, b, out):
            for i, (u, v) in enumerate(zip(a, b)):
                out[i] = u * v
            for w in a:
                out[0] += w
            for j in reversed(range(1, len(a))):
                out[j] = out[j - 1]
            for j in range(9, -1, -2):
                out[j] = 0
    """)
    check(
        text,
        """
        for i in 0 .. min(a.shape[0], b.shape[0]):
          u: number = a[i]
          v: number = b[i]
          out[i] = u * v
        for m in 0 .. a.shape[0]:
          w: number = a[m]
          out[0] = out[0] + w
        for j in a.shape[0] - 1 .. 0 step -1:
          out[j] = out[j - 1]
        for j in 9 .. -1 step -2:
          out[j] = 0
    """,
    )


def test_helpers_are_called():
    source = """
        @cuda.jit(device=True)
        def sq(x):
            return x * x
        def put(a, i, v):
            a[i] = v
            return v, i
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            v, _ = put(x, i, sq(x[i]) + 1)
            x[0] = v
    """
    check(
        lower(source),
        """
        kernel k(x: number[1]):
          i: int = block.x * block_dim.x + thread.x
          v: number, unused: int = call put(&x, i, sq(x[i]) + 1)
          x[0] = v
    """,
    )
    assert lower(source, "put").startswith("device put(a: number[1], i: int, v: number) -> number, int:")


def test_part_of_an_array_to_a_helper():
    source = """
        def dist(p, q):
            s = 0.0
            for k in range(len(p)):
                s += (p[k] - q[k]) ** 2
            return math.sqrt(s)
        @cuda.jit
        def k(pos, out):
            i = cuda.grid(1)
            out[i] = dist(pos[i], out)
    """
    assert "out[i] = dist_at(&pos, i, &out)" in lower(source)
    module, _ = read(HEADER + textwrap.dedent(source), "t.py")
    assert [f.name for f in module.functions] == ["dist_at", "k"]
    assert "s + (p[p_index, k] - q[k]) ** 2" in module_text(module)
    assert ".. p.shape[1]" in module_text(module)


def test_part_of_an_array_that_is_handed_on():
    source = """
        def sq(v):
            return v[0] * v[0]
        def shrink(v, s):
            v[0] *= s
        def both(p, q):
            shrink(q, 0.5)
            return sq(p) + sq(p[1:3]) + sq(q)
        @cuda.jit
        def k(pos, out):
            i = cuda.grid(1)
            out[i] = both(pos[i], out[2 * i : 2 * i + 2])
    """
    module, problems = read(HEADER + textwrap.dedent(source), "t.py")
    assert not problems
    text = module_text(module)
    assert (
        "sq_at2(&p, p_index) + sq_at_at(&p, p_index, 1, slice_stop(3, p.shape[1]) - 1) + sq_at(&q, q_start, q_extent)"
        in text
    )
    assert "call shrink_at(&q, q_start, q_extent, 0.5)" in text and "v[v_start] = v[v_start] * s" in text
    assert "v[v_index, v_start] * v[v_index, v_start]" in text


def test_while_break_continue_else():
    text = body("""
        def k(x, n):
            for i in range(n):
                t = 0
                while t < n and x[i] < 4.0:
                    t += 1
                    if x[i] == 2:
                        continue
                    x[i] *= 2
                else:
                    x[i] = 0
                for j in range(t):
                    if x[j] > 1: break
                else:
                    return
    """)
    check(
        text,
        """
        for i in 0 .. n:
          t: int = 0
          while t < n and x[i] < 4.0:
            t: int = t + 1
            if x[i] == 2:
              continue
            x[i] = x[i] * 2
          else:
            x[i] = 0
          for j in 0 .. t:
            if x[j] > 1:
              break
          else:
            return
    """,
    )


def test_atomics():
    text = body("""
        @cuda.jit
        def k(h, x, count, out):
            i = cuda.grid(1)
            cuda.atomic.add(h, (x[i], 0), 1)
            old = cuda.atomic.max(out, 0, x[i])
            out[cuda.atomic.add(count, 0, 1)] = old
    """)
    check(
        text,
        """
        i: int = block.x * block_dim.x + thread.x
        atomic add h[x[i], 0], 1
        old: number = atomic max out[0], x[i]
        old_2: number = atomic add count[0], 1
        out[old_2] = old
    """,
    )


def test_warp_primitives():
    text = body("""
        @cuda.jit
        def k(x):
            i = cuda.threadIdx.x
            v = x[i]
            v += cuda.shfl_down_sync(0xffffffff, v, 16)
            cuda.syncwarp()
            if cuda.any_sync(-1, v > 0):
                x[i] = v
    """)
    check(
        text,
        """
        i: int = thread.x
        v: number = x[i]
        v: number = v + warp.shfl_down(v, 16)
        barrier warp
        if warp.any(v > 0):
          x[i] = v
    """,
    )


def test_allocations_and_fills():
    text = body("""
        def k(x, n):
            a = np.zeros((n, 2), dtype=np.float32)
            b = np.empty_like(x)
            c = x.copy()
            a[:, 0] = 1.5
            b[:] += c[0]
            for i in range(n):
                a[i, 1] = b[i]
            return a, b
    """)
    check(
        text,
        """
        heap a: float32[n, 2] filled 0.0
        heap b: number[x.shape[0]] like x
        heap c: number[x.shape[0]] like x
        for j in 0 .. x.shape[0]:
          c[j] = x[j]
        for m in 0 .. n:
          a[m, 0] = 1.5
        for p in 0 .. x.shape[0]:
          b[p] = b[p] + c[0]
        for i in 0 .. n:
          a[i, 1] = b[i]
        return &a, &b
    """,
    )


def test_sums_over_generators():
    text = body("""
        def k(x, y, n):
            for i in range(n):
                y[i] = sum(x[i, j] for j in range(n) if x[i, j] > 0)
                if any(v == 0 for v in y):
                    y[i] = 1
    """)
    check(
        text,
        """
        for i in 0 .. n:
          total: number = 0
          for j in 0 .. n:
            if x[i, j] > 0:
              total: number = total + x[i, j]
          y[i] = total
          found: bool = False
          for m in 0 .. y.shape[0]:
            if y[m] == 0:
              found: bool = True
              break
          if found:
            y[i] = 1
    """,
    )


@pytest.mark.parametrize(
    ("python", "printed"),
    [
        ("0 < i < n - 1", "0 < i and i < n - 1"),
        ("x[i] if i > 0 else -x[i]", "x[i] if i > 0 else -x[i]"),
        ("not (i > 0 or x[i] < 1)", "not (i > 0 or x[i] < 1)"),
        ("i // 2 % 3", "i // 2 % 3"),
        ("(i + 1) * -2 ** 2", "(i + 1) * -2 ** 2"),
        ("min(x[i], 0, 1)", "min(min(x[i], 0), 1)"),
        ("math.floor(x[i])", "int(floor(x[i]))"),
        ("np.floor(x[i])", "floor(x[i])"),
        ("int(x[i])", "int(x[i])"),
        ("round(x[i])", "int(round(x[i]))"),
        ("np.float32(i)", "float32(i)"),
        ("math.log(x[i], 2)", "log(x[i]) / log(2)"),
        ("math.pow(i, 2)", "pow(float(i), float(2))"),
        ("divmod(i, 2)[1]", "i % 2"),
        ("(x[i] * 2j).real", "real(x[i] * 2j)"),
        ("x[i].conjugate().imag", "imag(conj(x[i]))"),
        ("math.pi * np.e", "3.141592653589793 * 2.718281828459045"),
        ("cuda.fma(x[i], 2, i)", "fma(x[i], 2, i)"),
        ("cuda.libdevice.rsqrt(x[i])", "rsqrt(x[i])"),
        ("i & 1 | i << 2 ^ ~i", "i & 1 | i << 2 ^ ~i"),
        ("float('inf')", "inf"),
        ("x.size", "x.shape[0]"),
        ("bool(x[i])", "bool(x[i])"),
        ("(lambda q: q * q)(x[i])", "x[i] * x[i]"),
        ("i ** -1", "float(i) ** (-1)"),
    ],
)
def test_expressions(python: str, printed: str):
    text = body(f"""
        @cuda.jit
        def k(x, y, n):
            i = cuda.grid(1)
            y[i] = {python}
    """)
    expected = printed.replace("pow(float(i), float(2))", "float(i) ** float(2)")
    assert text.splitlines()[-1] == f"y[i] = {expected}"


@pytest.mark.parametrize(
    "decorator",
    [
        "@cuda.jit",
        "@cuda.jit()",
        "@cuda.jit(fastmath=True)",
        "@cuda.jit('void(float32[:])')",
        "@numba.cuda.jit",
        "@c.jit",
        "@gpu.jit",
        "@jit",
        "@compile_cupy",
        "@driver.jit",
        "@tools.compile_cupy(3)",
    ],
)
def test_decorators(decorator: str):
    source = f"""
import numba, driver, tools
from numba import cuda, cuda as gpu
import numba.cuda as c
from numba.cuda import jit, grid
{decorator}
def k(x):
    i = grid(1)
    x[i] = 1
"""
    module, problems = read(source, "t.py", kernel_decorators=("compile_cupy", "driver.jit"))
    assert not problems
    assert [(f.name, f.kind) for f in module.functions] == [("k", "kernel")]


def test_signatures_and_annotations_give_types():
    assert lower("""
        @cuda.jit('void(float32[:, :], int32[:], float64)')
        def k(x, i, a):
            t = cuda.grid(1)
            x[t, i[t]] = a
    """).startswith("kernel k(x: float32[2], i: int32[1], a: float64):")
    assert lower("""
        def k(x: np.ndarray, y: "float32[:]", n: int, a: float = 2.0):
            for i in range(n):
                x[i] = a * y[i]
    """).startswith("plain k(x: number[1], y: float32[1], n: int, a: float = 2.0):")


def test_module_constants():
    text = lower("""
        N = 4
        M = 2 * N
        TABLE = np.array([[1, 2], [3, 4]], dtype=np.float32)
        @cuda.jit
        def k(x):
            t = cuda.const.array_like(TABLE)
            i = cuda.grid(1)
            x[i] = t[1, 0] + TABLE[0, i] * M
    """)
    assert text.splitlines()[-1].strip() == "x[i] = TABLE[1, 0] + TABLE[0, i] * M"


def test_hosts_tests_and_classes_are_passed_over():
    module, problems = read(
        HEADER
        + textwrap.dedent("""
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        def host(n):
            x = np.random.rand(n)
            for i in range(3):
                k[1, n](x)
                x[0] = {1: 2}
        def report(rows):
            for r in rows:
                print(r[0])
        def test_it():
            d = {}
            for name in "ab":
                d[name] = [1]
        class Sim:
            def step(self, x):
                for i in range(3):
                    x[i] = self.a
        if __name__ == "__main__":
            host(3)
    """),
        "t.py",
    )
    assert [f.name for f in module.functions] == ["k"]
    # a host that launches is read, and says what it cannot be; what launches nothing is passed over
    assert {p.kernel for p in problems} == {"host"}


def test_spans_doc_and_comments():
    source = (
        'from numba import cuda\n\n@cuda.jit\ndef k(x):\n    """Adds.\n\n    More.\n    """\n'
        "    i = cuda.grid(1)\n    # one\n    x[i] = x[i] + 1  # two\n"
    )
    module, _ = read(source, "t.py")
    function = module.functions[0]
    assert function.doc == "Adds.\n\nMore."
    assert module.comments == ((10, "one"), (11, "two"))
    store = function.body[-1]
    assert (store.span.line, store.span.column, store.span.end_column) == (11, 5, 20)
    assert (store.value.args[1].span.column, store.value.args[1].span.end_column) == (19, 20)


def test_only_restricts():
    source = HEADER + textwrap.dedent("""
        def a(x):
            for i in range(3):
                x[i] = h(i)
        def h(i):
            return i
        def b(x):
            for i in range(3):
                x[i] = 1
    """)
    module, problems = read(source, "t.py", only=("a", "zzz"))
    assert [f.name for f in module.functions] == ["a", "h"]
    assert problems == ()  # names that no file has: the command line says so (KR406)


def test_shapes_of_images_and_small_offsets():
    text = body("""
        def k(img, out):
            h, w = img.shape[:2]
            for y in range(h):
                for x in range(w):
                    for d in (-1, 0, 1):
                        out[y, x] += img[y, x, d]
                    for d in [4, 2]:
                        out[y, x] += d
    """)
    assert "h: int = img.shape[0]\nw: int = img.shape[1]" in text
    assert "for d in -1 .. 2:" in text
    assert "for d in 4 .. 1 step -2:" in text


def test_index_objects_under_local_names_at_once():
    text = body("""
        @cuda.jit
        def k(x):
            t, b, n = cuda.threadIdx, cuda.blockIdx, 3
            x[t.x + n * b.y] = t.y
    """)
    assert "n: int = 3" in text and "x[thread.x + n * block.y] = thread.y" in text


def test_an_index_object_under_a_local_name():
    text = body("""
        @cuda.jit
        def k(x):
            t = cuda.threadIdx
            x[t.x] = t.y
    """)
    assert text == "x[thread.x] = thread.y"


def test_extrema_of_tuples_and_constants_of_nature():
    source = """
        from scipy.constants import c as light, hbar
        K = light**2
        @cuda.jit
        def k(x, n):
            i = cuda.grid(1)
            if i < min((n, x.size)):
                x[i] = max([x[i], 0.5, K]) * hbar
    """
    text = lower(source)
    assert "i < min(n, x.shape[0])" in text and "max(max(x[i], 0.5), K) * 1.0545718176461565e-34" in text


def test_measured_constants_of_nature_are_not_known():
    source = """
        from scipy.constants import epsilon_0
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = epsilon_0
    """
    _, problems = read(HEADER + textwrap.dedent(source), "t.py")
    assert [p.code for p in problems] == ["KR102"]
