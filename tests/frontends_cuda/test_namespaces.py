"""Names that several namespaces declare are looked up as C++ does, and told apart in the module."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
KERNEL = f"__global__ void {{0}}(float *u, float k, int n) {{{{ {INDEX} if (i < n) u[i] = {{1}}; }}}}"
HEAT = "__device__ float rate(float a, float k) { return a - k; }"
DECAY = "__device__ float rate(float a, float k) { return -k * a; }"
BOTH = f"namespace heat {{ {HEAT} }} namespace decay {{ {DECAY}"
U = np.array([1.0, 2.0, 3.0], "f")
K = np.float32(0.5)
CASES = {  # the file, the function, what it gives
    "within": (f"{BOTH} {KERNEL.format('f', 'rate(u[i], k)')} }}", "f", -K * U),
    "qualified": (f"{BOTH} }} {KERNEL.format('f', 'heat::rate(u[i], k) + decay::rate(u[i], k)')}", "f", U - K - K * U),
    "the outer one": (f"{HEAT} namespace decay {{ {DECAY} }} {KERNEL.format('f', 'rate(u[i], k)')}", "f", U - K),
    "the inner one": (f"{HEAT} namespace d {{ {DECAY} {KERNEL.format('f', 'rate(u[i], k)')} }}", "f", -K * U),
    "from the outermost": (f"{HEAT} namespace d {{ {DECAY} {KERNEL.format('f', '::rate(u[i], k)')} }}", "f", U - K),
    "used": (f"{BOTH} }} using namespace decay; {KERNEL.format('f', 'rate(u[i], k)')}", "f", -K * U),
    "used by name": (f"{BOTH} }} using heat::rate; {KERNEL.format('f', 'rate(u[i], k)')}", "f", U - K),
    "nested": (
        f"namespace a {{ {HEAT} namespace b {{ {DECAY} }} {KERNEL.format('f', 'b::rate(u[i], k)')} }}",
        "f",
        -K * U,
    ),
    "constants": (
        "namespace a { constexpr float J = 1, C = 2; } namespace b { constexpr float C = 5; "
        f"{KERNEL.format('f', 'C * u[i] + a::C')} }}",
        "f",
        5 * U + 2,
    ),
    "a parameter of the name": (
        f"{BOTH} }} {KERNEL.replace('float k', 'float rate').format('f', 'u[i] * rate')}",
        "f",
        K * U,
    ),
    "a local variable": (
        f"{BOTH} }} {KERNEL.format('f', 'k').replace(INDEX, INDEX + ' float rate = 2 * k; k = rate;')}",
        "f",
        0 * U + 1,
    ),
    "kernels": (
        f"namespace a {{ {KERNEL.format('f', 'u[i] + k')} }} namespace b {{ {KERNEL.format('f', 'u[i] * k')} }}",
        "b_f",
        K * U,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    source, function, wanted = CASES[name]
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    np.testing.assert_allclose(getattr(load_module(done.text), function)(U, K, 3), wanted, rtol=1e-6)


def test_hosts_launch_their_own():
    source, _, _ = CASES["kernels"]
    source += " void run(float *d, float k, int n) { a::f<<<1, 64>>>(d, k, n); b::f<<<1, 64>>>(d, k, n); }"
    done = pipeline.translate(source, "k.cu")
    np.testing.assert_allclose(load_module(done.text).run(U, K, 3), (U + K) * K, rtol=1e-6)


def test_what_nothing_says_is_not_guessed():
    done = pipeline.translate(f"{BOTH} }} {KERNEL.format('f', 'rate(u[i], k)')}", "k.cu")
    assert done.text is None and [d.code for d in done.diagnostics if d.severity == "error"] == ["KR103"]


def test_methods_are_no_namespaces():
    source = "struct V { float x; __device__ float norm() const; }; __device__ float V::norm() const { return x * x; } "
    source += "namespace n { __device__ float norm(float a) { return a + 1; } } "
    source += KERNEL.format("f", "[&] { V v; v.x = u[i]; return v.norm() + n::norm(k); }()")
    done = pipeline.translate(source, "k.cu")
    if done.text is not None:  # or refused: never the other function
        np.testing.assert_allclose(load_module(done.text).f(U, K, 3), U * U + K + 1, rtol=1e-6)
