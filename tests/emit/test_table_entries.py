"""Entries of the module's tables at constant places: Python's numbers, and numbers where a window is written out."""

from kraise import pipeline
from tests.checks import agrees


def _verified(source, **request):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(gradients=False, **request))
    return done.text


def test_an_entry_of_another_type():
    source = """
__constant__ double w[3] = {0.1, 0.5, 0.25};
__constant__ int off[3] = {-1, 0, 3};
__global__ void f(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) y[i] = (float)w[0] * x[i - 1] + (float)off[2] * x[i + 1];
}"""
    text = _verified(source, shapes={"x": (9,), "y": (9,)}, values={"n": 9})
    assert "jnp.float32(w[0])" in text and ".astype" not in text


DIRECTIONS = """
__constant__ int ex[5] = {0, 1, 0, -1, 0};
__constant__ int ey[5] = {0, 0, 1, 0, -1};
__global__ void f(const float* u, float* rho, float* ux, %s int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    float r = 0, m = 0;
    for (int k = 0; k < 5; k++) {
        float v = u[k * nx * ny + (y - ey[k] + ny) %% ny * nx + (x - ex[k] + nx) %% nx];
        r += v;
        m += v * ex[k];
        %s
    }
    rho[y * nx + x] = r;
    ux[y * nx + x] = m;
}"""


def test_directions_of_a_table_are_rolls():
    text = _verified(DIRECTIONS % ("", ""), shapes={"u": (60,), "rho": (12,), "ux": (12,)}, values={"nx": 4, "ny": 3})
    assert text.count("jnp.roll(u3[1], 1, axis=1)") == 2 and "ex_2" not in text


def test_sums_of_what_a_variable_holds_are_not_written_out():
    source = DIRECTIONS % ("float* fi,", "fi[k * nx * ny + y * nx + x] = v * v + v;")
    shapes = {"u": (60,), "rho": (12,), "ux": (12,), "fi": (60,)}
    text = _verified(source, shapes=shapes, values={"nx": 4, "ny": 3})
    assert "rho2" in text or ".sum(axis=0)" in text
    assert text.count("roll") == 1 and "zip(jnp.unstack(v), ex)" in text  # the stack of rolls that the variable holds
