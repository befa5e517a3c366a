"""Arrays of arrays (``float a[][M]``, ``float (*a)[N][M]``) and structs by value in CUDA C hosts, against NumPy."""

import numpy as np

from kraise import pipeline
from kraise.options import Options
from tests.hosts.test_hosts import agrees, codes

FLAT = """
#include <stdlib.h>
#define N 4
#define M 6
__global__ void scale(float *a, const float *b, float s, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (i < n && j < M) a[i * M + j] = s * b[i * M + j];
}
void f(float a[][M], const float b[N][M], float s, int n) {
    float *d_a, *d_b;
    cudaMalloc((void **)&d_a, n * M * sizeof(float));
    cudaMalloc((void **)&d_b, n * M * sizeof(float));
    cudaMemcpy(d_a, a, sizeof(float) * n * M, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof(float) * n * M, cudaMemcpyHostToDevice);
    scale<<<dim3(1, n), M>>>(d_a, d_b, s, n);
    cudaMemcpy(a, d_a, sizeof(float) * n * M, cudaMemcpyDeviceToHost);
}
void *room(size_t n, int size) {
    void *p = NULL;
    int wrong = posix_memalign(&p, 32, n * size);
    if (!p || wrong) exit(1);
    return p;
}
void init(float a[N][M], float *s) {
    *s = 3.0f;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) a[i][j] = i * 10.0f + j;
}
int main() {
    float (*a)[N][M];
    a = (float (*)[N][M])room(N * M, sizeof(float));
    float b[N][M], s;
    init(b, &s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) (*a)[i][j] = 0.0f;
    b[1][2] = 7.0f;
    f(*a, b, s, N);
    printf("%f", (*a)[0][1]);
    free((void *)a);
    return 0;
}
"""


def module(text, *only):
    done = pipeline.translate(text, "a.cu", Options(only=only))
    assert not codes(done), [str(d) for d in done.diagnostics]
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    return namespace, done


def rows(n, m, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 1, (n, m)).astype(np.float32)


def test_a_host_takes_and_gives_rows():
    space, done = module(FLAT, "f")
    a, b = rows(5, 6), rows(5, 6, 1)
    expected = np.concatenate([2 * b[:3], a[3:]])
    np.testing.assert_allclose(np.asarray(space["f"](a, b, 2.0, 3)), expected, rtol=1e-6)
    agrees(done, "f", a=a, b=b, s=np.float32(2), n=5)


def test_main_with_pointers_to_arrays():
    space, _ = module(FLAT, "main")
    expected = 3 * (np.arange(4)[:, None] * 10.0 + np.arange(6))
    expected[1, 2] = 21
    np.testing.assert_allclose(np.asarray(space["main"]()).reshape(4, 6), expected, rtol=1e-6)


ROWS = """
#define M 6
__global__ void twice(float (*a)[M], const float (*b)[M], int n) {
    int j = threadIdx.x, i = blockIdx.y;
    if (i < n && j < M) a[i][j] = 2.0f * b[i][j];
}
void f(float (*a)[M], const float *b, int n) {
    float (*d_a)[M], (*d_b)[M];
    cudaMalloc(&d_a, n * M * sizeof(float));
    cudaMalloc(&d_b, n * M * sizeof(float));
    cudaMemcpy(d_b, b, n * M * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<dim3(1, n), M>>>(d_a, d_b, n);
    twice<<<dim3(1, n - 1), M>>>(d_a + 1, d_b, n - 1);
    cudaMemcpy(a, d_a, n * M * sizeof(float), cudaMemcpyDeviceToHost);
    a[1][2] = a[0][3] + 1.0f;
}
"""


def test_kernels_that_take_rows():
    space, done = module(ROWS)
    a, b = rows(5, 6), rows(5, 6, 1).ravel()
    whole = 2 * b.reshape(5, 6)
    expected = np.concatenate([whole[:1], whole[:4]])
    expected[1, 2] = expected[0, 3] + 1
    np.testing.assert_allclose(np.asarray(space["f"](a, b, 5)), expected, rtol=1e-6)
    agrees(done, "f", a=a, b=b, n=5)


