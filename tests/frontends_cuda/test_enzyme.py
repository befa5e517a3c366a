"""Calls of Enzyme in a source: what they say, and what is not understood."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
int enzyme_dup, enzyme_dupnoneed, enzyme_out, enzyme_const, enzyme_tape, enzyme_allocated;
double __enzyme_autodiff(void *, ...);
void __enzyme_fwddiff(void *, ...);
void *__enzyme_augmentfwd(void *, ...);
void __enzyme_reverse(void *, ...);
double norm(double x, double y) { return sqrt(x * x + y * y); }
void scale(const double *w, double *y, double s, int n) {
    for (int i = 0; i < n; i++) y[i] = s * w[i] * w[i];
}
"""


def translated(call, signature="void caller(double *w, double *dw, double *y, double *dy, double s, double ds, int n)"):
    return pipeline.translate(f"{HEAD}{signature} {{ {call} }}\n", "k.c")


def module(call):
    done = translated(call)
    assert all(d.severity == "warning" for d in done.diagnostics), done.diagnostics
    return load_module(done.text), done


def test_out_arguments_of_a_function_that_returns():
    m, done = module("__enzyme_autodiff((void *)norm, enzyme_out, s, enzyme_const, ds);")
    value, slope = m.norm_grad(3.0, 4.0)
    assert np.allclose(value, 5.0) and np.allclose(slope, 0.6)
    assert [d.code for d in done.diagnostics] == ["KR109"] and "norm_grad" in done.diagnostics[0].reason


def test_without_words_the_types_tell():
    m, _ = module("__enzyme_autodiff((void *)norm, s, ds);")
    _, slopes = m.norm_grad(3.0, 4.0)
    assert np.allclose(slopes, (0.6, 0.8))
    m, done = module("__enzyme_autodiff(scale, w, dw, y, dy, s, n);")
    w_bar, s_bar = m.scale_vjp(jnp.array([1.0, 2.0]), jnp.zeros(2), 3.0, 2, jnp.array([1.0, 10.0]))
    assert np.allclose(w_bar, (6.0, 120.0)) and np.allclose(s_bar, 41.0)


def test_dup_is_active_and_const_is_not():
    m, _ = module("__enzyme_autodiff((void *)scale, enzyme_dup, w, dw, enzyme_dup, y, dy, enzyme_const, s, n);")
    w_bar = m.scale_vjp(jnp.array([1.0, 2.0]), jnp.zeros(2), 3.0, 2, jnp.ones(2))
    assert np.allclose(w_bar, (6.0, 12.0))


UNBOUNDED = """
void halve(const double *x, double *y, int n) {
    for (int i = 0; i < n; i++) {
        double v = x[i];
        while (v > 0.3) v = 0.5 * v - 0.01 * sqrt(v);
        y[i] = v;
    }
}
"""


def test_a_loop_without_a_bound_has_one_mode_at_a_time():
    """Forward mode is refused, and is there where the docstring says: in the loop's kind."""
    call = "void __enzyme_fwddiff(void *, ...); int enzyme_dup;"
    call += "void caller(double *x, double *dx, double *y, double *dy, int n) {"
    call += " __enzyme_fwddiff((void *)halve, enzyme_dup, x, dx, enzyme_dup, y, dy, n); }"
    (refused, *_) = pipeline.translate(UNBOUNDED + call, "k.c").diagnostics
    assert refused.code == "KR308" and "no forward mode" in refused.reason
    text = pipeline.translate(UNBOUNDED, "k.c").text
    assert 'give it kind="lax"' in text
    reverse, forward = (load_module(t) for t in (text, text.replace('kind="checkpointed"', 'kind="lax"')))
    x = jnp.array([0.1, 1.0, 3.0])
    slopes = jax.jacrev(lambda x: reverse.halve(x, jnp.zeros(3), 3))(x)
    np.testing.assert_allclose(jax.jacfwd(lambda x: forward.halve(x, jnp.zeros(3), 3))(x), slopes, rtol=1e-12)


def test_forward_mode():
    m, _ = module("__enzyme_fwddiff((void *)scale, enzyme_dup, w, dw, enzyme_dupnoneed, y, dy, enzyme_const, s, n);")
    tangent = m.scale_jvp(jnp.array([1.0, 2.0]), jnp.zeros(2), 3.0, 2, jnp.array([1.0, 0.0]))
    assert np.allclose(tangent, (6.0, 0.0))


