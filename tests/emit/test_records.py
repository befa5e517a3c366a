"""Structs by value: members that decide shapes are static fields, the others have derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

KERNEL = """
struct Settings { int nx, ny; float rate, spacing; int seed; };
__global__ void relax(const float *u, float *v, Settings s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j >= s.ny || i >= s.nx) return;
  v[j * s.nx + i] = u[j * s.nx + i] + s.rate * (u[j * s.nx + i - 1] - u[j * s.nx + i]) / s.spacing;
}
"""
HOST = """
void run(float *u, float *v, Settings s, int steps) {
  dim3 b(16, 16), g((s.nx + 15) / 16, (s.ny + 15) / 16);
  for (int t = 0; t < steps; t++) { relax<<<g, b>>>(u, v, s); relax<<<g, b>>>(v, u, s); }
}
"""
U = np.arange(12, dtype=np.float32) ** 2


def test_floats_beside_sizes_have_derivatives():
    text = pipeline.translate(KERNEL, "kernel.cu").text
    module = load_module(text)
    assert 'meta_fields=("nx", "ny")' in text and "static_argnames" not in text

    def total(rate):
        return jnp.sum(module.relax(U, jnp.zeros(12), module.Settings(4, 3, rate, 0.5, 1)))

    rows = U.reshape(3, 4)
    np.testing.assert_allclose(jax.grad(total)(0.1), np.sum(rows[:, :-1] - rows[:, 1:]) / 0.5, rtol=1e-6)


def test_hosts_pass_them_on():
    text = pipeline.translate(KERNEL + HOST, "kernel.cu").text
    assert 'static_argnames=("s_nx", "s_ny", "steps")' in text

    def total(rate):
        u, _ = load_module(text).run(U, jnp.zeros(12), 4, 3, rate, 0.5, 1, 2)
        return jnp.sum(u)

    step = 1e-2
    numeric = (total(0.1 + step) - total(0.1 - step)) / (2 * step)
    np.testing.assert_allclose(jax.grad(total)(0.1), numeric, rtol=1e-2)


def test_a_struct_without_sizes_is_any_tuple():
    source = KERNEL.replace("Settings s)", "Settings s, int nx, int ny)").replace("s.nx", "nx").replace("s.ny", "ny")
    text = pipeline.translate(source, "kernel.cu").text
    assert "class Settings" not in text and "(u, v, s, nx, ny)" in text


def test_members_with_the_names_of_arguments():
    source = (
        "struct Cell { float value; int name; float count; };\n"
        "__global__ void scale(Cell *c, int n, float a) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) { c[i].value *= a; c[i].name += 1; c[i].count = 2.0f; }\n}\n"
    )
    done = pipeline.translate(source, "kernel.cu")
    assert "c._replace(value=value, name=name, count=count)" in done.text
    ((report,), problems) = verified(done, pipeline.Request(shapes={"c": (5,)}, values={"n": 4}))
    assert report.ok and not problems


def test_structs_in_structs_and_arrays_of_them():
    source = (
        "struct Vec { float x, y; }; struct C { float re, im; };\n"
        "struct Part { Vec at; float m; C e[2][3]; };\n"
        "__global__ void move(Part *p, float dt, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i >= n) return;\n    p[i].at.x += dt * p[i].m;\n"
        "    for (int a = 0; a < 2; a++) for (int b = 0; b < 3; b++) p[i].e[a][b].im = -p[i].e[1 - a][b].re;\n}\n"
    )
    done = pipeline.translate(source, "kernel.cu")
    assert "p._replace(at=p.at._replace(x=x), e=p.e._replace(im=im))" in done.text
    ((report,), problems) = verified(done, pipeline.Request(gradients=False))
    assert report.ok and not problems
