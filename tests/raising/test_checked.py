"""``--checked`` modules raise where the contents of their arguments break what the equations rely on, only there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import verified

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
F = np.float32


def module(source, file="k.cu", **options):
    done = pipeline.translate(source, file, Options(checked=True, **options))
    assert done.text and not [d for d in done.diagnostics if d.severity == "error"], done.diagnostics
    return load_module(done.text), done.text


def array(*values, dtype=np.int32):
    return jnp.array(values, dtype)


GATHER = f"__global__ void k(const int *at, const float *x, float *y, int n) {{ {INDEX} if (i < n) y[i] = x[at[i]]; }}"
MASKED = f"""__global__ void k(const int *at, const float *x, float *y, int n) {{
  {INDEX} if (i < n && at[i] >= 0) y[i] = x[at[i]]; else if (i < n) y[i] = 0.0f; }}"""
SCATTER = f"__global__ void k(const int *at, const float *x, float *y, int n) {{ {INDEX} if (i < n) y[at[i]] = x[i]; }}"
ROWS = f"""__global__ void k(const int *ptr, const float *x, float *y, int n) {{
  {INDEX} if (i < n) {{ float s = 0.0f; for (int j = ptr[i]; j < ptr[i + 1]; j++) s += x[j]; y[i] = s; }} }}"""
CHAIN = f"""__global__ void k(const int *next, float *y, int n) {{
  {INDEX} if (i < n) {{ int at = i; for (int s = 0; s < 3; s++) at = next[at]; y[i] = at; }} }}"""
SEARCH = """def k(table, u, y):
    for i in range(u.shape[0]):
        low = 0
        high = table.shape[0]
        while low < high:
            middle = (low + high) // 2
            if table[middle] < u[i]:
                low = middle + 1
            else:
                high = middle
        y[i] = low
"""
X, Y = array(1.0, 2.0, 3.0, dtype=F), jnp.zeros(3, F)
BREAKS = {
    "a gather beyond the end": (GATHER, (array(0, 3, 1), X, Y, 3), "x[at[i]] leaves the array"),
    "a gather before the start": (GATHER, (array(0, -1, 1), X, Y, 3), "x[at[i]] leaves the array"),
    "a gather that the mask lets through": (MASKED, (array(0, 3, 1), X, Y, 3), "x[at[i]] leaves the array"),
    "rows that decrease": (ROWS, (array(0, 3, 1, 3), X, Y, 3), "ptr must not decrease"),
    "a chain that leaves": (CHAIN, (array(1, 2, 3), Y, 3), "next[at] leaves the array"),
}
HOLDS = {
    "a gather": (GATHER, (array(2, 0, 1), X, Y, 3)),
    "lanes that the mask skips": (MASKED, (array(-7, 0, 2), X, Y, 3)),
    "entries beyond n": (GATHER, (array(0, 1, 99), X, Y, 2)),
    "rows": (ROWS, (array(0, 1, 1, 3), X, Y, 3)),
    "a chain": (CHAIN, (array(1, 2, 0), Y, 3)),
}


@pytest.mark.parametrize("name", BREAKS)
def test_raises_where_it_breaks(name):
    source, arguments, message = BREAKS[name]
    checked, _ = module(source)
    with pytest.raises(checkify.JaxRuntimeError) as raised:
        checked.k(*arguments)
    assert f"k: {message}" in str(raised.value)


@pytest.mark.parametrize("name", HOLDS)
def test_the_values_are_those_of_the_plain_module(name):
    source, arguments = HOLDS[name]
    checked, text = module(source)
    assert "checkify.check(" in text
    plain = load_module(pipeline.translate(source, "k.cu").text)
    np.testing.assert_array_equal(checked.k(*arguments), plain.k(*arguments))


def test_a_table_that_is_not_sorted():
    checked, text = module(SEARCH, "k.py")
    assert "searchsorted" in text
    u = array(0.5, 2.5, dtype=F)
    assert list(checked.k(X, u, jnp.zeros(2, np.int32))) == [0, 2]
    with pytest.raises(checkify.JaxRuntimeError, match="table must be sorted"):
        checked.k(X[::-1], u, jnp.zeros(2, np.int32))


def test_what_was_declared_is_checked():
    checked, _ = module(SCATTER, assume=("at is injective",))
    np.testing.assert_array_equal(checked.k(array(2, 0, 1), X, Y, 3), [2.0, 3.0, 1.0])
    with pytest.raises(checkify.JaxRuntimeError, match="at is not injective"):
        checked.k(array(2, 0, 2), X, Y, 3)


def test_gradients_vmap_and_an_outer_jit():
    source, (ptr, x, y, n) = ROWS, HOLDS["rows"][1]
    checked, _ = module(source)

    def loss(x, ptr=ptr):
        return (checked.k(ptr, x, y, n) ** 2).sum()

    np.testing.assert_allclose(jax.grad(loss)(x), [2.0, 10.0, 10.0])
    np.testing.assert_allclose(jax.vmap(jax.grad(loss))(jnp.stack([x, 2 * x]))[1], [4.0, 20.0, 20.0])
    bad = BREAKS["rows that decrease"][1][0]
    with pytest.raises(checkify.JaxRuntimeError, match="must not decrease"):
        jax.grad(loss)(x, bad)
    error, value = checkify.checkify(jax.jit(loss))(x, bad)
    assert "must not decrease" in str(error.get()) and checkify.checkify(jax.jit(loss))(x)[0].get() is None


def test_host_functions_and_derivatives_throw_too():
    source = f"""{GATHER}
