"""One array for several parameters of a launch: an in-place kernel where threads do not meet, else refused."""

import numpy as np
import pytest

from kraise.verify.load import load_module, x64
from tests.hosts.test_hosts import agrees, array, codes, cuda, python

ADD = """
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + 2.0 * b[i]
"""


@pytest.mark.parametrize("arguments", ("x, y, x", "x, y, y", "x, x, y", "x, x, x"))
def test_elements_of_their_own(arguments):
    done = python(ADD + f"def f(x, y, n):\n    add[1, 32]({arguments})\n    add[1, 32](y, x, y)\n    return x, y\n")
    assert {"f"} & set(done.raised)
    agrees(done, "f", x=array(9), y=array(9, 1), n=9)


def test_one_function_for_each_way_of_joining():
    done = python(
        ADD + "def f(x, y, n):\n    for _ in range(3):\n        add[1, 32](x, y, x)\n    add[1, 32](y, x, y)\n"
    )
    assert done.text.count("def add_in_place") == 1  # (a, b) and c: both launches write what they read first
    agrees(done, "f", x=array(9), y=array(9, 1), n=9)


def test_in_a_loop_of_cuda():
    body = (
        "__global__ void axpy(const float *x, const float *y, float *out, float a, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = a * x[i] + y[i];\n}\n"
        "void f(float *x, float *y, int n, int steps) {\n"
        "    for (int t = 0; t < steps; t++) axpy<<<1, 32>>>(x, y, y, 0.5f, n);\n}\n"
    )
    agrees(cuda(body), "f", x=array(9), y=array(9, 1), n=9, steps=3)


@pytest.mark.parametrize("arguments", ("x, x, n", "x[1:], x, n"))
def test_threads_that_meet_are_refused(arguments):
    done = python(f"def f(x, n):\n    step[1, 32]({arguments})\n")
    found = [d for d in done.diagnostics if d.kernel == "f" and d.severity == "error"]
    assert "KR211" in codes(done) and found[0].hint and "step_in_place" not in (done.text or "")


@pytest.mark.parametrize(
    "body",
    (
        "    a = x\n    a += 2.0\n    add[1, 32](y, y, y)\n    return y\n",
        "    x += 2.0\n    add[1, 32](y, y, y)\n    return y\n",
        "    r = z[0]\n    r += 2.0\n    add[1, 32](y, y, y)\n    return y, z[1]\n",
        "    a = x if n > 3 else z\n    a *= 2.0\n    add[1, 32](y, y, y)\n    return y\n",
        "    a = x\n    x += 1.0\n    add[1, 32](y, y, y)\n    return x, a\n",
    ),
)
def test_what_may_be_an_array_is_not_changed_as_a_number(body):
    """NumPy would change the caller's array, or the row; a number that nothing tells from one is refused."""
    done = python(ADD + f"def f(x, y, z, n):\n{body}")
    found = [d for d in done.diagnostics if d.kernel == "f" and d.severity == "error"]
    assert "f" not in done.raised and "nothing tells that" in found[0].reason and "annotate" in found[0].hint


@pytest.mark.parametrize(
    "signature, body",
    (
        ("t: float", "    t += 2.0\n    add[1, 32](y, y, y)\n    return y, t\n"),
        ("t", "    s = t\n    while s < 3.0:\n        add[1, 32](y, y, y)\n        s += 1.0\n    return y\n"),
        ("t", "    for _ in range(3):\n        grow[1, 32](y, t)\n        t += 0.5\n    return y\n"),
        ("t", "    s = y[0]\n    s += t\n    grow[1, 32](y, s)\n    return y\n"),
        ("t", "    t += 2.0\n    add[1, 32](y, y, y)\n    return y, t\n"),
    ),
)
def test_what_is_surely_a_number_is_changed_as_one(signature, body):
    grow = "@cuda.jit\ndef grow(y, s):\n    i = cuda.grid(1)\n    if i < y.size:\n        y[i] += s\n"
    done = python(ADD + grow + f"def f(y, {signature}):\n{body}")
    assert "f" in done.raised
    agrees(done, "f", y=array(9), t=np.float32(1.5))


PARTS = """
@cuda.jit
def grow(a, s):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += s

@cuda.jit
def join(a, b):
    i = cuda.grid(1)
    if i < b.shape[0]:
        b[i] += 2.0 * a[i]
"""


@pytest.mark.parametrize(
    "line",
    (
        "grow[1, 32](x[3:7], 2.0)",
        "grow[1, 32](x[1:8:2], 2.0)",
        "join[1, 32](y[2:6], x[:4])",
        "join[1, 32](y, x[1:6])",
    ),
)
def test_parts_of_an_array_go_back_to_their_place(line):
    done = python(PARTS + f"def f(x, y):\n    grow[1, 32](y, 1.0)\n    {line}\n    return x, y\n")
    assert "f" in done.raised
    agrees(done, "f", x=array(9), y=array(9, 1))