def test_flat_memory_for_a_kernel_of_rows_is_refused():
    text = ROWS.replace("twice<<<dim3(1, n), M>>>(d_a, d_b, n);", "twice<<<dim3(1, n), M>>>(d_a, b, n);")
    assert "KR211" in codes(pipeline.translate(text, "a.cu"))


def test_more_than_one_array_of_an_allocator_is_refused():
    text = FLAT.replace('printf("%f", (*a)[0][1]);', "a[1][0][0] = 1.0f;")
    assert "KR211" in codes(pipeline.translate(text, "a.cu", Options(only=("main",))))


STRUCT = """
struct Settings { int nx, ny; float h; };
struct Rates { float grow, fade; };
__global__ void lap(const float *u, float *l, Settings g) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < g.nx - 1 && j > 0 && j < g.ny - 1) {
        int c = j * g.nx + i;
        l[c] = (u[c - 1] + u[c + 1] - 2.0f * u[c]) / (g.h * g.h);
    }
}
__global__ void react(float *u, const float *l, Rates r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) u[i] += r.grow * l[i] - r.fade * u[i];
}
static void launch(const float *u, float *l, Settings g) {
    dim3 b(8, 8), grid((g.nx + 7) / 8, (g.ny + 7) / 8);
    lap<<<grid, b>>>(u, l, g);
}
void f(float *u, float *l, int nx, int ny, float h, float grow, int steps) {
    Settings g = {nx, ny, h};
    Rates r;
    r.grow = grow;
    r.fade = 0.5f * grow;
    for (int k = 0; k < steps; k++) {
        launch(u, l, g);
        react<<<1, 256>>>(u, l, r, nx * ny);
    }
}
"""


def test_structs_by_value():
    space, done = module(STRUCT)
    u, z = rows(5, 6).ravel(), np.zeros(30, np.float32)
    v, w = u.reshape(5, 6).astype(float), np.zeros((5, 6))
    for _ in range(3):
        w[1:-1, 1:-1] = (v[1:-1, :-2] + v[1:-1, 2:] - 2 * v[1:-1, 1:-1]) / 0.25
        v = v + 0.1 * w - 0.05 * v
    found = space["f"](u, z, 6, 5, 0.5, 0.1, 3)
    np.testing.assert_allclose(np.asarray(found[0]).reshape(5, 6), v, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(found[1]).reshape(5, 6), w, rtol=1e-4, atol=1e-4)
    agrees(done, "f", u=u, l=z, nx=6, ny=5, h=np.float32(0.5), grow=np.float32(0.1), steps=3)


POINTERS = """
    struct Field { float *p; int n; };
    struct Both { float *p, *q; int n; };
    __global__ void bump(Field f) { int i = threadIdx.x; if (i < f.n) f.p[i] += 1.0f; }
    __global__ void two(Both f) { int i = threadIdx.x; if (i < f.n) { f.p[i] += 1.0f; f.q[i] *= 2.0f; } }
    void f(float *x, int n) { Field q; q.p = x; q.n = n; bump<<<1, 32>>>(q); q.p = x + 2; q.n = 3; bump<<<1, 32>>>(q); }
    void g(float *x, float *y, int n) { Both q = {x, y, n}; two<<<1, 32>>>(q); }
"""


def test_a_struct_with_pointers_by_value():
    done = pipeline.translate(POINTERS, "a.cu")
    assert {"bump", "two", "f", "g"} == set(done.raised)
    agrees(done, "f", x=rows(3, 3).ravel(), n=9)


def test_a_struct_of_which_two_arrays_change():
    done = pipeline.translate(POINTERS, "a.cu")
    agrees(done, "g", x=rows(3, 3).ravel(), y=rows(3, 3).ravel(), n=9)