def test_the_tape_is_jax_s():
    call = (
        "void *tape = __enzyme_augmentfwd((void *)scale, enzyme_dup, w, dw, enzyme_dup, y, dy, enzyme_const, s, n);"
        "__enzyme_reverse((void *)scale, enzyme_dup, w, dw, enzyme_dup, y, dy, enzyme_const, s, n, enzyme_tape, tape);"
    )
    m, _ = module(call)
    assert hasattr(m, "scale_vjp") and not hasattr(m, "scale_jvp")


def test_several_directions_at_once_are_a_vmap_of_the_derivative():
    m, _ = module(
        "__enzyme_fwddiff((void *)scale, enzyme_width, 2, enzyme_dup, w, dw, dw, enzyme_dup, y, dy, dy,"
        " enzyme_const, s, enzyme_const, n);"
    )
    tangents = jax.vmap(lambda d: m.scale_jvp(jnp.array([1.0, 2.0]), jnp.zeros(2), 3.0, 2, d)[1])
    assert np.allclose(tangents(jnp.eye(2)), [[6.0, 0.0], [0.0, 12.0]])


def test_a_pointer_to_the_derivative_names_its_function():
    m, done = module("void (*f)(double) = __enzyme_virtualreverse((void *)norm);")
    _, slopes = m.norm_grad(3.0, 4.0)
    assert np.allclose(slopes, (0.6, 0.8)) and "norm_grad" in done.diagnostics[0].reason


@pytest.mark.parametrize("name", ["__enzyme_register_gradient_norm[3]", "__enzyme_inactivefn[1]"])
def test_a_derivative_that_is_declared_is_not_used_and_that_is_said(name):
    source = f"void *{name} = {{(void *)norm, (void *)scale, (void *)scale}};\n"
    body = "double c(double a, double b) { return __enzyme_autodiff((void *)norm, a, b); }\n"
    for text in (HEAD + source + body, HEAD + body + source):
        done = pipeline.translate(text, "k.c")
        (said,) = (d for d in done.diagnostics if "is not used" in d.reason)
        assert said.code == "KR109" and said.severity == "warning" and "custom_vjp" in said.hint
        assert "norm_grad" in done.text


def test_the_user_s_own_words_win():
    from kraise.options import Options

    source = f"{HEAD}double caller(double a, double b) {{ return __enzyme_autodiff((void *)norm, a, b); }}\n"
    done = pipeline.translate(source, "k.c", Options(grad=("norm: loss=result wrt y",)))
    assert "with respect to y." in done.text and "norm_vjp" in done.text


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("__enzyme_autodiff((void *)unknown, s);", "names no function of this file"),
        ("__enzyme_autodiff((void *)norm, enzyme_out, s);", "fewer arguments"),
        ("__enzyme_autodiff((void *)norm, enzyme_out, s, enzyme_out, ds, n);", "more arguments"),
        ("__enzyme_autodiff((void *)scale, enzyme_dup, w);", "fewer arguments"),
        ("__enzyme_autodiff((void *)norm, enzyme_width, n, s, ds);", "after `enzyme_width` is not written out"),
        ("__enzyme_fwddiff((void *)norm, enzyme_width, 2, enzyme_dup, s, ds);", "fewer arguments"),
        ("__enzyme_batch((void *)norm, s);", "`__enzyme_batch` is not understood"),
    ],
)
def test_what_is_not_understood(call, reason):
    done = translated(call)
    found = [d for d in done.diagnostics if d.severity == "error"]
    assert [d.code for d in found] == ["KR109"] and reason in found[0].reason
    assert "_vjp" not in (done.text or "")


def test_a_device_function_that_asks_for_its_thread_is_launched():
    source = """
int enzyme_dup;
template <typename... T> __device__ void __enzyme_autodiff(void *, T...);
__device__ float at(const float *x, int i) { return x[i] * x[i]; }
__device__ void each(const float *x, float *y) { int i = threadIdx.x + blockIdx.x * blockDim.x; y[i] = at(x, i); }
__global__ void reverse(float *x, float *dx, float *y, float *dy) {
    __enzyme_autodiff((void *)each, enzyme_dup, x, dx, enzyme_dup, y, dy);
}
"""
    done = pipeline.translate(source, "k.cu")
    assert done.raised == ("each",) and done.source.function("each").kind == "kernel"
    assert "def each_vjp(x, y, y_bar, *, grid=None, block=None):" in done.text
