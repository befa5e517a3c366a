"""Calls, loops and branches of CUDA C hosts that may not be dropped, names that hide others, ``switch``, ``continue``.

Expected values are written down in NumPy: the interpreter of Host IR reads the same front end."""

import numpy as np
import pytest

from kraise import pipeline
from tests.hosts.test_hosts import array, codes

KERNEL = """
#include <stdio.h>
__global__ void add(float *x, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}
"""


def cuda(body):
    return pipeline.translate(KERNEL + body, "a.cu")


def values(body, *args):
    done = cuda(body)
    assert not codes(done), [str(d) for d in done.diagnostics]
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    found = namespace["f"](*args)
    return np.asarray(found[0] if isinstance(found, tuple) else found)


HELPERS = {
    "a helper of a helper": (
        "void fill(float *p, int n) { for (int i = 0; i < n; i++) p[i] = 2.0f * p[i]; }\n"
        "void both(float *p, int n) { fill(p, n); }\n",
        "both(x, n);", lambda x: 2 * x,
    ),
    "an array as a parameter": (
        "void fill(float p[], int n) { for (int i = 0; i < n; i++) p[i] = 2.0f * p[i]; }\n", "fill(x, n);",
        lambda x: 2 * x,
    ),
    "a local array": (
        "void fill(float *p) { float t[2] = {3.0f, 4.0f}; t[1] = 5.0f; p[0] = t[0]; p[1] = t[1]; }\n", "fill(x);",
        lambda x: np.array([3, 5, *x[2:]]),
    ),
    "an increment": ("void bump(float *p) { ++*p; p[1]++; }\n", "bump(x);", lambda x: x + [1, 1, 0, 0, 0]),
    "a number by reference": (
        "void twice(float &a, float b) { a *= b; }\n", "float s = 3.0f; twice(s, 2.0f); x[0] = s;",
        lambda x: np.array([6, *x[1:]]),
    ),
    "an element by reference": ("void twice(float &a) { a *= 2; }\n", "twice(x[1]);", lambda x: x * [1, 2, 1, 1, 1]),
    "numbers by address": (
        "void sums(const float *p, int n, float *s, float *q) {\n"
        "    float a = 0, b = 0;\n    for (int i = 0; i < n; i++) { a += p[i]; b += p[i] * p[i]; }\n"
        "    *s = a; *q = b;\n}\n",
        "float s, q; sums(x, n, &s, &q); x[0] = s; x[1] = q;", lambda x: np.array([sum(x), sum(x * x), *x[2:]]),
    ),
    "a loop of a helper with the names of its caller": (
        "struct Box { float *a; };\n"
        "void fill(Box *b, float *w, int n) {\n"
        "    float s = 2.0f;\n    b->a = w;\n    for (int i = 0; i < n; i++) w[i] = s * i;\n}\n",
        "float s = 5.0f; Box b; fill(&b, x, n); x[0] = s;", lambda x: np.array([5.0, 2, 4, 6, 8]),
    ),
    "a loop that prints, too": (
        "void halve(float *p, int n) { for (int i = 0; i < n; i++) p[i] = 0.5f * p[i]; }\n",
        'for (int k = 0; k < 2; k++) { halve(x, n); printf("%d", k); }', lambda x: x / 4,
    ),
    "a loop that swaps and prints": (
        "", 'for (int k = 0; k < 2; k++) { float t = x[k]; x[k] = x[4 - k]; x[4 - k] = t; printf("%d", k); }',
        lambda x: x[::-1],
    ),
    "a hidden number": ("", "float s = 1.0f; { float s = 7.0f; x[0] = s; } x[1] = s;",
                        lambda x: np.array([7, 1, *x[2:]])),
    "a hidden counter": ("", "for (int n = 0; n < 2; n++) add<<<1, 32>>>(x, 1.0f, 3);",
                         lambda x: x + [2, 2, 2, 0, 0]),
    "hidden memory": (
        "", "float *d; cudaMalloc(&d, n * sizeof(float)); cudaMemset(d, 0, n * sizeof(float));\n"
        "{ float *d; cudaMalloc(&d, n * sizeof(float)); cudaMemset(d, 0, n * sizeof(float)); "
        "add<<<1, 32>>>(d, 4.0f, n); cudaMemcpy(x, d, 2 * sizeof(float), cudaMemcpyDeviceToHost); }\n"
        "cudaMemcpy(x + 2, d, 2 * sizeof(float), cudaMemcpyDeviceToHost);",
        lambda x: np.array([4, 4, 0, 0, x[4]]),
    ),
    "timers in variables of the file": (
        "static double begin, end;\nvoid tic() { begin = clock(); }\n"
        'void toc() { end = clock(); printf("%f", end - begin); }\n',
        "tic(); add<<<1, 32>>>(x, 1.0f, n); toc();", lambda x: x + 1,
    ),
    "a while loop that steps in its condition": (
        "", "int t = 3; while (t-- > 0) add<<<1, 32>>>(x, 1.0f, n); x[0] = t;", lambda x: np.array([-1, *(x[1:] + 3)]),
    ),
    "one that steps first": ("", "int t = 3; while (--t) add<<<1, 32>>>(x, 1.0f, n);", lambda x: x + 2),
    "a template argument that is a constant of the host": (
        "template <int B> __global__ void total(const float *x, float *o, int n) {\n"
        "    __shared__ float s[B];\n    int t = threadIdx.x;\n    s[t] = t < n ? x[t] : 0.0f;\n    __syncthreads();\n"
        "    for (int k = B / 2; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }\n"
        "    if (t == 0) o[0] = s[0];\n}\n",
        "const int threads = 8; float *o; cudaMalloc(&o, sizeof(float)); total<threads><<<1, threads>>>(x, o, n);\n"
        "cudaMemcpy(x, o, sizeof(float), cudaMemcpyDeviceToHost);",
        lambda x: np.array([sum(x), *x[1:]]),
    ),
    "a check that compares": (
        "", 'float *y = (float *)malloc(n * sizeof(float)); int same = memcmp(x, y, n * sizeof(float)) == 0;\n'
        'printf("%d", same); add<<<1, 32>>>(x, 1.0f, n);', lambda x: x + 1,
    ),
    "work where there is no error": (
        "", "add<<<1, 32>>>(x, 1.0f, n); cudaError_t e = cudaGetLastError();\n"
        "if (e != cudaSuccess) { x[1] = 3.0f; return; } else { x[0] = 5.0f; }\n"
        "if (cudaGetLastError() == cudaSuccess) x[1] = 7.0f;",
        lambda x: np.array([5, 7, *(x[2:] + 1)]),
    ),
    "what is copied in a test": (
        "", "float *d; if (cudaMalloc(&d, n * sizeof(float)) != cudaSuccess || !d) return;\n"
        "if (cudaMemcpy(d, x, 8, cudaMemcpyHostToDevice) != cudaSuccess || cudaSuccess != cudaMemcpy(d + 2, x + 2, "
        "3 * sizeof(float), cudaMemcpyHostToDevice)) return;\n"
        "if (cudaGetLastError() == cudaSuccess) add<<<1, 32>>>(d, 2.0f, n);\n"
        "cudaMemcpy(x, d, n * sizeof(float), cudaMemcpyDeviceToHost);",
        lambda x: x + 2,
    ),
    "a number by place and by value": (
        "void grow(float &a, float b) { a += 1.0f; a *= b; }\nvoid scale(float *a, float b) { *a *= b; *a += b; }\n",
        "float s = 3.0f; grow(s, s); x[0] = s; scale(&s, s); x[1] = s;", lambda x: np.array([12, 156, *x[2:]]),
    ),
    "a number by address that a loop sums up": (
        "void squares(const float *p, int n, float *out) {\n"
        "    *out = 0;\n    for (int i = 0; i < n; i++) *out += p[i] * p[i];\n    *out = sqrtf(*out);\n}\n",
        "float s; squares(x, n, &s); x[0] = s;", lambda x: np.array([np.sqrt(sum(x * x)), *x[1:]]),
    ),
    "division of numbers below zero": (
        "", "int h = -n / 2; x[0] = (float)h; x[1] = (float)(-n % 3); x[2] = (float)((n - 8) / 2);",
        lambda x: np.array([-2, -2, -1, *x[3:]]),
    ),
    "a launch by what the device has": (
        "", "int many; cudaDeviceGetAttribute(&many, cudaDevAttrMultiProcessorCount, 0);\n"
        "add<<<many, 32>>>(x, 1.0f, n);",
        lambda x: x + 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HELPERS)
def test_what_has_a_part_in_the_values_stays(what):
    helpers, body, expected = HELPERS[what]
    x = array(5)
    found = values(f"{helpers}void f(float *x, int n) {{\n    {body}\n    add<<<1, 32>>>(x, 1.0f, n);\n}}\n", x, 5)
    np.testing.assert_allclose(found, expected(x) + 1, rtol=1e-5)


SWITCH = """
void f(float *x, int n, int mode) {
    switch (mode) {
        case 0: add<<<1, 32>>>(x, 1.0f, n); break;
        case 1:
        case 2: add<<<1, 32>>>(x, 2.0f, n);
        case 3: { add<<<1, 32>>>(x, 4.0f, n); break; }
        default: add<<<1, 32>>>(x, 8.0f, n);
    }
    for (int k = 0; k < 4; k++) {
        if (k == 1) continue;
        if (k == 2) { add<<<1, 32>>>(x, 16.0f, n); continue; }
        add<<<1, 32>>>(x, 32.0f, n);
    }
}
"""


@pytest.mark.parametrize(("mode", "sum_"), ((0, 1), (1, 6), (2, 6), (3, 4), (4, 8)))
def test_switch_and_continue(mode, sum_):
    x = array(5)
    np.testing.assert_allclose(values(SWITCH, x, 5, mode), x + sum_ + 80, rtol=1e-6)


def test_a_return_in_a_loop_of_the_host_ends_the_host():
    body = (
        "int f(float *x, int n) {\n    int m = 0;\n"
        "    for (int i = 0; i < n; i++) { if (x[i] < 0) return -1; m += 1; }\n"
        "    add<<<1, 32>>>(x, m, n);\n    return m;\n}\n"
    )
    namespace: dict = {}
    exec(compile(cuda(body).text, "a.py", "exec"), namespace)
    x = array(5)
    m, y = namespace["f"](x, 5)
    assert int(m) == 5
    np.testing.assert_allclose(np.asarray(y), x + 5, rtol=1e-6)
    x[3] = -1
    m, y = namespace["f"](x, 5)
    assert int(m) == -1
    np.testing.assert_array_equal(np.asarray(y), x)


LOST = {
    "a number that a time decides": "double t = clock(); int m = n; if (t > 10.0) m = 2; add<<<1, 32>>>(x, 1.0f, m);",
    "memory that a time changes": "double t = clock(); if (t > 10.0) x[0] = 3.0f; add<<<1, 32>>>(x, 1.0f, n);",
    "a size of the round before": (
        "float *d; cudaMalloc(&d, n * sizeof(float)); int m = n; size_t bytes = m * sizeof(float);\n"
        "for (int k = 0; k < 3; k++) { cudaMemcpy(d, x, bytes, cudaMemcpyHostToDevice); add<<<1, 32>>>(d, 1.0f, n);\n"
        "cudaMemcpy(x, d, bytes, cudaMemcpyDeviceToHost); m = m / 2; }"
    ),
    "a function of elsewhere on memory": "shuffle_elsewhere(x, n); add<<<1, 32>>>(x, 1.0f, n);",
    "a break deep in a switch": "switch (n) { case 1: if (x[0] > 0) break; add<<<1, 32>>>(x, 1.0f, n); }",
}


@pytest.mark.parametrize("what", LOST)
def test_what_cannot_be_followed_is_refused(what):
    done = cuda(f"void f(float *x, int n) {{\n    {LOST[what]}\n}}\n")
    assert codes(done) and "f" not in done.raised


SET_IN_PASSING = {
    "a step in a check": ("int k = 0; assert(++k == 1);", "k"),
    "a step in the arguments of printf": ('int k = 0; printf("%d", k++);', "k"),
    "a step beside an error code": ("int k = 0; cudaError_t e = (k++, cudaGetLastError());", "k"),
    "copies after one another": (
        "int k = 0; if (cudaMemset(x, 0, 8) == cudaSuccess || cudaMemset(x, 0, 16) == cudaSuccess) k = 1;",
        "error code",
    ),
    "a lambda with a copy of its own": ("float k = 1.0f; auto go = [=]() mutable { k *= 2.0f; }; go();", "go"),
}


@pytest.mark.parametrize("what", SET_IN_PASSING)
def test_what_a_dropped_expression_sets_is_not_used(what):
    body, name = SET_IN_PASSING[what]
    done = cuda(f"void f(float *x, int n) {{ {body} add<<<1, 32>>>(x, (float)k, n); }}\n")
    assert "f" not in done.raised and any(name in d.reason for d in done.diagnostics)


def test_a_lambda_changes_what_it_takes_by_reference():
    body = "float k = 1.0f; auto go = [&]() { k *= 2.0f; }; go(); go();"
    done = cuda(f"void f(float *x, int n) {{ {body} add<<<1, 32>>>(x, k, n); }}\n")
    assert "f" in done.raised and "k = 1.0 * 2.0\n    k = k * 2.0\n" in done.text


def test_a_lambda_that_has_a_copy_of_what_is_changed_is_not_written_out():
    body = "S k; k.n = 1; auto go = [k]() { return k.n; }; k.n = 2; int q = go();"
    done = cuda(f"struct S {{ int n; }};\nvoid f(float *x, int n) {{ {body} add<<<1, 32>>>(x, (float)q, n); }}\n")
    assert "f" not in done.raised


def test_a_float_counts_rounds_in_32_bits_under_x64():
    import jax

    done = cuda(
        "void f(float *x, int n) { float t = 0.0f; while (t < 1.0f) { add<<<1, 32>>>(x, t, n); t += 0.1f; } }\n"
    )
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    t, want = np.float32(0), np.zeros(3, np.float32)
    while t < 1:
        want, t = want + t, t + np.float32(0.1)
    with jax.enable_x64(True):
        np.testing.assert_allclose(namespace["f"](np.zeros(3, np.float32), 3), want, rtol=1e-5)


def test_a_loop_with_a_condition_runs_under_x64():
    import jax

    done = cuda(
        "void f(float *x, int n) {\n    float r = 10.0f; int it = 0;\n    while (r > 2.0f && it < 9) {\n"
        "        add<<<1, 32>>>(x, 1.0f, n); float h; cudaMemcpy(&h, x, sizeof(float), cudaMemcpyDeviceToHost);\n"
        "        r = 5.0f - h; it++;\n    }\n}\n"
    )
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    with jax.enable_x64(True):
        for kind in (np.float32, np.float64):
            np.testing.assert_allclose(namespace["f"](np.zeros(3, kind), 3), np.full(3, 3), rtol=1e-5)
