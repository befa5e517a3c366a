"""What C means, construct by construct, as printed Kernel IR."""

import textwrap

import pytest

from kraise.frontends.cuda_c import read
from tests.frontends_cuda.conftest import body, lower, refusals


def same(got: str, expected: str) -> None:
    assert got == textwrap.dedent(expected).strip()


def test_indices_guard_and_early_return():
    same(
        body("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; a[i] = 2 * b[i];"),
        """
        i: int32 = block.x * block_dim.x + thread.x
        if i >= n:
          return
        a[i] = 2.0 * b[i]
        """,
    )


def test_unsigned_indices_convert_at_their_leaves():
    assert body("int i = blockIdx.x * 16 + threadIdx.x - 1; a[i] = 0;").startswith(
        "i: int32 = block.x * 16 + thread.x - 1"
    )


def test_an_unsigned_comparison_stays_one():
    text = lower("__global__ void k(int *a, int n) { unsigned i = threadIdx.x; if (i < n) a[i] = 1; }")
    assert "if i < uint32(n):" in text


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("n / 3", "tdiv(n, 3)"),
        ("n % 3", "tmod(n, 3)"),
        ("u[0] / 3", "int32(tdiv(u[0], 3))"),
        ("n >> 2 ^ ~n", "n >> 2 ^ ~n"),
        ("(char) n", "int32(int8(n))"),
        ("(unsigned char) n + 1", "int32(uint8(n)) + 1"),
        ("n > 2", "int32(n > 2)"),
        ("!n", "int32(n == 0)"),
        ("n && k[0] > 1", "int32(n != 0 and k[0] > 1)"),
        ("n ? 1 : k[1]", "1 if n != 0 else k[1]"),
        ("-n", "-n"),
        ("(int) b[0]", "int32(b[0])"),
        ("sizeof(float) * n", "int32(4 * uint64(n))"),
        ("'a' + 1", "int32(97) + 1"),
        ("2[k]", "k[2]"),
        ("*(k + n)", "k[n]"),
        ("(k + 1)[n]", "k[1 + n]"),
        ("(&k[n])[2]", "k[n + 2]"),
        ("min(n, 3)", "min(n, 3)"),
        ("abs(n)", "abs(n)"),
        ("__popc(u[0])", "popcount(u[0])"),
    ],
)
def test_integer_expressions(expression, printed):
    got = body(f"int r = {expression}; k[0] = r;").split("\n")[0]
    expected = f"r: int32 = {printed}"
    equivalents = (expected, expected.replace("int32(97)", "97"), expected.replace("int32(4 * uint64(n))", "4 * n"))
    assert got in equivalents


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("0.5 * b[0]", "0.5 * b[0]"),
        ("b[0] * n", "b[0] * float32(n)"),
        ("(float) n / 2", "float32(n) / 2.0"),
        ("n / 2", "float32(tdiv(n, 2))"),
        ("sqrtf(b[0])", "sqrt(b[0])"),
        ("sqrt(b[0])", "sqrt(b[0])"),
        ("fmaxf(b[0], 0)", "max(b[0], 0.0)"),
        ("pow(b[0], 2)", "b[0] ** 2.0"),
        ("__ldg(&b[3])", "b[3]"),
        ("__ldg(b + n)", "b[n]"),
        ("c > 0 ? c : 0", "c if c > 0.0 else 0.0"),
    ],
)
def test_float_expressions_stay_single_precision(expression, printed):
    assert body(f"float r = {expression}; a[0] = r;").split("\n")[0] == f"r: float32 = {printed}"


def test_a_double_variable_makes_literals_double():
    text = lower("__global__ void k(double *y, const float *x) { y[0] = 0.1 * x[0]; }")
    assert "y[0] = 0.1 * float64(x[0])" in text


def test_side_effects_in_order():
    same(
        body("int i = 0; k[i++] = n; k[++i] = n--; int j = i = 3; k[j] = n;"),
        """
        i: int32 = 0
        k[i] = n
        i: int32 = i + 1
        i: int32 = i + 1
        k[i] = n
        n: int32 = n - 1
        i: int32 = 3
        j: int32 = i
        k[j] = n
        """,
    )


def test_a_condition_with_side_effects():
    same(
        body("int i = n; while (i-- > 0) k[i] = 1;"),
        """
        i: int32 = n
        while True:
          t: bool = i > 0
          i: int32 = i - 1
          if not t:
            break
          k[i] = 1
        """,
    )


def test_short_circuit_with_side_effects_is_a_branch():
    text = body("int i = 0; if (n > 0 && k[i++] > 2) k[0] = i;")
    assert text.index("if t_2:") < text.index("k[i] > 2") < text.index("i: int32 = i + 1") < text.index("k[0] = i")


