"""Arrays of structs in CUDA C hosts: an array for each member, put together for the launches."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
#include <utility>
#include <vector>
#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) exit(1); } while (0)
struct Body { float x, v; int hits; };
typedef struct { float4 place; float mass; } Star;
__global__ void move(Body *b, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i].x += dt * b[i].v;
}
__global__ void bounce(const Body *from, Body *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = from[i];
  if (b.x > 1.0f) { b.v = -b.v; b.hits++; }
  b.x += b.v;
  to[i] = b;
}
__global__ void spin(Body *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = p[i];
  b.x += b.v; b.v *= 0.5f; b.hits += 2;
  p[i] = b;
}
__global__ void pull(Star *s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s[i].place.x -= s[i].mass * s[i].place.w;
}
"""
N = 5
X, V = np.linspace(0.0, 2.0, N, dtype=np.float32), np.linspace(-0.5, 0.5, N, dtype=np.float32)
HITS = np.arange(N, dtype=np.int32)


def moved(x, v, hits):
    return [x + 0.5 * v, v, hits]


def bounced(x, v, hits, rounds=1):
    for _ in range(rounds):
        turn = x > 1
        v, hits = np.where(turn, -v, v), hits + turn
        x = x + v
    return [x, v, hits]


FUNCTIONS = {
    "a device copy": (
        "void f(Body *h, int n) { Body *d; cudaMalloc(&d, n * sizeof(Body));"
        " cudaMemcpy(d, h, n * sizeof(Body), cudaMemcpyHostToDevice); move<<<1, n>>>(d, 0.5f, n);"
        " cudaMemcpy(h, d, n * sizeof(Body), cudaMemcpyDeviceToHost); cudaFree(d); }",
        moved(X, V, HITS),
    ),
    "bytes by a name and a macro": (
        "void f(Body *h, int n) { Body *d; const size_t bytes = sizeof(Body) * n;"
        " CHECK(cudaMalloc((void **)&d, bytes));"
        " CHECK(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice)); move<<<1, n>>>(d, 0.5f, n);"
        " CHECK(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost)); CHECK(cudaFree(d)); }",
        moved(X, V, HITS),
    ),
    "buffers that change places": (
        "void f(Body *h, int n) { Body *a, *b; cudaMalloc(&a, n * sizeof(Body)); cudaMalloc(&b, n * sizeof(Body));"
        " cudaMemcpy(a, h, n * sizeof(Body), cudaMemcpyHostToDevice);"
        " for (int k = 0; k < 3; k++) { bounce<<<1, n>>>(a, b, n); std::swap(a, b); }"
        " cudaMemcpy(h, a, n * sizeof(Body), cudaMemcpyDeviceToHost); }",
        bounced(X, V, HITS, 3),
    ),
    "by a third pointer": (
        "void f(Body *h, int n) { Body *a = (Body *)malloc(n * sizeof(Body)), *b = (Body *)malloc(n * sizeof(Body));"
        " memcpy(a, h, n * sizeof(Body));"
        " for (int k = 0; k < 2; k++) { bounce<<<1, n>>>(a, b, n); Body *t = a; a = b; b = t; }"
        " memcpy(h, a, n * sizeof(Body)); free(a); free(b); }",
        bounced(X, V, HITS, 2),
    ),
    "vectors": (
        "void f(std::vector<Body> &h) { int n = h.size(); Body *d; cudaMalloc(&d, n * sizeof(Body));"
        " cudaMemcpy(d, h.data(), n * sizeof(Body), cudaMemcpyHostToDevice); move<<<1, n>>>(d, 0.5f, n);"
        " cudaMemcpy(h.data(), d, n * sizeof(Body), cudaMemcpyDeviceToHost); }",
        moved(X, V, HITS),
    ),
    "elements on the host": (
        "void f(Body *h, int n) { for (int i = 0; i < n; i++) { h[i].x *= 2; if (h[i].hits > 2) h[i].hits = 0; }"
        " move<<<1, n>>>(h, 0.5f, n); h[0].v = 7; h->hits = 9; }",
        [2 * X + 0.5 * V, np.r_[7, V[1:]], np.r_[9, HITS[1:3], 0, 0]],
    ),
    "a helper of the host": (
        "void halve(Body *b, int n) { for (int i = 0; i < n; i++) b[i].x /= 2; }"
        "void f(Body *h, int n) { halve(h, n); move<<<1, n>>>(h, 0.5f, n); }",
        moved(X / 2, V, HITS),
    ),
    "a part of them": (
        "void f(Body *h, int n) { move<<<1, 64>>>(h + 2, 0.5f, n - 2); }",
        [np.r_[X[:2], X[2:] + 0.5 * V[2:]], V, HITS],
    ),
    "another host function": (
        "void step(Body *b, int n) { move<<<1, n>>>(b, 0.25f, n); }"
        "void f(Body *h, int n) { for (int k = 0; k < 2; k++) step(h, n); }",
        moved(X, V, HITS),
    ),
    "all members in a loop": (
        "void f(Body *h, int n) { for (int k = 0; k < 2; k++) spin<<<1, n>>>(h, n); }",
        [X + 1.5 * V, 0.25 * V, HITS + 4],
    ),
    "elements as wholes": (
        "void f(Body *h, int n) { Body first = h[0]; h[0] = h[1]; h[1] = first; move<<<1, n>>>(h, 0.5f, n); }",
        moved(X[[1, 0, 2, 3, 4]], V[[1, 0, 2, 3, 4]], HITS[[1, 0, 2, 3, 4]]),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(name):
    source, expected = FUNCTIONS[name]
    result = pipeline.translate(HEAD + source, "host.cu")
    assert not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    f = load_module(result.text).f
    given = (X, V, HITS) if "vector" in source else (X, V, HITS, N)
    found = f(*given)
    found = found if isinstance(found, tuple) else (found,)
    changed = [e for e, before in zip(expected, (X, V, HITS), strict=True) if not np.array_equal(e, before)]
    expected = expected if len(found) == 3 else changed
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_vectors_in_structs():
    host = (
        "void f(Star *h, int n) { Star *d; cudaMalloc(&d, n * sizeof(Star));"
        " cudaMemcpy(d, h, n * sizeof(Star), cudaMemcpyHostToDevice); pull<<<1, n>>>(d, n);"
        " cudaMemcpy(h, d, n * sizeof(Star), cudaMemcpyDeviceToHost); }"
    )
    result = pipeline.translate(HEAD + host, "host.cu")
    assert not result.diagnostics, result.diagnostics
    place, mass = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([1, 2, 3], np.float32)
    found = load_module(result.text).f(place, mass, 3)
    expected = place.copy()
    expected[:, 0] -= mass * place[:, 3]
    np.testing.assert_allclose(found[0], expected)


REFUSED = {
    "a sort of structs": "void f(Body *h, int n) { std::sort(h, h + n, by_x); move<<<1, n>>>(h, 0.5f, n); }",
    "bytes of another type": (
        "void f(float *h, int n) { Body *d; cudaMalloc(&d, n * sizeof(float)); move<<<1, n>>>(d, 0.5f, n); }"
    ),
    "the same array twice": "void f(Body *h, int n) { bounce<<<1, n>>>(h, h, n); }",
    "another function that is given them": (
        "void fill(Body *h, int n); void f(Body *h, int n) { fill(h, n); move<<<1, n>>>(h, 0.5f, n); }"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    result = pipeline.translate(HEAD + REFUSED[name], "host.cu")
    assert "f" not in result.raised and any(d.kernel == "f" for d in result.diagnostics), result.text
    assert not {d.code for d in result.diagnostics} & {"KR900"}