@pytest.mark.parametrize(
    "line", ("join[1, 32](x[2:6], x[:4])", "join[1, 32](x, x[1:6])", "z = x\n    join[1, 32](x[1:6], z)")
)
def test_parts_that_another_argument_sees_are_refused(line):
    done = python(PARTS + f"def f(x, y):\n    {line}\n    return x, y\n")
    found = [d for d in done.diagnostics if d.kernel == "f" and d.severity == "error"]
    assert "f" not in done.raised and "another argument" in found[0].reason and found[0].hint


def test_a_reshaped_array_is_a_view():
    body = "def f(u, s):\n    d = cuda.to_device(u)\n    w = d.reshape({})\n    {}\n    return {}\n"
    done = python(PARTS + body.format("-1", "grow[1, 64](w, 2.0)", "w"))
    agrees(done, "f", u=array(12).reshape(3, 4), s=1.0)
    done = python(PARTS + body.format("(2, -1)", "grow[1, 64](d, 2.0)", "d"))
    agrees(done, "f", u=array(12).reshape(3, 4)[0], s=1.0)
    done = python(PARTS + body.format("-1", "grow[1, 64](w, 2.0)", "w, d"))  # put back
    for got in load_module(done.text).f(array(12).reshape(3, 4), 1.0):
        np.testing.assert_allclose(np.ravel(got), array(12) + 2, rtol=1e-6)


def test_mapped_host_memory_is_one_array():
    body = (
        "#if CUDART_VERSION < 2020\n#error no mapped memory\n#endif\n"
        "__global__ void twice(const float *a, float *b, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) b[i] = 2.0f * a[i];\n}\n"
        "void f(float *x, float *y, int n) {\n    float *a, *b, *da, *db;\n    unsigned flags = cudaHostAllocMapped;\n"
        "    cudaHostAlloc((void **)&a, n * sizeof(float), flags);\n"
        "    cudaHostAlloc((void **)&b, n * sizeof(float), cudaHostAllocMapped);\n"
        "    for (int i = 0; i < n; i++) { a[i] = x[i]; b[i] = 0.0f; }\n"
        "    cudaHostGetDevicePointer((void **)&da, (void *)a, 0);\n    cudaHostGetDevicePointer(&db, b, 0);\n"
        "    twice<<<(n + 31) / 32, 32>>>(da, db, n);\n    cudaDeviceSynchronize();\n"
        "    for (int i = 0; i < n; i++) y[i] = b[i] + a[i];\n    cudaFreeHost(a);\n    cudaFreeHost(b);\n}\n"
    )
    done = cuda(body)
    assert "f" in done.raised and "zeros" in done.text
    agrees(done, "f", x=array(9), y=array(9, 1), n=9)


GROW = "@cuda.jit\ndef grow(y, s):\n    i = cuda.grid(1)\n    if i < y.size:\n        y[i] += s\n"


@pytest.mark.parametrize(
    "made, seen, changes",
    (
        ("d = cuda.to_device(x)\n    e = cuda.to_device(d)", "d.copy_to_host()", True),  # is there already
        ("d = cp.asarray(x)\n    e = cp.asarray(d)", "cp.asnumpy(d)", True),
        ("d = cp.zeros(x.size)\n    e = cp.array(d, copy=False)", "d", True),
        ("d = cuda.to_device(x)\n    e = cuda.as_cuda_array(cp.asarray(d))", "d.copy_to_host()", True),
        ("e = cuda.to_device(x)\n    d = np.asarray(e)", "d", False),  # from the device: a copy
        ("e = cuda.to_device(x)\n    d = cp.asnumpy(cp.asarray(e))", "d", False),
        ("d = x.copy()\n    e = cuda.to_device(d)", "d", False),
    ),
)
def test_what_is_where_it_goes_is_no_copy(made, seen, changes):
    body = f"def f(x):\n    {made}\n    grow[1, 32](e, 1.0)\n    return {seen}\n"
    done = python("import cupy as cp\n" + GROW + body)
    x = array(9)
    begun = np.zeros(9) if "zeros" in made else x
    with x64("x64" in done.text):
        np.testing.assert_allclose(load_module(done.text).f(x), begun + changes, rtol=1e-6)


@pytest.mark.parametrize("made", ("x.astype(np.float32, copy=False)", "np.array(x, np.float32, copy=False)"))
def test_what_may_be_a_copy_is_refused(made):
    done = python(GROW + f"def f(x):\n    e = {made}\n    grow[1, 32](e, 1.0)\n    return x + 1\n")
    assert "f" not in done.raised