@pytest.mark.parametrize(
    ("header", "printed"),
    [
        ("int i = 0; i < n; i++", "for i in 0 .. n:"),
        ("int i = 0; i <= n; ++i", "for i in 0 .. n + 1:"),
        ("int i = 1; n > i; i += 2", "for i in 1 .. n step 2:"),
        ("int i = n - 1; i >= 0; i--", "for i in n - 1 .. 0 - 1 step -1:"),
        ("int i = n; i > 0; --i", "for i in n .. 0 step -1:"),
        ("int i = 0; i != n; i++", "for i in 0 .. n:"),
        ("int i = 0; i < n; i = i + 1", "for i in 0 .. n:"),
        ("unsigned i = 0; i < n; i++", "for i in 0 .. uint32(n):"),
        ("int i = n / 2; i > 0; i >>= 1", "while i > 0:"),
        ("int i = 1; i < n; i *= 2", "while i < n:"),
        ("unsigned i = n; i >= 0; --i", "while i >= 0:"),
    ],
)
def test_for_headers(header, printed):
    text = body(f"for ({header}) k[i] = 1;")
    printed = printed.replace("0 - 1 step", "-1 step")
    assert printed in text.replace("0 - 1 step", "-1 step"), text


def test_a_bound_that_the_body_changes_is_no_counted_loop():
    assert "while i < n:" in body("for (int i = 0; i < n; i++) { k[i] = 1; if (b[i] > 0) n--; }")
    assert "while i < k[0]:" in body("for (int i = 0; i < k[0]; i++) k[i] = i;")
    assert "for i in 0 .. k[0]:" in body("for (int i = 0; i < k[0]; i++) a[i] = i;")


def test_continue_runs_the_step_of_a_general_for():
    same(
        body("for (int i = 1; i < n; i *= 2) { if (b[i] < 0) continue; a[i] = 1; }"),
        """
        i: int32 = 1
        while i < n:
          if b[i] < 0.0:
            i: int32 = i * 2
            continue
          a[i] = 1.0
          i: int32 = i * 2
        """,
    )


def test_a_counter_that_lives_on_keeps_its_last_value():
    text = body("int i; for (i = 0; i < n; i++) a[i] = 0; k[0] = i;")
    assert "for i in 0 .. n:" in text and "i: int32 = max(0, n)" in text
    assert "while" in body("int i; for (i = 0; i < n; i++) if (b[i] > 0) break; k[0] = i;")
    assert "max" not in body("int i; for (i = 0; i < n; i++) a[i] = 0; for (i = 0; i < n; i++) k[i] = i;")


def test_modern_loops_and_conditions():
    assert "for i in 0 .. uint32(n):" in body("for (auto i = 0u; i < n; ++i) k[i] = 1;")
    assert "w[k_2] = 1.0" in body("float w[4]; for (float &e : w) e = 1; a[0] = w[n];")
    assert "t: int32 = n - 3\nif t != 0:\n  k[0] = t" in body("if (int t = n - 3) k[0] = t;")


def test_do_while_and_the_macro_idiom():
    assert "while n > 0" in body("do { k[n] = 1; n--; } while (n > 0);")
    same(body("do { k[0] = 1; k[1] = 2; } while (0);"), "k[0] = 1\nk[1] = 2")


def test_switch_with_fall_through():
    same(
        body("switch (n) { case 0: k[0] = 1; break; case 1: case 2: k[0] = 2; default: k[1] = 3; }"),
        """
        if n == 0:
          k[0] = 1
        else:
          if n == 1 or n == 2:
            k[0] = 2
            k[1] = 3
          else:
            k[1] = 3
        """,
    )


def test_aliases_of_rows_are_substituted():
    same(
        body("const float *row = b + n * 4; float *out = &a[n]; *out = row[2] + row[k[0]];"),
        "a[n] = b[n * 4 + 2] + b[n * 4 + k[0]]",
    )


def test_a_pointer_that_moves_has_an_offset():
    same(
        body("const float *p = b + n; for (int i = 0; i < 4; i++) { a[i] = *p++; p += 2; }"),
        """
        p_offset: int32 = n
        for i in 0 .. 4:
          a[i] = b[p_offset]
          p_offset: int32 = p_offset + 1
          p_offset: int32 = p_offset + 2
        """,
    )


def test_an_alias_keeps_the_offset_that_it_was_made_with():
    text = body("int i = n; float *p = a + i; i = 0; p[1] = i;")
    assert "p_offset: int32 = i" in text and "a[p_offset + 1] = float32(i)" in text


def test_pointer_parameters_that_move():
    text = body("a += n; a[0] = 1; b = b + 2; a[1] = *b;")
    assert "a[a_offset] = 1.0" in text and "a[a_offset + 1] = b[b_offset]" in text


def test_reinterpreted_vectors():
    text = body("float4 v = ((const float4 *) b)[n]; v.x += v.w; ((float4 *) a)[n] = v;")
    assert "b[n * 4]" in text and "b[n * 4 + 3]" in text and "a[n * 4 + 2] = v_z" in text