void twice(const int *at, float *x, float *y, int n) {{
  for (int t = 0; t < 2; t++) {{ k<<<1, n>>>(at, x, y, n); k<<<1, n>>>(at, y, x, n); }}
}}"""
    checked, text = module(source, grad=("k: loss=y wrt x",))
    assert text.count("\n@checked\n") == 4  # k, its two derivatives, and the host function
    good, bad = HOLDS["a gather"][1][0], BREAKS["a gather beyond the end"][1][0]
    value, slope = checked.k_grad(good, X, Y, 3)
    assert value == 6.0 and list(slope) == [1.0, 1.0, 1.0]
    assert [v.shape for v in checked.twice(good, X, Y, 3)] == [(3,), (3,)]
    for call in (checked.k_grad, checked.twice):
        with pytest.raises(checkify.JaxRuntimeError, match="leaves the array"):
            call(bad, X, Y, 3)


SIZES = {  # the kernel's subscripts of x, and sizes of x that it takes and does not take for n = 3
    "as many": ("x[i]", (3, 4), (2,)),
    "further on": ("x[i] + x[i + 2]", (5,), (3, 4)),
    "backwards": ("x[2 * n - 1 - i]", (6,), (5,)),
    "a sum": ("(x[0] + x[n])", (4,), (3, 1)),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_checked_as_the_function_is_traced(name):
    value, fits, short = SIZES[name]
    source = f"__global__ void k(const float *x, float *y, int n) {{ {INDEX} if (i < n) y[i] = {value}; }}"
    checked, text = module(source)
    assert "checkify" not in text and "raise ValueError" in text
    plain = load_module(pipeline.translate(source, "k.cu").text)
    for size in fits:
        x = jnp.arange(size, dtype=F)
        np.testing.assert_array_equal(checked.k(x, Y, 3), plain.k(x, Y, 3))
        assert checked.k(x[:0], Y, 0).tolist() == [0, 0, 0] or name == "a sum"
    for size in short:
        with pytest.raises(ValueError, match=r"k: x\[.*\] leaves the array"):
            checked.k(jnp.zeros(size, F), Y, 3)
    with pytest.raises(ValueError, match=r"k: y\[i\] leaves the array"):
        checked.k(jnp.zeros(9, F), Y[:2], 3)


PATHS = """def k(d, n):
    for m in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, m] + d[m, j] < d[i, j]:
                    d[i, j] = d[i, m] + d[m, j]
"""


def test_what_a_loop_relies_on_is_checked_in_its_rounds():
    checked, _ = module(PATHS, "k.py")
    d = jnp.array([[0.0, 5.0, 1.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert checked.k(d, 3)[0, 1] == 2
    for bad in (d - 1, d.at[0, 1].set(-6.0)):  # at once; after a round
        with pytest.raises(checkify.JaxRuntimeError, match=r"d\[m, m\] >= 0 for all m"):
            checked.k(bad, 3)


def test_verify_takes_what_is_relied_on_or_says_that_it_is_broken(tmp_path):
    done = pipeline.translate(PATHS, "k.py")
    (report,), problems = verified(done, pipeline.Request(gradients=False))
    assert report.ok and not problems
    case = tmp_path / "case.toml"
    case.write_text("[kernel.k.args]\nd = { shape = [3, 3], range = [-2.0, -1.0] }\nn = 3\n")
    reports, (problem,) = verified(done, pipeline.Request(case=str(case), gradients=False))
    assert not reports and problem.code == "KR502" and "d[m, m] >= 0 for all m" in problem.reason


def test_a_loop_that_checkify_cannot_enter_says_so():
    source = f"""__global__ void k(const int *next, const float *x, float *y, int n) {{
  {INDEX} if (i < n) {{ int at = i; float s = 0.0f; while (next[at] != at) {{ s += x[at]; at = next[at]; }}
  y[i] = s; }} }}"""
    _, text = module(source)
    assert "Not checked: that `next[at]`, `x[at]` stays inside" in text