def test_where_an_array_is_after_a_branch_is_open():
    body = (
        "    d = x\n    if n > 3:\n        d = cuda.to_device(x)\n    e = cuda.to_device(d)\n    grow[1, 32](e, 1.0)\n"
    )
    done = python(GROW + f"def f(x, n):\n{body}    return e.copy_to_host()\n")
    np.testing.assert_allclose(load_module(done.text).f(array(9), 5), array(9) + 1, rtol=1e-6)


@pytest.mark.parametrize("given, fits", (("x.copy()", True), ("x", True), ("cuda.to_device(x)", False)))
def test_what_another_host_moves_is_not_there_already(given, fits):
    """It would get the array itself, no copy."""
    body = "def run(u, s):\n    d = cuda.to_device(u)\n    grow[1, 32](d, s)\n    return d\n"
    done = python(GROW + body + f"def f(x):\n    e = {given}\n    g = run(e, 1.0)\n    return e, g\n")
    assert ("f" in done.raised) == fits


MOVED = {
    "a flag that is no 0 and no 1": "    a = x if n else y\n    grow[1, 32](a, 5.0)\n    return x, y\n",
    "a swap in a branch": (
        "    a, b = x, y\n    if n > 1:\n        a, b = b, a\n    join[1, 32](a, b)\n    return x, y\n"
    ),
    "a swap in a loop": (
        "    a, b = x, y\n    for _ in range(n):\n        join[1, 32](a, b)\n        a, b = b, a\n    return x, y, a\n"
    ),
}


@pytest.mark.parametrize("what", MOVED)
def test_parameters_by_their_own_names_once_other_names_have_moved(what):
    done = python(PARTS + f"def f(x, y, n):\n{MOVED[what]}")
    assert "f" in done.raised and "what it leaves" not in done.text
    for n in (0, 1, 3):
        agrees(done, "f", x=array(9), y=array(9, 1), n=n)
    x, y = array(9), array(9, 1)
    if what.startswith("a flag"):
        for got, want in zip(load_module(done.text).f(x, y, 2), (x + 5, y), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_what_is_changed_and_not_returned_is_said():
    done = python(PARTS + "def f(x, y):\n    grow[1, 32](x, 1.0)\n    join[1, 32](x, y)\n    return y\n")
    assert "what it leaves in x is not among its results" in done.text
    assert "what it leaves" not in python(PARTS + "def f(x):\n    grow[1, 32](x, 1.0)\n    return 2\n").text


@pytest.mark.parametrize(
    "body",
    (
        "    r = z[0]\n    z[0] += 2.0\n    add[1, 32](y, y, y)\n    return y, r\n",
        "    r = z[0]\n    step[1, 32](y, z[0], n)\n    return y, r + 0.0\n",
        "    t = z.T\n    r = t[0]\n    z[0, 0] = 2.0\n    add[1, 32](y, y, y)\n    return y, r\n",
        "    t = z[0]\n    z[0] = z[1]\n    z[1] = t\n    add[1, 32](y, y, y)\n    return y, z\n",
        "    z[0], z[1] = z[1], z[0]\n    add[1, 32](y, y, y)\n    return y, z\n",
        "    r = z[0]\n    for k in range(3):\n        y += r\n        z[0] += y\n    add[1, 32](y, y, y)\n",
        "    r, s = z\n    if n > 3:\n        z[1] = 2.0\n    add[1, 32](y, y, y)\n    return y, r + s\n",
    ),
)
def test_a_row_that_changes_is_not_read_as_it_was(body):
    """``r = z[0]`` of two axes is a view in NumPy; of one axis it is a number, which stays."""
    done = python(ADD + f"def f(x, y, z, n):\n{body}")
    found = [d for d in done.diagnostics if d.kernel == "f" and d.severity == "error"]
    assert "f" not in done.raised and "is a number: a row of " in found[0].reason and "copy" in found[0].hint


def test_numbers_of_an_array_that_changes_are_as_they_were():
    body = (
        "    r, s, t, q = z[0], float(w[1]), w[2].copy(), y[0]\n    z[0], z[1] = z[1], z[0]\n    w[1] = w[2] = 7.0\n"
        "    for k in range(3):\n        add[1, 32](y, z, y)\n        y[0] = z[k] + q + t\n        q = y[1]\n"
        "    return y, z, r + s + q\n"
    )
    done = python(ADD + f"def f(y, z, w, n):\n{body}")
    agrees(done, "f", y=array(9), z=array(9, 1), w=array(9, 2), n=9)
