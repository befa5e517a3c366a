"""Helpers, templates, structs, constants, lambdas: what calls become."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.frontends.cuda_c import read
from kraise.ir.types import FLOAT32, ArrayType, StructType
from kraise.verify.load import load_module
from tests.frontends_cuda.conftest import body, lower, refusals
from tests.hostile.judge import judge


def test_a_helper_of_numbers_and_arrays_stays_a_function():
    source = """
    __device__ float dot(const float *a, const float *b, int n) {
        float s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s;
    }
    __global__ void k(const float *A, float *y, int n) { y[threadIdx.x] = dot(A, &A[0], n); }
    """
    assert "y[thread.x] = dot(&A, &A, n)" in lower(source, "k")
    assert lower(source, "dot").startswith("device dot(a: float32[1], b: float32[1], n: int32)")


def test_a_pointer_into_an_array_is_lowered_in_place():
    before = "__device__ float second(const float *p) { return p[1]; }"
    assert body("a[0] = second(b + n);", before=before) == "a[0] = b[n + 1]"


def test_references_and_out_pointers_are_lowered_in_place():
    before = "__device__ void both(float x, float &s, float *d) { s = x + x; *d = x * x; }"
    text = body("float s, d; both(b[0], s, &d); a[0] = s; a[1] = d;", before=before)
    assert "x: float32 = b[0]" in text and "s: float32 = x + x" in text and "d: float32 = x * x" in text


def test_locals_of_a_body_in_place_do_not_meet_the_callers():
    before = """__device__ float total(const float *p, int n) {
        float s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }"""
    text = body("int i = n; float s = 1; a[i] = total(b + i, 3) + s; k[i] = i;", before=before)
    assert "i_2" in text and "s_2" in text and "a[i] = s_2 + s" in text and "k[i] = i" in text


def test_an_argument_that_the_body_writes_is_copied():
    before = "__device__ float twice(float v, float &x) { x = 0; return v + v; }"
    text = body("float x = b[0]; a[0] = twice(x, x);", before=before)
    assert text == "x: float32 = b[0]\nv: float32 = x\nx: float32 = 0.0\na[0] = v + v"


def test_early_returns_of_a_helper_in_place():
    before = """__device__ int first(int *k, int n) {
        for (int i = 0; i < n; i++) { if (k[i]) { k[i] = 0; return i; } } return -1; }"""
    text = body("k[0] = first(k, n);", before=before)
    assert "break" in text and "return" not in text


def test_overloads_are_chosen_by_type():
    before = "__device__ float f(float x) { return x; } __device__ int f(int x) { return x + 1; }"
    text = lower(f"{before} __global__ void k(float *a, int n) {{ a[0] = f(n); a[1] = f(a[2]); }}", "k")
    assert "float32(f(n))" in text or "float32(f_2(n))" in text


def test_default_arguments():
    before = "__device__ float f(float x, float y = 2.f, int z = 3) { return x * y + z; }"
    assert "f(b[0], 2.0, 3)" in body("a[0] = f(b[0]);", before=before)


def test_recursion_is_refused():
    source = "__device__ int f(int n) { return n ? f(n - 1) : 0; } __global__ void k(int *a) { a[0] = f(3); }"
    assert [c for c, _, _ in refusals(source)] == ["KR209"]


def test_a_problem_in_a_helper_names_the_kernel_and_the_call():
    source = "__device__ int f(int n) {\n goto x; x: return n; }\n__global__ void k(int *a) {\n a[0] = f(3); }"
    _, found = read(source, "t.cu")
    assert (found[0].kernel, found[0].span.line, found[0].causes[0].span.line) == ("k", 2, 4)


# --- templates


TEMPLATE = "template <typename T, int N> __global__ void k(T *a, int n) { __shared__ T s[N]; s[threadIdx.x] = a[n]; }\n"


def test_a_launch_instantiates():
    text = lower(TEMPLATE + "void run(double *p) { k<double, 32><<<1, 2>>>(p, 1); }", "k")
    assert "a: float64[1]" in text and "shared s: float64[N]" in text


def test_an_explicit_instantiation():
    assert "a: int32[1]" in lower(TEMPLATE + "template __global__ void k<int, 8>(int *, int);", "k")


FUNCTOR = """
template <typename T> struct Max { __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
template <class Op> __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Op()(x[i], y[i]);
}
"""


def test_arguments_that_are_templates_themselves():
    for use in (
        "void run(float *x, float *y, int n) { k<Max<float>><<<1, 32>>>(x, y, n); }",
        "template __global__ void k<Max<float>>(const float *, float *, int);",
    ):
        done = pipeline.translate(FUNCTOR + use, "k.cu")
        assert done.text is not None and "jnp.maximum" in done.text
        assert not [d for d in done.diagnostics if d.severity == "error"]


CUT = """
template <typename T> struct Cut { __device__ float operator()(float a) const { return (float)(T)a; } };
template <> struct Cut<double> { __device__ float operator()(float a) const { return 2 * a; } };
template <class Op> __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Op()(x[i]);
}
void run(const float *x, float *y, float *z, float *w, int n) {
    k<Cut<int>><<<(n + 31) / 32, 32>>>(x, y, n);
    k<Cut<float>><<<(n + 31) / 32, 32>>>(x, z, n);
    k<Cut<double>><<<(n + 31) / 32, 32>>>(x, w, n);
}
"""


def test_instances_without_members_are_types_of_their_own():
    done = pipeline.translate(CUT, "k.cu")
    x, nothing = np.array([1.5, -2.25], np.float32), np.zeros(2, np.float32)
    found = load_module(done.text).run(x, nothing, nothing, nothing, 2)
    for got, expected in zip(found, (np.trunc(x), x, 2 * x), strict=True):
        np.testing.assert_array_equal(got, expected)
    (note,) = [d.reason for d in done.diagnostics if "several types" in d.reason]
    assert note.endswith("Op is Cut here")


def test_the_user_instantiates():
    assert "a: float16[1]" in lower(TEMPLATE, "k", instantiate=("k<half, 4>",))


def test_nothing_instantiates():
    module, found = read(TEMPLATE, "t.cu")
    function = module.function("k")
    assert function.params[0].type == ArrayType(FLOAT32, 1) and function.static == ("N",)
    assert [d.severity for d in found] == ["note"]


def test_different_integers_are_a_static_parameter():
    launches = "void run(float *p) { k<float, 4><<<1, 2>>>(p, 1); k<float, 8><<<1, 2>>>(p, 1); }"
    module, _ = read(TEMPLATE + launches, "t.cu")
    assert module.function("k").static == ("N",)


def test_template_helpers_deduce_their_arguments():
    before = "template <typename T> __device__ T clamp_(T x, T lo, T hi) { return x < lo ? lo : x > hi ? hi : x; }"
    text = body("a[0] = clamp_(b[0], 0.f, 1.f); k[0] = clamp_(n, 0, 7);", before=before)
    assert "clamp_(b[0], 0.0, 1.0)" in text and "clamp__2(n, 0, 7)" in text


# --- structs


def test_structs_by_value_and_arrays_of_structs():
    source = """
    struct Params { float dt; int n; float3 g; float w[3]; const float *v; };
    typedef struct { float3 pos; float mass; } Particle;
    __global__ void k(Params p, Particle *q) {
        int i = threadIdx.x;
        if (i < p.n) { q[i].pos.y += p.dt * p.g.x * p.w[1] * p.v[i]; Particle r = q[i]; r.mass = 0; q[i] = r; }
    }
    """
    text = lower(source)
    assert "q.pos[i, 1] = q.pos[i, 1] + p.dt * p.g.x * p.w[1] * p.v[i]" in text
    assert "q.mass[i] = r_mass" in text
    module, _ = read(source, "t.cu")
    params, particles = [p.type for p in module.function("k").params]
    assert isinstance(params, StructType) and not params.is_array and params.name == "Params"
    assert isinstance(particles, StructType) and particles.is_array and particles.name == "Particle"
    assert particles.members == (("pos", ArrayType(FLOAT32, 1, (3,))), ("mass", FLOAT32))


def test_vectors_in_arrays_are_an_axis():
    text = lower("__global__ void k(const float4 *p, float2 *q) { q[0] = make_float2(p[1].w, p[1].x); q[1].y = 2; }")
    assert "k(p: float32[2], q: float32[2])" in text
    assert "q[0, 0] = p[1, 3]" in text and "q[1, 1] = 2.0" in text


def test_operators_of_the_file():
    before = "__device__ float2 operator*(float2 a, float s) { return make_float2(a.x * s, a.y * s); }\n"
    text = lower(before + "__global__ void k(float2 *p, float c) { p[0] = p[1] * c; }", "k")
    assert "p[1, 0]" in text and "* c" in text


def test_methods_constructors_and_functors():
    source = """
    struct V {
        float x, y; __device__ V(float a, float b) : x(a), y(b) {}
        __device__ float n2() const { return x * x + y * y; }
    };
    struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
    template <class F> __device__ float apply(F f, float a, float b) { return f(a, b); }
    __global__ void k(float *a) { V v(a[0], 2.f); a[1] = apply(Add(), v.n2(), 1.f); }
    """
    text = lower(source, "k")
    assert "* v_x" in text and "+ 1.0" in text


def test_references_and_pointers_that_functions_return():
    source = """
    struct M { float *d; int w; __device__ float &at(int r, int c) { return d[r * w + c]; } };
    __device__ float *row(M m, int r) { return m.d + r * m.w; }
    __global__ void k(M m) { m.at(1, 0) = m.at(2, 1) + 1; float *q = row(m, 3); q[2] = 0; }
    """
    text = lower(source, "k")
    assert "m.d[m.w] = m.d[2 * m.w + 1] + 1.0" in text or "m.d[1 * m.w] = m.d[2 * m.w + 1] + 1.0" in text
    assert "m.d[3 * m.w + 2] = 0.0" in text


def test_lambdas():
    text = body("auto at = [&](int i) { return i < n ? b[i] : 0.f; }; a[0] = at(n - 1) + at(3);")
    assert "b[3] if 3 < n else 0.0" in text


def test_an_unknown_member_is_refused():
    source = "struct S { int x; }; __global__ void k(S *s) { s[0].y = 1; }"
    assert [c for c, _, _ in refusals(source)] == ["KR104"]


# --- constants


def test_constant_memory_and_device_variables_become_parameters():
    source = """__constant__ float w[3]; __device__ int count;
    __global__ void k(float *a) { a[0] = w[1]; atomicAdd(&count, 1); }"""
    module, found = read(source, "t.cu")
    assert [p.name for p in module.function("k").params] == ["a", "w", "count"]
    assert [d.severity for d in found] == ["note", "note"]


def test_initialised_tables_are_constants_of_the_module():
    source = "__constant__ float w[2][2] = {{1, 2}, {3, 4}}; __global__ void k(float *a) { a[0] = w[1][0]; }"
    module, found = read(source, "t.cu")
    assert not found
    table = module.constants[0]
    assert (table.name, table.shape, table.values) == ("w", (2, 2), (1.0, 2.0, 3.0, 4.0))


def test_enums_and_constexpr():
    source = "enum { A, B = 5, C }; constexpr int W = 2 * B; __global__ void k(int *a) { a[W] = C; }"
    assert "a[W] = C" in lower(source)
    module, _ = read(source, "t.cu")
    assert {(c.name, c.values[0]) for c in module.constants} == {("W", 10), ("C", 6)}


def test_two_values_of_one_name_lose_the_name():
    source = """
    __global__ void one(int *a) { const int N = 3; a[N] = 1; }
    __global__ void two(int *a) { const int N = 4; a[N] = 1; }
    """
    assert "a[4] = 1" in lower(source, "two")


def test_a_constant_that_a_variable_hides_loses_its_name():
    source = """
    const int n = 7;
    __device__ int seven() { return n; }
    struct S { int x; };
    __device__ int hidden(S s) { return n + s.x; }
    __global__ void k(int *a, int n) { S s; s.x = 1; a[n] = hidden(s); }
    """
    assert "a[n] = 7 + " in lower(source, "k")


# --- what is read at all


def test_plain_c_functions():
    source = """
    static double square(double x) { return x * x; }
    void gemv(int n, double A[n][4], const double *x, double *y) {
        for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < 4; j++) y[i] += A[i][j] * square(x[j]); }
    }
    int main(void) { for (;;) ; }
    void show(double *x, int n) { for (int i = 0; i < n; i++) printf("%f", x[i]); }
    """
    module, found = read(source, "t.c")
    assert [(f.name, f.kind) for f in module.functions] == [("square", "device"), ("gemv", "plain")] and not found
    module, _ = read(source, "t.cu")
    assert not module.functions


def test_a_parallel_loop_is_marked():
    source = "void f(float *a, int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = i; }"
    module, _ = read(source, "t.c")
    assert module.function("f").body[0].parallel


def test_hip_spellings():
    text = lower("__global__ void k(float *a) { a[hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x] = 1; }", file="t.hip")
    assert "a[block.x * block_dim.x + thread.x] = 1.0" in text


def test_the_rest_of_a_file_is_skipped():
    source = """
    #include <iostream>
    template <typename T> class Foo : public Bar<T> { virtual ~Foo() = default; std::vector<T> v; };
    std::map<std::string, int> table = {{"a", 1}};
    static auto thing = []() { return 3; }();
    __global__ void k(int *a) { a[0] = 1; }
    int main(int argc, char **argv) { std::cout << "x" << std::endl; k<<<1, 1>>>(0); return 0; }
    """
    assert "a[0] = 1" in lower(source)


def test_comments_before_a_function_are_its_documentation():
    module, _ = read("// One step.\n// Two lines.\n__global__ void k(int *a) { a[0] = 1; }", "t.cu")
    assert module.function("k").doc == "One step.\nTwo lines."


@pytest.mark.parametrize("name", ["RawKernel", "RawModule", "SourceModule"])
def test_cuda_in_a_python_file(name):
    from kraise.frontends.cuda_c import find_embedded

    source = (
        f"import cupy as cp\n\nk = cp.{name}(r'''\nextern \"C\" __global__ void k(int *a) {{ a[0] = 1; }}''', 'k')\n"
    )
    [one] = find_embedded(source)
    text, offset = one.text, one.offset
    module, _ = read(text, "t.py.cu")
    assert module.functions[0].name == "k" and offset + module.functions[0].span.line == 4


def test_limits_of_a_type_are_constants_and_not_the_function_of_that_name():
    source = """
#include <limits>
__global__ void keep(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] < std::numeric_limits<float>::max() ? x[i] : 0.f;
}
__global__ void wrong(float *y) { y[threadIdx.x] = fmaxf(); }
"""
    done = pipeline.translate(source, "k.cu")
    assert "3.4028234663852886e38" in done.text
    assert [d.code for d in done.diagnostics] == ["KR103"]


OF_FILE = """extern __shared__ int s[];
__shared__ int first;
__device__ int at(int t) {{ return s[t]; }}
__global__ void k(const int *x, int *y, int n) {{
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  if (t == 0) first = x[i];
  __syncthreads();
  if (i < n) y[i] = {read} - first;
}}"""


def test_shared_memory_of_the_file_is_of_each_block():
    source = OF_FILE.format(read="s[blockDim.x - 1 - t]")
    launches = [((3,), (8,)), ((5,), (4,))]
    assert judge(source, "cu", "x=i[20]<-9:9 y=i[20] n=20", launches) == "right"
    assert judge(OF_FILE.format(read="at(t)"), "cu", "x=i[20]<-9:9 y=i[20] n=20", launches) == "refused KR104"
