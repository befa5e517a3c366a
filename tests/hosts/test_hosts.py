"""Host functions: what is raised, in which form, with which values; what is refused, and why."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.load import load_module

KERNELS = """
import math
import numpy as np
from numba import cuda

@cuda.jit
def step(u, v, n):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = 0.5 * (u[i - 1] + u[i + 1])

@cuda.jit
def scale(x, a):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a

@cuda.jit
def total(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])

@cuda.jit
def racy(x, n):
    i = cuda.grid(1)
    if i < n - 1:
        x[i] = x[i + 1]
"""

CUDA = """
__global__ void step(const float *u, float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) v[i] = 0.5f * (u[i - 1] + u[i + 1]);
}
"""


def python(body):
    return pipeline.translate(KERNELS + body, "a.py")


def cuda(body):
    return pipeline.translate(CUDA + body, "a.cu")


def codes(done):
    return {d.code for d in done.diagnostics if d.severity == "error"}


def agrees(done, name, **arguments):
    """The emitted host against the interpreter of Host IR: values and derivatives."""
    from kraise.verify.compare import verify

    report = verify(done.source, done.text, name, Case(name, arguments))
    assert report.ok, [f"{r.check} {r.what}: {r.message}" for r in report.failures]


def array(n, seed=0):
    import numpy as np

    return np.random.default_rng(seed).uniform(0.1, 1.0, n).astype(np.float32)


REFUSED = {
    "one memory twice": ("def f(x, n):\n    step[1, 32](x, x, n)\n", "KR211"),
    "an alias of it": ("def f(x, n):\n    y = x\n    step[1, 32](x, y, n)\n", "KR211"),
    "unknown library": ("def f(x):\n    scale[1, 32](x, 2.0)\n    np.random.shuffle(x)\n", "KR213"),
    "size from data": ("def f(x, c):\n    m = c[0]\n    for i in range(m):\n        scale[1, 32](x, 2.0)\n", "KR214"),
    "refused kernel": ("def f(x, n):\n    racy[1, 32](x, n)\n", "KR212"),
    "try": ("def f(x):\n    try:\n        scale[1, 32](x, 2.0)\n    except ValueError:\n        pass\n", "KR211"),
    "nothing comes back": ("def f():\n    x = np.zeros(3)\n    scale[1, 32](x, 2.0)\n", "KR211"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_python_refusals(what):
    body, code = REFUSED[what]
    done = python(body)
    assert code in codes(done) and "f" not in done.raised
    assert "step" in done.raised and "def step(" in done.text  # the kernels come out all the same


CUDA_REFUSED = {
    "function pointer": (
        "void f(float *a, float *b, int n, int k) {\n"
        "    void (*run)(const float *, float *, int) = step;\n    run<<<1, 64>>>(a, b, n);\n}\n"
    ),
    "unknown call": "void f(float *a, float *b, int n) { step<<<1, 64>>>(a, b, n); mystery(a, n); }\n",
    "bytes of no known form": (
        "void f(float *a, float *b, int n, size_t bytes) {\n"
        "    float *d; cudaMalloc(&d, bytes); step<<<1, 64>>>(a, d, n);\n"
        "    cudaMemcpy(b, d, bytes, cudaMemcpyDefault);\n}\n"
    ),
    "one memory twice": "void f(float *a, int n) { step<<<1, 64>>>(a, a, n); }\n",
    "work under an error code": (
        "void f(float *a, float *b, int n) {\n    cudaError_t e = cudaGetLastError();\n"
        "    if (e == cudaErrorInvalidValue) step<<<1, 64>>>(a, b, n);\n}\n"
    ),
}


@pytest.mark.parametrize("what", CUDA_REFUSED)
def test_cuda_refusals(what):
    done = cuda(CUDA_REFUSED[what])
    assert codes(done) & {"KR211", "KR213", "KR101", "KR102", "KR104"} and "f" not in done.raised
    assert "step" in done.raised


def test_a_host_without_launches_is_passed_over():
    done = python("def helper(x):\n    print(x)\n    return x\n")
    assert "helper" not in done.raised and not [d for d in done.diagnostics if d.kernel == "helper"]


def test_swap_returns_the_memory_of_the_parameters():
    body = "def f(u, v, n, steps):\n    for _ in range(steps):\n        step[1, 32](u, v, n)\n        u, v = v, u\n"
    done = python(body)
    for steps in (0, 1, 2, 3):
        agrees(done, "f", u=array(7), v=array(7, 1), n=7, steps=steps)


def test_rotation_of_three_buffers():
    body = (
        "def f(a, b, c, n, steps):\n    for _ in range(steps):\n        step[1, 32](a, b, n)\n"
        "        a, b, c = b, c, a\n"
    )
    done = python(body)
    for steps in (1, 2, 3, 4):
        agrees(done, "f", a=array(7), b=array(7, 1), c=array(7, 2), n=7, steps=steps)


def test_a_copy_is_not_an_alias():
    body = "def f(x):\n    y = x.copy()\n    scale[1, 32](x, 2.0)\n    return x, y\n"
    agrees(python(body), "f", x=array(5))


def test_an_alias_is_no_copy():
    body = "def f(x):\n    y = x\n    scale[1, 32](x, 2.0)\n    return x, y\n"
    agrees(python(body), "f", x=array(5))


def test_branch_on_the_parity_of_the_round():
    body = (
        "def f(u, v, n, steps):\n    for t in range(steps):\n        if t % 2 == 0:\n            step[1, 32](u, v, n)\n"
        "        else:\n            step[1, 32](v, u, n)\n    return u, v\n"
    )
    agrees(python(body), "f", u=array(7), v=array(7, 1), n=7, steps=3)


def test_pointers_chosen_by_a_branch():
    body = (
        "def f(u, v, n, steps):\n    for t in range(steps):\n        if t % 2 == 0:\n            a, b = u, v\n"
        "        else:\n            a, b = v, u\n        step[1, 32](a, b, n)\n    return u, v\n"
    )
    agrees(python(body), "f", u=array(7), v=array(7, 1), n=7, steps=3)


def test_while_without_a_bound_is_equinox():
    body = (
        "def f(x, limit):\n    s = np.zeros(1, dtype=np.float32)\n    total[1, 32](x, s)\n    size = s[0]\n"
        "    while size > limit:\n        scale[1, 32](x, 0.5)\n        s = np.zeros(1, dtype=np.float32)\n"
        "        total[1, 32](x, s)\n        size = s[0]\n    return x\n"
    )
    done = python(body)
    assert "eqxi.while_loop" in done.text, done.diagnostics
    agrees(done, "f", x=array(5), limit=0.7)


def test_a_counter_that_decides_the_launch_is_unrolled():
    body = "def f(x, n):\n    s = 1\n    while s < n:\n        scale[s, 32](x, 1.5)\n        s *= 2\n    return x\n"
    done = python(body)
    agrees(done, "f", x=array(5), n=8)


def test_only_a_host_brings_what_it_launches():
    from kraise.options import Options

    source = KERNELS + "def f(x):\n    scale[1, 32](x, 2.0)\n    return x\n"
    done = pipeline.translate(source, "a.py", Options(only=("f",)))
    assert set(done.raised) == {"scale", "f"}


def test_main_only_when_asked():
    from kraise.options import Options

    source = CUDA + (
        "int main() {\n    float h[8];\n    for (int i = 0; i < 8; i++) h[i] = i;\n    float *a, *b;\n"
        "    cudaMalloc(&a, 8 * sizeof(float)); cudaMalloc(&b, 8 * sizeof(float));\n"
        "    cudaMemcpy(a, h, 8 * sizeof(float), cudaMemcpyHostToDevice);\n    step<<<1, 8>>>(a, b, 8);\n"
        "    return 0;\n}\n"
    )
    assert "main" not in pipeline.translate(source, "a.cu").raised
    asked = pipeline.translate(source, "a.cu", Options(only=("main",)))
    assert "main" in {d.kernel for d in asked.diagnostics} | set(asked.raised)


def test_cuda_offsets_and_ternary_pointers():
    body = (
        "void f(float *a, int n, int m) {\n    float *d;\n    cudaMalloc(&d, 2 * n * sizeof(float));\n"
        "    cudaMemset(d, 0, 2 * n * sizeof(float));\n    cudaMemcpy(d, a, n * sizeof(float), cudaMemcpyDefault);\n"
        "    step<<<1, 64>>>(d, d + n, n);\n"
        "    cudaMemcpy(a, d + n, n * sizeof(float), cudaMemcpyDefault);\n}\n"
    )
    agrees(cuda(body), "f", a=array(7), n=7, m=1)  # two parts of one memory that do not meet
    assert "KR211" in codes(cuda(body.replace("(d, d + n, n)", "(d, d + n - 1, n)")))
    assert "KR211" in codes(cuda(body.replace("(d, d + n, n)", "(d, d + m, n)")))  # nothing says where m is


def test_cuda_copy_of_a_part():
    body = (
        "void f(const float *a, float *b, int n) {\n    float *d, *e;\n    cudaMalloc(&d, n * sizeof(float));\n"
        "    cudaMalloc(&e, sizeof(float) * n);\n    cudaMemset(e, 0, n * sizeof(float));\n"
        "    cudaMemcpy(d, a + 1, sizeof(float) * n, cudaMemcpyHostToDevice);\n"
        "    step<<<(n + 31) / 32, 32>>>(d, e, n);\n"
        "    cudaMemcpy(b + 2, e, n * sizeof(float), cudaMemcpyDeviceToHost);\n}\n"
    )
    agrees(cuda(body), "f", a=array(9), b=array(10, 1), n=7)


def test_explain_lists_what_was_dropped():
    body = "def f(x):\n    scale[1, 32](x, 2.0)\n    cuda.synchronize()\n    print('done')\n    return x\n"
    shown = {name: text for name, _, text in pipeline.explain(python(body))}
    assert "scale<1, 32>(x, 2.0)" in shown["f"] and "cuda.synchronize()  (synchronisation)" in shown["f"]
    assert "(printing)" in shown["f"]


def test_illegal_host_ir_is_seen():
    from kraise.ir import host as h
    from kraise.ir.validate_host import problems

    body = (h.Break(), h.Point(("a",), ()), h.Alloc("x", None, None), h.Return(), h.Return())
    assert len(problems(h.Host("f", (), body))) == 4


def test_a_swap_under_a_break():
    body = (
        "def f(x, y, n, m):\n    k = 0\n    while True:\n        step[1, 32](x, y, n)\n        k += 1\n"
        "        if k >= m:\n            break\n        x, y = y, x\n    return x, y, k\n"
    )
    done = python(body)
    for m in (1, 2, 3):
        agrees(done, "f", x=array(7), y=array(7, 1), n=7, m=m)


def test_a_kernel_and_a_host_of_one_name():
    """The host has a name of its own in the module: under that of the kernel it would call itself."""
    source = """__global__ void twice(float *x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
    void twice(float *x) { twice<<<1, 64>>>(x, 64); }"""
    found = pipeline.translate(source, "k.cu")
    assert found.raised == ("twice", "twice_host") and not found.diagnostics
    x = np.arange(70, dtype="float32")
    np.testing.assert_array_equal(load_module(found.text).twice_host(x), np.where(x < 64, 2 * x, x))