def test_shared_memory_and_barriers():
    same(
        body(
            "__shared__ float s[16][17]; __shared__ int flag;"
            "s[threadIdx.y][threadIdx.x] = b[0]; flag = 1; __syncthreads();"
        ),
        """
        shared s: float32[16, 17]
        shared flag: int32[1]
        s[thread.y, thread.x] = b[0]
        flag[0] = 1
        barrier block
        """,
    )


def test_atomics_with_and_without_their_result():
    same(
        body("atomicAdd(&k[n], 1); int old = atomicMax(k, n); k[old] = 2;"),
        "atomic add k[n], 1\nold: int32 = atomic max k[0], n\nk[old] = 2",
    )


def test_the_cas_loop_is_the_atomic_that_it_implements():
    text = lower(
        """
        __device__ double add(double *p, double v) {
            unsigned long long *q = (unsigned long long *) p, old = *q, assumed;
            do { assumed = old; old = atomicCAS(q, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
            } while (assumed != old);
            return __longlong_as_double(old);
        }
        __global__ void k(double *s, const double *x) { add(s, x[threadIdx.x]); }
        """
    )
    assert "atomic add s[0]," in text and "cas" not in text


def test_warp_primitives():
    text = body("float v = b[0]; v += __shfl_down_sync(0xffffffff, v, 16); a[0] = v; u[0] = __ballot_sync(~0u, v > 0);")
    assert "shfl_down" in text and "ballot" in text


def test_named_constants():
    text = body("const int M = 4; a[TILE] = EPS * M + INT_MAX;", before="#define TILE 16\nconstexpr float EPS = 1e-3f;")
    assert "a[TILE] = EPS * M" in text or "a[TILE]" in text


def test_a_shadowing_name_is_another_variable():
    same(
        body("int i = 1; { int i = 2; k[i] = 0; } for (int j = 0; j < 2; j++) { float i = b[j]; a[j] = i; } k[i] = 1;"),
        """
        i: int32 = 1
        i_2: int32 = 2
        k[i_2] = 0
        for j in 0 .. 2:
          i_3: float32 = b[j]
          a[j] = i_3
        k[i] = 1
        """,
    )


def test_local_arrays_and_their_initializers():
    text = body("float w[2][3] = {{1, 2}, {3}}; int z[4] = {0}; a[0] = w[1][n] + z[n];")
    assert "local w: float32[2, 3]" in text and "local z: int32[4]" in text


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ("goto end; end: ;", "KR101"),
        ('asm("nop;");', "KR101"),
        ("float *p = a; for (int i = 0; i < n; i++) p = (float *) b + i; p[0] = 1;", "KR299"),
        ("a[0] = curand_uniform(0);", "KR103"),
        ("a[0] = unknown(1);", "KR103"),
        ("a[0] = missing;", "KR102"),
        ("a[0] = __viaddmax_s32_relu(n, 3, 4);", "KR103"),
        ("static int s = 0; s++;", "KR299"),
        ("const float *p = n ? nullptr : nullptr; a[0] = p[0];", "KR204"),
        ("struct S { float x; int k; } s = *(S *)b; a[0] = s.x;", "KR299"),
        ("a[0] = std::is_same<signed char, char>::value;", "KR102"),
        ("cudaTextureObject_t t = 0;", "KR103"),
        ("a[0] = a % 2;", "KR299"),
        ("a[0] = b[0] % 2;", "KR104"),
        ("a.x = 1;", "KR104"),
        ("n[0] = 1;", "KR104"),
        ("void (*f)(int) = 0;", "KR101"),
    ],
)
def test_refusals(statements, code):
    good = "__global__ void ok(int *a) { a[0] = 1; }"
    source = f"__global__ void k(float *a, const float *b, int n) {{\n{statements}\n}}\n{good}"
    found = refusals(source)
    assert found and all(kernel == "k" for _, _, kernel in found)
    assert found[0][:2] == (code, 2)


@pytest.mark.parametrize(
    "header, loop",
    [
        ("int j = first; j < m; j += step", "For"),
        ("int j = first; j < n; j += step", "For"),
        ("int j = moved; j < m; j += step", "While"),  # below zero it would be beyond m
        ("int j = n; j < m; j += step", "While"),
        ("int j = narrow; j < m; j += step", "While"),  # from thread 128 on it is
    ],
)
def test_a_signed_counter_below_an_unsigned_bound_starts_at_a_number_of_the_launch(header, loop):
    head = "const size_t first = threadIdx.x, step = blockDim.x; unsigned moved = threadIdx.x; moved -= 1; "
    head += "signed char narrow = threadIdx.x; "
    source = f"__global__ void f(float *s, size_t m, int n) {{ {head} for ({header}) s[j] = 1; }}"
    module, found = read(source, "t.cu")
    assert not found and type(module.function("f").body[-1]).__name__ == loop
