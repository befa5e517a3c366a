// Whole hosts of one signature, for test_compiled.py: g++ compiles them as they stand, kraise raises them.
#include <algorithm>
#include <array>
#include <assert.h>
#include <chrono>
#include <cuda_runtime.h>
#include <math.h>
#include <memory>
#include <numeric>
#include <iostream>
#include <stdio.h>
#include <stdexcept>
#include <stdlib.h>
#include <string.h>
#include <utility>
#include <vector>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)

__global__ void add(float *x, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}

__global__ void mix(const float *a, const float *b, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = a[i] + 0.25f * b[i];
}

__global__ void smooth(const float *u, float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) v[i] = 0.5f * u[i] + 0.25f * (u[i - 1] + u[i + 1]);
}

__global__ void block_sum(const float *x, float *part, int n) {
    __shared__ float s[4];
    int t = threadIdx.x, i = blockIdx.x * 4 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) part[blockIdx.x] = s[0];
}

__global__ void draw(float *x, unsigned seed, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seed;
    for (int j = 0; j < rounds; j++) s = s * 1103515245u + 12345u;
    x[i] = (s >> 16) % 100 / 100.0f;
}

void ping_pong(float *x, float *y, int n) {
    float *src = x, *dst = y;
    for (int k = 0; k < 5; k++) {
        smooth<<<(n + 63) / 64, 64>>>(src, dst, n);
        std::swap(src, dst);
    }
}

void three_buffers(float *x, float *y, int n) {
    float *a, *b, *c;
    CHECK(cudaMalloc((void **)&a, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&b, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&c, n * sizeof(float)));
    CHECK(cudaMemcpy(a, x, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, y, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(c, 0, n * sizeof(float)));
    for (int k = 0; k < 4; k++) {
        mix<<<1, 64>>>(a, b, c, n);
        float *t = a;
        a = b;
        b = c;
        c = t;
    }
    CHECK(cudaMemcpy(x, a, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(y, c, n * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(a); cudaFree(b); cudaFree(c);
}

void until_small(float *x, float *y, int n) {
    float largest = 1.0f;
    int rounds = 0;
    while (largest > 0.05f && rounds < 40) {
        smooth<<<1, 64>>>(x, y, n);
        largest = 0.0f;
        for (int i = 1; i < n - 1; i++) largest = fmaxf(largest, fabsf(y[i] - x[i]));
        for (int i = 1; i < n - 1; i++) x[i] = y[i];
        rounds++;
    }
    add<<<1, 64>>>(y, (float)rounds, n);
}

void two_launches(float *x, float *y, int n) {
    int blocks = (n + 3) / 4;
    float *part, *host = (float *)malloc(blocks * sizeof(float));
    cudaMalloc(&part, blocks * sizeof(float));
    block_sum<<<blocks, 4>>>(x, part, n);
    cudaMemcpy(host, part, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    float total = 0.0f;
    for (int b = 0; b < blocks; b++) total += host[b];
    add<<<1, 64>>>(y, total / n, n);
    cudaFree(part);
    free(host);
}

void side_of_check(float *x, float *y, int n) { int k = 0; CHECK((k++, cudaGetLastError())); add<<<1, 64>>>(x, 1.0f, n); }
void launch_behind_test(float *x, float *y, int n) { if (cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice) == cudaSuccess) add<<<1, 64>>>(y, 1.0f, n); }
void error_else(float *x, float *y, int n) { cudaError_t e = cudaMemcpy(y, x, 4 * sizeof(float), cudaMemcpyDeviceToDevice); if (e != cudaSuccess) { add<<<1, 64>>>(y, 100.0f, n); return; } else { add<<<1, 64>>>(y, 1.0f, n); } }
void error_and(float *x, float *y, int n) { cudaError_t e = cudaGetLastError(); if (e == cudaSuccess && n > 3) add<<<1, 64>>>(x, 1.0f, n); if (e != cudaSuccess || n > 30) add<<<1, 64>>>(y, 1.0f, n); }
void print_every(float *x, float *y, int n) { for (int k = 0; k < 5; k++) { add<<<1, 64>>>(x, 1.0f, n); if (k % 2 == 0) { cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToHost); float s = 0; for (int i = 0; i < n; i++) s += y[i]; printf("%d %f\n", k, s); } } }
void timed(float *x, float *y, int n) { auto t0 = std::chrono::high_resolution_clock::now(); add<<<1, 64>>>(x, 1.0f, n); auto t1 = std::chrono::high_resolution_clock::now(); double ms = std::chrono::duration<double, std::milli>(t1 - t0).count(); printf("%f", ms); }
void std_fill(float *x, float *y, int n) { std::fill(y, y + n, 2.0f); add<<<1, 64>>>(y, 1.0f, n); }
void std_copy(float *x, float *y, int n) { std::copy(x, x + 4, y + 1); add<<<1, 64>>>(y, 1.0f, n); }
void host_memory(float *x, float *y, int n) { memcpy(y, x, 5 * sizeof(float)); memset(x, 0, 3 * sizeof(float)); add<<<1, 64>>>(y, 1.0f, n); }
void overlapping_copy(float *x, float *y, int n) { memmove(y + 1, y, 5 * sizeof(float)); add<<<1, 64>>>(y, 1.0f, n); }
void accumulated(float *x, float *y, int n) { add<<<1, 64>>>(x, 1.0f, n); float s = std::accumulate(x, x + n, 0.0f); add<<<1, 64>>>(y, s, n); }
void largest(float *x, float *y, int n) { add<<<1, 64>>>(x, 1.0f, n); float s = *std::max_element(x, x + n); add<<<1, 64>>>(y, s, n); }
void sorted(float *x, float *y, int n) { std::sort(x, x + n); add<<<1, 64>>>(x, 1.0f, n); }
void chosen_by_size(float *x, float *y, int n) { float *p = n > 5 ? x : y; add<<<1, 64>>>(p, 1.0f, n); }
void chosen_by_data(float *x, float *y, int n) { float *p = x[0] > 0.0f ? x : y; add<<<1, 64>>>(p, 1.0f, n); }
void part_of_bytes(float *x, float *y, int n) { size_t m = n / 2 * sizeof(float); cudaMemcpy(y + 1, x, m, cudaMemcpyDeviceToDevice); add<<<1, 64>>>(y, 1.0f, n); }
void joined_memory(float *x, float *y, int n) { float *d; cudaMalloc(&d, 2 * n * sizeof(float)); cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice); cudaMemcpy(d + n, y, n * sizeof(float), cudaMemcpyHostToDevice); add<<<1, 64>>>(d + n / 2, 1.0f, n); cudaMemcpy(x, d, n * sizeof(float), cudaMemcpyDeviceToHost); cudaMemcpy(y, d + n, n * sizeof(float), cudaMemcpyDeviceToHost); }
void launch_by_data(float *x, float *y, int n) { for (int k = 0; k < 6; k++) { add<<<1, 64>>>(x, 1.0f, n); if (x[0] > 3.0f) add<<<1, 64>>>(y, 1.0f, n); } }
void counting_down(float *x, float *y, int n) { for (int k = n - 1; k >= 0; k -= 2) add<<<1, 64>>>(x, (float)k, n); }
void doubling(float *x, float *y, int n) { for (int k = 1; k < n; k *= 2) add<<<1, 64>>>(x, (float)k, n); }
void halving(float *x, float *y, int n) { for (int s = n; s > 1; s = (s + 1) / 2) add<<<1, 64>>>(x, 1.0f, s); }
void sizes_down(float *x, float *y, int n) { for (size_t k = n - 1; k < (size_t)n; k--) add<<<1, 64>>>(x, (float)k, n); for (unsigned k = 5; k < 9; k -= 2) add<<<1, 64>>>(y, (float)k, n); }
void round_by_while(float *x, float *y, int n) { unsigned k = n - 1; while (k < n) { add<<<1, 64>>>(x, (float)k, n); k--; } }
void unsigned_down(float *x, float *y, int n) { unsigned m = n; for (unsigned k = m; k-- > 0;) add<<<1, 64>>>(x, (float)k, n); }
void float_time(float *x, float *y, int n) { float t = 0.0f; while (t < 1.0f) { add<<<1, 64>>>(x, t, n); t += 0.1f; } }
void whole_float_time(float *x, float *y, int n) { float t = 0.0f; while (t < 3.5f) { add<<<1, 64>>>(x, t, n); t += 1.0f; } }
void double_time(float *x, float *y, int n) { double t = 0.0; int k = 0; while (t < 1.0) { add<<<1, 64>>>(x, (float)t, n); t += 0.1; k++; } y[0] = k; }
void truncating(float *x, float *y, int n) { int h = -n / 2; add<<<1, 64>>>(x, (float)h, n); add<<<1, 64>>>(y, (float)(-n % 4), n); }
void switched(float *x, float *y, int n) { for (int k = 0; k < 4; k++) switch (k) { case 0: add<<<1, 64>>>(x, 1.0f, n); break; case 1: case 2: add<<<1, 64>>>(y, 1.0f, n); break; default: add<<<1, 64>>>(x, 10.0f, n); } }
void falling_through(float *x, float *y, int n) { switch (n % 3) { case 0: add<<<1, 64>>>(x, 1.0f, n); case 1: add<<<1, 64>>>(x, 2.0f, n); } }
void by_macro(float *x, float *y, int n) { LAUNCH(add, n, x, 1.0f, n); LAUNCH(mix, n, x, y, y, n); }
void do_while(float *x, float *y, int n) { int k = 0; do { add<<<1, 64>>>(x, (float)k, n); k += 2; } while (k < n / 2); }
void left_early(float *x, float *y, int n) { for (int k = 0; k < 9; k++) { add<<<1, 64>>>(x, 0.5f, n); if (k == n % 5) break; if (k % 2) continue; add<<<1, 64>>>(y, 1.0f, n); } }
void left_by_data(float *x, float *y, int n) { for (int k = 0; k < 9; k++) { add<<<1, 64>>>(x, 0.5f, n); if (x[1] > 2.0f) break; add<<<1, 64>>>(y, 1.0f, n); } }
void returned_early(float *x, float *y, int n) { add<<<1, 64>>>(x, 1.0f, n); if (x[0] > 1.0f) return; add<<<1, 64>>>(y, 1.0f, n); }
void nested_swaps(float *x, float *y, int n) { float *a = x, *b = y; for (int k = 0; k < 3; k++) { for (int j = 0; j <= k; j++) { smooth<<<1, 64>>>(a, b, n); std::swap(a, b); } add<<<1, 64>>>(a, 1.0f, n); } }
void swap_by_data(float *x, float *y, int n) { float *a = x, *b = y; for (int k = 0; k < 4; k++) { smooth<<<1, 64>>>(a, b, n); if (b[2] > 0.0f) std::swap(a, b); } add<<<1, 64>>>(a, 1.0f, n); }
void offset_in_loop(float *x, float *y, int n) { for (int k = 0; k < n - 3; k += 3) add<<<1, 64>>>(x + k, (float)(k + 1), 3); }
void chunks(float *x, float *y, int n) { float *d; cudaMalloc(&d, 4 * sizeof(float)); for (int k = 0; k + 4 <= n; k += 4) { cudaMemcpyAsync(d, x + k, 4 * sizeof(float), cudaMemcpyHostToDevice, 0); add<<<1, 4>>>(d, (float)k, 4); cudaMemcpyAsync(x + k, d, 4 * sizeof(float), cudaMemcpyDeviceToHost, 0); } }
void stored_by_host(float *x, float *y, int n) { for (int k = 0; k < 4; k++) { x[k] = 2.0f * y[k]; add<<<1, 64>>>(y, x[k], n); } }
void vectors(float *x, float *y, int n) { std::vector<float> w(n, 2.0f), z = {1.0f, 3.0f, 5.0f}; float *d; cudaMalloc(&d, n * sizeof(float)); cudaMemcpy(d, w.data(), n * sizeof(float), cudaMemcpyHostToDevice); cudaMemcpy(d + 2, &z[0], z.size() * sizeof(float), cudaMemcpyHostToDevice); mix<<<1, 64>>>(x, d, x, n); }

void by_parity(float *x, float *y, int n) { for (int k = 0; k < n; ++k) smooth<<<1, 64>>>(k % 2 ? y : x, k % 2 ? x : y, n); }
void by_remainder(float *x, float *y, int n) { for (int k = 0; k < n; ++k) { float *a = k % 2 == 1 ? y : x, *b = k % 2 == 1 ? x : y; smooth<<<1, 64>>>(a, b, n); } }
void by_remainder_below_zero(float *x, float *y, int n) { for (int k = -3; k < n; ++k) smooth<<<1, 64>>>(k % 2 == 1 ? y : x, k % 2 == 1 ? x : y, n); }
void by_flag(float *x, float *y, int n) { int cur = 0; for (int k = 1; k <= n; ++k) { smooth<<<1, 64>>>(cur ? y : x, cur ? x : y, n); cur = !cur; } add<<<1, 64>>>(cur == 0 ? x : y, 1.0f, n); }
void by_value(float *x, float *y, int n) { for (int k = 0; k < 4; k++) { float *a = x[0] > y[0] ? x : y, *b = x[0] > y[0] ? y : x; smooth<<<1, 64>>>(a, b, n); } cudaMemcpy(y, x[1] > 0.0f ? x : y + 2, 4 * sizeof(float), cudaMemcpyDeviceToDevice); add<<<1, 64>>>(y, 1.0f, n); }
void own_generator(float *x, float *y, int n) { unsigned seed = 12345u; for (int i = 0; i < n; i++) { seed = seed * 1103515245u + 12345u; x[i] = (seed >> 16) % 100 / 100.0f; } seed = seed * 1664525u + 1013904223u; add<<<1, 64>>>(x, (seed >> 8) / 16777216.0f, n); }
void hashed(float *x, float *y, int n) { unsigned h = 2166136261u; for (int i = 0; i < n; i++) { h ^= i; h *= 16777619u; add<<<1, 64>>>(x, (h >> 20) / 4096.0f, n); if (h & 1u) h += 3u; else h = 77u; } unsigned m = n * 2654435761u; int b = m >> 28; for (int i = 0; i < b; i++) add<<<1, 64>>>(y, 1.0f, n); }
void narrow(float *x, float *y, int n) { short a = 32000; for (int i = 0; i < 3; i++) { a += 500; add<<<1, 64>>>(x, (float)a / 1000.0f, n); } unsigned char c = 200; c = c * 2; add<<<1, 64>>>(y, (float)c, n); }
void from_seed(float *x, float *y, int n) { draw<<<1, 64>>>(x, 12345u, n, 3); draw<<<1, 64>>>(y, 4000000000u, n, 2); unsigned s = 1; for (int i = 0; i < n; i++) { draw<<<1, 64>>>(y, s, n, 2); s = s * 1664525u + 1013904223u; } }
void steps_behind_a_gate(float *x, float *y, int n) { float r = 1e9f, old = 0; int it = 0; while (fabsf(r - old) > 1e-1f && it++ < 5) { old = r; smooth<<<1, 64>>>(x, y, n); cudaMemcpy(x, y, n * sizeof(float), cudaMemcpyDeviceToDevice); r = 0; for (int i = 0; i < n; i++) r += x[i]; } add<<<1, 64>>>(y, it, n); }
void steps_at_the_end(float *x, float *y, int n) { float err; int it = 0; do { smooth<<<1, 64>>>(x, y, n); err = 0.0f; for (int i = 1; i < n - 1; i++) err = fmaxf(err, fabsf(x[i] - y[i])); std::swap(x, y); } while (err > 0.2f && ++it < 5); add<<<1, 64>>>(x, it, n); int k = 3; do add<<<1, 64>>>(x, k, n); while (k-- > 0 && n > 3); add<<<1, 64>>>(x, k, n); }
void steps_after_the_test(float *x, float *y, int n) { int it = 0; do { add<<<1, 64>>>(x, it, n); } while (it++ < 4); add<<<1, 64>>>(y, it, n); int k = 5; while (k > 2 && n-- > 10) add<<<1, 64>>>(y, k, n); add<<<1, 64>>>(x, n, 3); }
void each_element(float *x, float *y, int n) { std::vector<float> h(n); cudaMemcpy(h.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost); float s = 0; for (float v : h) s += v; for (auto &v : h) v *= 0.5f; for (const auto &v : h) { s += v; if (v > 0.5f) s += 1.0f; } mix<<<1, 64>>>(x, y, y, n); cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice); float a[3] = {1, 2, 3}; for (float t : a) add<<<1, 64>>>(x, s + t, n); }
void pushed(float *x, float *y, int n) { std::vector<float> h; h.reserve(n); for (int i = 0; i < n; i++) h.push_back(i * 2.0f); float *d; cudaMalloc(&d, n * sizeof(float)); cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice); mix<<<1, 64>>>(d, x, y, n); std::vector<float> w; w.push_back(1.0f); w.push_back(n * 0.1f); for (float s : w) add<<<1, 64>>>(x, s, n); }
void logged(float *x, float *y, int n) { std::vector<float> log; for (int k = 2; k < 7; ++k) { add<<<1, 64>>>(x, 0.5f, n); float h; cudaMemcpy(&h, x, sizeof(float), cudaMemcpyDeviceToHost); log.push_back(h); } for (size_t i = 0; i < log.size(); i++) y[i] = log[i]; add<<<1, 64>>>(y, 1.0f, (int)log.size()); }
void listed_steps(float *x, float *y, int n) { int steps[] = {3, 1, 2}; int total = 0; for (int s = 0; s < 3; ++s) for (int t = 0; t < steps[s]; ++t) { add<<<1, 64>>>(x, 0.25f * s, n); total++; } add<<<1, 64>>>(y, total, n); }
void without_a_head(float *x, float *y, int n) { int k = 0; for (;;) { if (k >= 4) break; add<<<1, 64>>>(x, k, n); k += 1; } float t = 0; for (; t < 1.0f; t += 0.125f) { smooth<<<1, 64>>>(x, y, n); std::swap(x, y); } add<<<1, 64>>>(x, t, n); }

static void grow(float &s) { s = s * 2.0f + 1.0f; }
void by_reference(float *x, float *y, int n) { float s = 1.0f; grow(s); grow(s); add<<<1, 64>>>(x, s, n); }

static void make(float **p, int n) { cudaMalloc(p, n * sizeof(float)); cudaMemset(*p, 0, n * sizeof(float)); }
void made_by_helper(float *x, float *y, int n) { float *d; make(&d, n); add<<<1, 64>>>(d, 3.0f, n); mix<<<1, 64>>>(d, x, y, n); }

static void exchange(float **a, float **b) { float *t = *a; *a = *b; *b = t; }
void swapped_by_helper(float *x, float *y, int n) { float *a = x, *b = y; exchange(&a, &b); add<<<1, 64>>>(a, 1.0f, n); }

template <typename T> void run(T *p, int n) { add<<<1, 64>>>(p, 2.0f, n); }
void by_template(float *x, float *y, int n) { run<float>(x, n); run<float>(y, n); }

template <int R> void repeat(float *p, int n) { for (int k = 0; k < R; k++) add<<<1, 64>>>(p, 2.0f * k, n); }
void by_integers(float *x, float *y, int n) { repeat<3>(x, n); repeat<2>(y, n); }

static void often(float *p, int n, float s = 7.0f) { add<<<1, 64>>>(p, s, n); }
void by_default(float *x, float *y, int n) { often(x, n); often(y, n, 3.0f); }

static float norm(const float *d, int n) { float *h = (float *)malloc(n * sizeof(float)); cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost); float s = 0; for (int i = 0; i < n; i++) s += h[i] * h[i]; free(h); return sqrtf(s); }
void by_norm(float *x, float *y, int n) { float m = norm(x, n); for (int k = 0; k < 3; k++) { add<<<1, 64>>>(x, 1.0f / (1.0f + m), n); m = norm(x, n); } }

struct Fields { float *a, *b; int n; float dt; };
static void setup(Fields *s, const float *x, int n) { s->n = n; s->dt = 0.5f; cudaMalloc(&s->a, n * sizeof(float)); cudaMalloc(&s->b, n * sizeof(float)); cudaMemcpy(s->a, x, n * sizeof(float), cudaMemcpyHostToDevice); cudaMemset(s->b, 0, n * sizeof(float)); }
static void advance(Fields *s) { mix<<<(s->n + 63) / 64, 64>>>(s->a, s->b, s->b, s->n); add<<<1, 64>>>(s->a, s->dt, s->n); float *t = s->a; s->a = s->b; s->b = t; }
void fields(float *x, float *y, int n) { Fields s; setup(&s, x, n); for (int k = 0; k < 3; k++) advance(&s); cudaMemcpy(x, s.a, n * sizeof(float), cudaMemcpyDeviceToHost); cudaFree(s.a); }

cudaError_t cleaned_up(float *x, float *y, int n) {
    float *d = 0;
    cudaError_t status = cudaSetDevice(0);
    if (status != cudaSuccess) { fprintf(stderr, "no device"); goto done; }
    status = cudaMalloc((void **)&d, n * sizeof(float));
    if (status != cudaSuccess) goto done;
    status = cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice);
    if (status != cudaSuccess) { fprintf(stderr, "no copy"); goto done; }
    mix<<<1, n>>>(d, x, y, n);
    status = cudaDeviceSynchronize();
    if (status != cudaSuccess) goto done;
done:
    cudaFree(d);
    return status;
}

float with_result(float *x, float *y, int n) {
    mix<<<1, 64>>>(x, y, y, n);
    float s = 0.0f;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

// What is refused: each of these would be another function if it were raised without what is not known.
void by_clock(float *x, float *y, int n) { clock_t t0 = clock(); add<<<1, 64>>>(x, 1.0f, n); float ms = (clock() - t0); if (ms < 1e9f) add<<<1, 64>>>(x, 1.0f, n); }
void by_input(float *x, float *y, int n) { float s; scanf("%f", &s); add<<<1, 64>>>(x, s, n); }
void by_state(float *x, float *y, int n) { static int calls = 0; calls++; add<<<1, 64>>>(x, (float)calls, n); }
void backwards(float *x, float *y, int n) { int k = 0; again: add<<<1, 64>>>(x, 1.0f, n); if (++k < 3) goto again; }
void odd_bytes(float *x, float *y, int n) { cudaMemcpy(y, x, 7, cudaMemcpyDeviceToDevice); add<<<1, 64>>>(y, 1.0f, n); }
void pushed_by_data(float *x, float *y, int n) { std::vector<float> v; for (int i = 0; i < n; i++) if (x[i] > 0) v.push_back(x[i]); add<<<1, 64>>>(x, (float)v.size(), n); }
void pushed_twice(float *x, float *y, int n) { std::vector<float> v; for (int i = 0; i < n; i++) v.push_back(x[i]); for (int i = 0; i < n; i++) v.push_back(y[i]); add<<<1, 64>>>(x, v[n], n); }
void pushed_on_the_way(float *x, float *y, int n) { std::vector<float> v; for (int i = 0; i < n; i++) { if (i == 3) continue; v.push_back(x[i]); } add<<<1, 64>>>(x, v[3], n); }

// --- objects and lambdas

struct Sim {
    float *d_u, *d_v;
    int n;
    Sim(const float *h, int n_) : n(n_) {
        CHECK(cudaMalloc(&d_u, n * sizeof(float)));
        CHECK(cudaMalloc(&d_v, n * sizeof(float)));
        CHECK(cudaMemcpy(d_u, h, n * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_v, h, n * sizeof(float), cudaMemcpyHostToDevice));
    }
    ~Sim() { cudaFree(d_u); cudaFree(d_v); }
    void step() {
        smooth<<<(n + 63) / 64, 64>>>(d_u, d_v, n);
        std::swap(d_u, d_v);
    }
    void get(float *h) { cudaMemcpy(h, d_u, n * sizeof(float), cudaMemcpyDeviceToHost); }
};

void an_object(float *x, float *y, int n) {
    Sim sim(x, n);
    for (int i = 0; i < 5; ++i) sim.step();
    sim.get(y);
}

template <typename T> struct DeviceBuffer {
    T *ptr; size_t size;
    explicit DeviceBuffer(size_t n) : size(n) { cudaMalloc(&ptr, n * sizeof(T)); }
    ~DeviceBuffer() { cudaFree(ptr); }
    void upload(const T *h) { cudaMemcpy(ptr, h, size * sizeof(T), cudaMemcpyHostToDevice); }
    void download(T *h) const { cudaMemcpy(h, ptr, size * sizeof(T), cudaMemcpyDeviceToHost); }
    T *data() { return ptr; }
};
void owners(float *x, float *y, int n) {
    DeviceBuffer<float> a(n), b(n);
    a.upload(x);
    b.upload(y);
    mix<<<(n + 63) / 64, 64>>>(a.data(), b.data(), b.data(), n);
    b.download(y);
}

void lambdas(float *x, float *y, int n) {
    auto blocks = [](int n, int t) { return (n + t - 1) / t; };
    auto step = [&](float *src, float *dst) { smooth<<<blocks(n, 64), 64>>>(src, dst, n); };
    for (int k = 0; k < 3; ++k) { step(x, y); step(y, x); }
}
void captured_before(float *x, float *y, int n) {
    float s = 1.0f;
    auto bump = [=](float *p) { add<<<1, 64>>>(p, s, n); };
    s = 5.0f;
    bump(x);
}
void captured_elsewhere(float *x, float *y, int n) {
    float s = 1.0f;
    auto bump = [&](float *p) { add<<<1, 64>>>(p, s, n); };
    for (int k = 0; k < 2; k++) { float s = 3.0f; bump(x); add<<<1, 64>>>(y, s, n); }
}
void lambda_swaps(float *x, float *y, int n) {
    float *a = x, *b = y;
    auto advance = [&]() { smooth<<<(n + 63) / 64, 64>>>(a, b, n); std::swap(a, b); };
    for (int k = 0; k < 5; k++) advance();
    add<<<1, 64>>>(a, 1.0f, n);
}
void lambda_counts(float *x, float *y, int n) {
    auto rep = [&](float *p, int times, float s) { while (times > 0) { add<<<1, 64>>>(p, s, n); times--; } };
    int t = 3;
    rep(x, t, 0.5f);
    rep(y, t, 2.0f * t);
}
class Wave {
public:
    Wave(int n, float c = 0.5f) : n_(n), c_(c), cur_(0) {
        for (int i = 0; i < 2; i++) CHECK(cudaMalloc(&d_[i], n * sizeof(float)));
    }
    ~Wave() { for (int i = 0; i < 2; i++) cudaFree(d_[i]); }
    void init(const float *a, const float *b) {
        cudaMemcpy(d_[0], a, n_ * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_[1], b, n_ * sizeof(float), cudaMemcpyHostToDevice);
    }
    void step() {
        mix<<<(n_ + 63) / 64, 64>>>(d_[cur_], d_[1 - cur_], d_[1 - cur_], n_);
        cur_ = 1 - cur_;
        ++count_;
    }
    void run(int steps) { for (int k = 0; k < steps; k++) this->step(); }
    float *current() { return d_[cur_]; }
    int count() const { return count_; }
private:
    float *d_[2];
    int n_;
    float c_;
    int cur_;
    int count_ = 0;
};
float wave_object(float *x, float *y, int n) {
    Wave w(n);
    w.init(x, y);
    w.run(4);
    w.step();
    cudaMemcpy(y, w.current(), n * sizeof(float), cudaMemcpyDeviceToHost);
    return w.count();
}
struct Saver {
    float *d, *h; int n;
    Saver(float *h_, int n_) : h(h_), n(n_) { cudaMalloc(&d, n * sizeof(float)); cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice); }
    ~Saver() { cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost); cudaFree(d); }
};
void saved_at_the_end(float *x, float *y, int n) {
    Saver s(x, n);
    add<<<1, 64>>>(s.d, 1.0f, n);
}
struct Two {
    float *a; float *b; int n;
    Two(float *p, float *q, int m) { a = p; b = q; n = m; }
    void flip() { float *t = a; a = b; b = t; }
    float energy() {
        float *h = (float *)malloc(n * sizeof(float));
        cudaMemcpy(h, a, n * sizeof(float), cudaMemcpyDeviceToHost);
        float s = 0;
        for (int i = 0; i < n; i++) s += h[i] * h[i];
        free(h);
        return s;
    }
    void scale_all(float f) { add<<<1, 64>>>(a, f, n); add<<<1, 64>>>(b, -f, n); }
};
float two_objects(float *x, float *y, int n) {
    Two p(x, y, n), q(y, x, n);
    p.flip();
    p.scale_all(1.0f);
    float e = p.energy();
    q.scale_all(e * 0.01f);
    float f = q.energy();
    return e + f;
}
void apply(Two &t, int times) { for (int i = 0; i < times; i++) { t.flip(); t.scale_all(0.5f); } }
void object_by_reference(float *x, float *y, int n) {
    Two p(x, y, n);
    apply(p, 3);
    smooth<<<1, 64>>>(p.a, p.b, n);
}
struct Base { int n; float s; Base(int n_) : n(n_), s(0.25f) {} void work(float *p) { add<<<1, 64>>>(p, s, n); } };
struct Derived : Base { Derived(int m) : Base(m) { s = 2.0f; } };
void derived_object(float *x, float *y, int n) { Derived d(n); d.work(x); }
enum Mode { PLAIN = 0, TWICE = 2 };
typedef enum { FIRST = 1, SECOND = 5 } Kind;
void enumerators(float *x, float *y, int n) {
    Mode m = TWICE; Kind k = SECOND;
    for (int i = 0; i < m; i++) add<<<1, 64>>>(x, (float)k, n);
    if (m == TWICE) add<<<1, 64>>>(y, 1.0f, n);
}
void steps_in_a_test(float *x, float *y, int n) {
    int k = 0;
    for (int i = 0; i < 6; i++) { if (++k % 3 == 0) add<<<1, 64>>>(x, 1.0f, n); }
    add<<<1, 64>>>(y, (float)k, n);
}
template <typename T> class Buf {
    T *p_; size_t n_;
public:
    Buf(size_t n) : p_(nullptr), n_(n) { cudaMalloc((void **)&p_, bytes()); }
    ~Buf() { if (p_) cudaFree(p_); }
    size_t bytes() const { return n_ * sizeof(T); }
    T *get() const { return p_; }
    void from(const T *h) { CHECK(cudaMemcpy(p_, h, bytes(), cudaMemcpyHostToDevice)); }
    void to(T *h) const { CHECK(cudaMemcpy(h, p_, bytes(), cudaMemcpyDeviceToHost)); }
};
void buffer_objects(float *x, float *y, int n) {
    Buf<float> a(n), b(n);
    a.from(x);
    b.from(y);
    for (int i = 0; i < 3; i++) {
        smooth<<<(n + 63) / 64, 64>>>(a.get(), b.get(), n);
        smooth<<<(n + 63) / 64, 64>>>(b.get(), a.get(), n);
    }
    a.to(x);
}
void bump_ref(int &k, float *p, int n) { add<<<1, 64>>>(p, (float)k, n); k++; }
float counted_by_reference(float *x, float *y, int n) {
    int k = 0;
    for (int i = 0; i < 4; i++) bump_ref(k, x, n);
    return k;
}

struct Logged { std::vector<std::vector<float>> h; float *d; int n; void step() { h.push_back({}); add<<<1, 64>>>(d, 1.0f, n); } };
void unknown_object(float *x, float *y, int n) {
    Logged s;
    s.d = x; s.n = n;
    s.step();
    add<<<1, 64>>>(y, 1.0f, n);
}

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

template <typename T>
__global__ void axpy_t(const T *x, T *y, T a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

template <typename T, int B>
__global__ void block_sum_t(const T *x, T *part, int n) {
    __shared__ T s[B];
    int t = threadIdx.x, i = blockIdx.x * B + t;
    s[t] = i < n ? x[i] : T(0);
    __syncthreads();
    for (int k = B / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) part[blockIdx.x] = s[0];
}

// drivers that are templates, called with explicit arguments and inside expressions
template <typename T, int BLOCK>
T sum_driver(const T *d_x, int n) {
    int blocks = CEIL_DIV(n, BLOCK);
    T *d_part;
    CHECK(cudaMalloc(&d_part, blocks * sizeof(T)));
    block_sum_t<T, BLOCK><<<blocks, BLOCK>>>(d_x, d_part, n);
    std::vector<T> h(blocks);
    CHECK(cudaMemcpy(h.data(), d_part, blocks * sizeof(T), cudaMemcpyDeviceToHost));
    T total = 0;
    for (int i = 0; i < blocks; i++) total += h[i];
    CHECK(cudaFree(d_part));
    return total;
}

float driver_of_template(float *x, float *y, int n) {
    float s = sum_driver<float, 4>(x, n);
    add<<<CEIL_DIV(n, 32), 32>>>(y, s, n);
    return sum_driver<float, 8>(y, n) / n;
}

template <typename T, int N>
T scaled(float *x, T s, int n) {
    T half = s / N;
    add<<<1, 64>>>(x, (float)half, n);
    return half;
}

float driver_of_two_types(float *x, float *y, int n) {
    int a = scaled<int, 2>(x, 7, n);
    float b = scaled<float, 4>(y, 7, n);
    return a + b + scaled<float, 2>(y, 3, n);
}

float calls_in_tests(float *x, float *y, int n) {
    int k = 0;
    do { k++; } while (scaled<float, 2>(x, 1, n) > 0.1f && k < 5);
    for (int i = 0; k < 8 && scaled<float, 2>(y, i, n) < 1.2f; i++) k += i;
    if (n > 3 && scaled<float, 2>(x, 1, n) > 0.1f) k += 10;
    while (sum_driver<float, 4>(x, n) < 40.0f && k < 30) {
        k++;
        if (k % 3 == 0) continue;
        add<<<1, 64>>>(x, 0.5f, n);
    }
    return k;
}

struct Freed { void operator()(float *p) const { cudaFree(p); } };
using device_ptr = std::unique_ptr<float[], Freed>;
device_ptr make_device(int n) {
    float *p = nullptr;
    CHECK(cudaMalloc(&p, n * sizeof(float)));
    return device_ptr(p);
}

void smart_pointers(float *x, float *y, int n) {
    auto tmp = make_device(n);
    cudaMemcpy(tmp.get(), x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    smooth<<<CEIL_DIV(n, 32), 32>>>(tmp.get(), y, n);
    std::unique_ptr<float[]> h(new float[n]);
    auto zeros = std::make_unique<float[]>(n);
    cudaMemcpy(h.get(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) zeros[i] += h[i] * 2.0f;
    cudaMemcpy(x, zeros.get(), n * sizeof(float), cudaMemcpyHostToDevice);
}


template <class T> class Buffer {
  public:
    explicit Buffer(size_t n) : n_(n) { CHECK(cudaMalloc(&p_, n * sizeof(T))); }
    ~Buffer() { cudaFree(p_); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    T *data() { return p_; }
    const T *data() const { return p_; }
    size_t size() const { return n_; }
    void upload(const T *h) { CHECK(cudaMemcpy(p_, h, n_ * sizeof(T), cudaMemcpyHostToDevice)); }
    void download(T *h) const { CHECK(cudaMemcpy(h, p_, n_ * sizeof(T), cudaMemcpyDeviceToHost)); }
    operator T *() { return p_; }
  private:
    T *p_ = nullptr;
    size_t n_;
};
void buffers_by_class(float *x, float *y, int n) {
    Buffer<float> a(n), b(n);
    a.upload(x);
    b.upload(y);
    for (int t = 0; t < 4; ++t) {
        axpy_t<float><<<CEIL_DIV(n, 64), 64>>>(a.data(), b.data(), 0.1f, n);
        smooth<<<CEIL_DIV(a.size(), 64), 64>>>(b, a, (int)a.size());
    }
    a.download(x);
    b.download(y);
}


void array_of_pointers(float *x, float *y, int n) {
    std::array<float *, 3> buf;
    for (auto &p : buf) cudaMalloc(&p, n * sizeof(float));
    cudaMemcpy(buf[0], x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(buf[1], y, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(buf[2], 0, n * sizeof(float));
    for (int t = 0; t < 5; t++) {
        mix<<<CEIL_DIV(n, 128), 128>>>(buf[t % 3], buf[(t + 1) % 3], buf[(t + 2) % 3], n);
    }
    cudaMemcpy(x, buf[0], n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, buf[1], n * sizeof(float), cudaMemcpyDeviceToHost);
    for (auto p : buf) cudaFree(p);
}


typedef void (*Kernel)(const float *, float *, int);
static void launched(Kernel k, const float *a, float *b, int n) { k<<<CEIL_DIV(n, 64), 64>>>(a, b, n); }
void kernel_by_pointer(float *x, float *y, int n) {
    launched(smooth, x, y, n);
    launched(smooth, y, x, n);
}

int place_of_the_largest(float *x, float *y, int n) {
    smooth<<<CEIL_DIV(n, 32), 32>>>(x, y, n);
    float best = -1e30f;
    int where = -1;
    for (int i = 0; i < n; i++) if (y[i] > best) { best = y[i]; where = i; }
    x[0] = best;
    return where;
}

void references(float *x, float *y, int n) {
    std::vector<float> h(n);
    cudaMemcpy(h.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    auto &r = h[2];
    r = 3.0f;
    float &first = h[0];
    for (int i = 1; i < n; i++) first += h[i];
    int m = n;
    int &less = m;
    less = 5;
    cudaMemcpy(y, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(y, 1.0f, m);
}

void moving_reference(float *x, float *y, int n) {
    int k = 2;
    float &r = x[k];
    k = 4;
    r = 3.0f;
    add<<<1, 64>>>(y, 1.0f, n);
}

void not_a_number(float *x, float *y, int n) {
    float half = 1.0f / 2;
    if (!(half > 0.1f)) add<<<1, 64>>>(x, 1.0f, n);
    for (int i = 0; i < 5; i++) { if (!(half * i < 1.0f)) break; add<<<1, 64>>>(y, 1.0f, n); half += 0.1f; }
    bool go = true;
    int k = 0;
    while (go) { add<<<1, 64>>>(y, 1.0f, n); k++; go = !(half > 5.0f) && k < 3; if (!go) break; add<<<1, 64>>>(x, 1.0f, n); }
}

struct Stepped { float *a; int k; };
static int early_step(Stepped *s, float t, int n) {
    if (n < 3) return -1;
    add<<<1, 64>>>(s->a, t, n);
    if (t > 2.0f) {
        s->k++;
        return 2;
    } else if (t > 1.0f) { s->k += 10; }
    add<<<1, 64>>>(s->a, 1.0f, n);
    return s->k > 3 ? 5 : 4;
}
static double half_of(Stepped *s, int n) { add<<<1, 64>>>(s->a, 1.0f, n); if (n > 20) return s->k / 2; return 1.5; }
float early_returns(float *x, float *y, int n) {
    Stepped s = {x, 2};
    int r = early_step(&s, 0.5f, n) + early_step(&s, 1.5f, n);
    r += early_step(&s, 2.5f, n);
    s.a = y;
    r += early_step(&s, 0.1f, n);
    early_step(&s, 0.1f, 2);
    int q = half_of(&s, n);
    return r + 100 * s.k + q;
}

template <typename T>
__global__ void add_half(float *x, T s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T half = s / 2;
    if (i < n) x[i] += half;
}

void kernel_of_two_types(float *x, float *y, int n) {
    add_half<float><<<1, 64>>>(x, 3.0f, n);
    add_half<int><<<1, 64>>>(y, 3, n);
}

class Ring {
public:
    Ring(const float *h, int n, float rate = 0.5f);
    ~Ring();
    void step(int rounds = 1);
    void step_by(float s) { add<<<1, 64>>>(u_, s * rate_, n_); }
    void store(float *h) const;
    float spent() const;
private:
    void turn() { float *t = u_; u_ = v_; v_ = t; }
    float *u_, *v_, rate_, spent_ = 1.0f;
    int n_;
};
Ring::Ring(const float *h, int n, float rate) : rate_(rate), n_(n) {
    if (cudaMalloc(&u_, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("no memory");
    cudaMalloc(&v_, n * sizeof(float));
    cudaMemcpy(u_, h, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(v_, u_, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
Ring::~Ring() { cudaFree(u_); cudaFree(v_); }
void Ring::step(int rounds) {
    for (int r = 0; r < rounds; r++) {
        smooth<<<(n_ + 63) / 64, 64>>>(u_, v_, n_);
        turn();
        spent_ += rate_;
    }
}
void Ring::store(float *h) const { cudaMemcpy(h, u_, n_ * sizeof(float), cudaMemcpyDeviceToHost); }
float Ring::spent() const { return spent_; }

float methods_outside(float *x, float *y, int n) {
    Ring a(x, n), b(y, n, 0.25f);
    a.step(3);
    b.step();
    b.step_by(2.0f);
    a.store(x);
    b.store(y);
    return a.spent() + 10 * b.spent();
}
float object_made_by_new(float *x, float *y, int n) {
    Ring *ring = new Ring(x, n, 2.0f);
    for (int i = 0; i < 3; i++) ring->step();
    ring->store(y);
    float t = ring->spent();
    delete ring;
    return t;
}

template <typename T> class Cells {
public:
    explicit Cells(int n) : n_(n) { if (n < 0) { throw std::invalid_argument("n"); } cudaMalloc(&p_, n * sizeof(T)); }
    ~Cells() { cudaFree(p_); }
    void put(const T *h);
    void take(T *h) const;
    T *p() { return p_; }
private:
    T *p_;
    int n_;
};
template <typename T> void Cells<T>::put(const T *h) { cudaMemcpy(p_, h, n_ * sizeof(T), cudaMemcpyHostToDevice); }
template <typename U> void Cells<U>::take(U *h) const { cudaMemcpy(h, p_, n_ * sizeof(U), cudaMemcpyDeviceToHost); }
void template_methods_outside(float *x, float *y, int n) {
    Cells<float> c(n);
    c.put(x);
    add<<<(n + 63) / 64, 64>>>(c.p(), 1.0f, n);
    cudaMemcpy(y, c.p(), n * sizeof(float), cudaMemcpyDeviceToHost);
}
void methods_of_other_names(float *x, float *y, int n) {
    Cells<float> c(n);
    c.put(x);
    add<<<(n + 63) / 64, 64>>>(c.p(), 1.0f, n);
    c.take(y);
}
struct Counted { float *p; int *k; Counted(float *q) : p(q) {} ~Counted() { add<<<1, 64>>>(p, 1.0f, 4); } };
void object_that_works_at_its_end(float *x, float *y, int n) {
    Counted *c = new Counted(x);
    add<<<1, 64>>>(y, 1.0f, n);
    delete c;
}
float elements_by_place(float *x, float *y, int n) {
    std::vector<float> h(n);
    float v_at = 0;
    for (auto &v : h) { v = 2.0f; v_at += v; v *= 1.5f; }
    for (const auto &v : h) v_at += v;
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    mix<<<(n + 63) / 64, 64>>>(x, d, y, n);
    return v_at;
}

__device__ float held[64];
__global__ void hold(float s, int n) { int i = threadIdx.x; if (i < n) held[i] = s; }
__global__ void held_to(float *y, int n) { int i = threadIdx.x; if (i < n) y[i] += held[i]; }
int hold_on(cudaStream_t stream, float s, int n) {
    hold<<<1, 64, 0, stream>>>(s, n);
    return 3;
}
float launch_on_a_stream(float *x, float *y, int n) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMemcpyToSymbol(held, x, n * sizeof(float));
    int r = hold_on(stream, 2.5f, n);
    held_to<<<1, 64, 0, stream>>>(y, n);
    return r;
}
__constant__ float factors[4];
__global__ void by_factors(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= factors[i % 4]; }
void factors_from(const float *h, float *x, int n) {
    cudaMemcpyToSymbol(factors, h, 4 * sizeof(float));
    by_factors<<<1, 64>>>(x, n);
}
void filled_by_another_host(float *x, float *y, int n) {
    factors_from(x, y, n);
    by_factors<<<1, 64>>>(y, n);
    cudaMemcpy(x, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
float filled_in_between(float *x, float *y, int n) {
    float h[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(factors, h, 4 * sizeof(float));
    factors_from(x, y, n);
    by_factors<<<1, 64>>>(x, n);
    return 1;
}
static void halved(float *u, int count) { by_factors<<<1, 64>>>(u, count); }
static void halved_fewer(float *u, int &count) { by_factors<<<1, 64>>>(u, count); count -= 1; }
struct Part { int first, count; };
static void halved_part(float *u, const Part &p) { by_factors<<<1, 64>>>(u + p.first, p.count); }
float bytes_behind_a_loop(float *x, float *y, int n) {
    float h[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(factors, h, 4 * sizeof(float));
    Part p = {1, n - 2};
    const int count = n - 1;
    size_t bytes = count * sizeof(float);
    float *d;
    cudaMalloc(&d, bytes);
    cudaMemcpy(d, x, bytes, cudaMemcpyHostToDevice);
    int rounds = 0;
    do {
        halved(d, count);
        halved_part(d, p);
        ++rounds;
    } while (rounds < 3);
    cudaMemcpy(y, d, bytes, cudaMemcpyDeviceToHost);
    return rounds;
}
float bytes_of_a_changed_number(float *x, float *y, int n) {
    float h[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(factors, h, 4 * sizeof(float));
    int count = n;
    size_t bytes = count * sizeof(float);
    for (int i = 0; i < 3; ++i) halved_fewer(x, count);
    cudaMemcpy(y, x, bytes, cudaMemcpyDeviceToDevice);
    return count;
}
static void halved_both(float *u, int &count, int same) { by_factors<<<1, 64>>>(u, same); count -= 1; }
float bytes_of_a_number_given_twice(float *x, float *y, int n) {
    float h[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(factors, h, 4 * sizeof(float));
    int count = n;
    size_t bytes = count * sizeof(float);
    for (int i = 0; i < 3; ++i) halved_both(x, count, count);
    cudaMemcpy(y, x, bytes, cudaMemcpyDeviceToDevice);
    return count;
}
void shifted_by(float *u, int n, unsigned r) { add<<<(n + 63) / 64, 64>>>(u, (float)((r - 500) % 1000) - (int)(r - 500) * 3, n); }
float unsigned_differences(float *x, float *y, int n) {
    shifted_by(x, n, 5);
    unsigned m = n;
    float a = (m - 500) * 1e-9f, b = ((int)m - 500) * 0.5f;
    for (unsigned k = 0; k < m; ++k) b += (float)((k - 3) % 100);
    add<<<1, 64>>>(y, b, n);
    return a;
}

void end_of_its_own(float *x, float *y, int n) {
    int k = 40, sum = 0;
    for (int k = 0; k < k + n; k++) {
        sum += k;
        if (k > 4) break;
    }
    for (int m = 3; m < 2 * m - 1 && m < 9; m++) add<<<(n + 63) / 64, 64>>>(y, 0.5f * m, n);
    int j;
    for (j = 10; j > 13 - j; j--) add<<<(n + 63) / 64, 64>>>(x, 1.0f * j, n);
    for (int t = 1; t < 20; t += t) add<<<(n + 63) / 64, 64>>>(y, 1.0f * t, n);
    add<<<(n + 63) / 64, 64>>>(x, (float)(sum + k + j), n);
}

class Clock {
    std::chrono::high_resolution_clock::time_point begun;

public:
    void start() { begun = std::chrono::high_resolution_clock::now(); }
    double ms() const {
        return std::chrono::duration<double, std::milli>(std::chrono::high_resolution_clock::now() - begun).count();
    }
};

template <typename T> class Memory {
public:
    explicit Memory(size_t n) : n_(n) { cudaMalloc(&p_, n * sizeof(T)); }
    ~Memory() { cudaFree(p_); }
    T *get() { return p_; }
    const T *get() const { return p_; }
    size_t size() const { return n_; }
    void up(const T *from) { cudaMemcpy(p_, from, n_ * sizeof(T), cudaMemcpyHostToDevice); }
    void down(T *to) const { cudaMemcpy(to, p_, n_ * sizeof(T), cudaMemcpyDeviceToHost); }

private:
    T *p_ = nullptr;
    size_t n_;
};

void by_timers(float *x, float *y, int n) {
    Clock clock;
    clock.start();
    Memory<float> a(n), b(n), c(2 * n - n);
    a.up(x);
    b.up(y);
    const Memory<float> &same = b;
    mix<<<(n + 63) / 64, 64>>>(a.get(), same.get(), c.get(), (int)c.size());
    cudaDeviceSynchronize();
    printf("%f ms\n", clock.ms());
    c.down(y);
}

void sizes_again(float *x, float *y, int n) {
    size_t m = n;
    size_t count = m;
    float *a, *b;
    cudaMalloc(&a, count * sizeof(float));
    m = n - 2;
    size_t fewer = m;
    cudaMalloc(&b, fewer * sizeof(float));
    cudaMemcpy(a, x, count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, y, fewer * sizeof(float), cudaMemcpyHostToDevice);
    for (int t = 0; t < 3; t++) {
        m = m - 1;
        add<<<(m + 63) / 64, 64>>>(a, 0.5f, m);
    }
    unsigned h = (unsigned)n;
    unsigned wide = h;
    mix<<<(fewer + 63) / 64, 64>>>(a, b, a, fewer);
    add<<<1, 64>>>(b, (float)((wide - 20u) % 7u), (int)m);
    cudaMemcpy(x, a, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, b, fewer * sizeof(float), cudaMemcpyDeviceToHost);
}

struct Extent {
    int n, m;
    float h;
};

class Smoother {
public:
    Smoother(int n) : e_{n, 2 * n, 1.0f / n}, block_(32), grid_((n + 31) / 32, 1) {
        for (float **p : {&a_, &b_}) {
            CHECK(cudaMalloc(p, e_.n * sizeof(float)));
            CHECK(cudaMemset(*p, 0, e_.n * sizeof(float)));
        }
    }
    ~Smoother() {
        for (float *p : {a_, b_}) cudaFree(p);
    }
    void run(float *x, int rounds) {
        cudaMemcpy(a_, x, e_.n * sizeof(float), cudaMemcpyHostToDevice);
        for (int k = 0; k < rounds; k++) {
            smooth<<<grid_, block_>>>(a_, b_, e_.n);
            std::swap(a_, b_);
        }
        for (float w : {0.5f, 2.0f}) add<<<grid_, block_>>>(a_, w * e_.h, e_.m - e_.n);
        cudaMemcpy(x, a_, e_.n * sizeof(float), cudaMemcpyDeviceToHost);
    }

private:
    Extent e_;
    dim3 block_, grid_;
    float *a_, *b_;
};

void by_members(float *x, float *y, int n) {
    Smoother s(n);
    s.run(x, 3);
    for (float *p : {x, y}) add<<<1, 64>>>(p, 1.0f, n);
    for (auto p : {&x, &y}) add<<<1, 64>>>(*p, 2.0f, n);
    for (int k : {1, 3}) {
        k *= 2;
        add<<<1, 64>>>(y, k / 4, n);
    }
}

typedef struct {
    int width, height, stride;
    float *cells;
} Plane;

__global__ void turned(Plane a, Plane b) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < a.height && j < a.width) b.cells[j * b.width + i] = 2.0f * a.cells[i * a.width + j];
}

struct Line {
    float *at;
    float slope;
};

__global__ void sloped(Line l, Line o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o.at[i] += l.slope * l.at[i];
}

void by_planes(float *x, float *y, int n) {
    Plane a;
    a.width = 3;
    a.height = n / 3;
    size_t size = a.width * a.height * sizeof(float);
    cudaMalloc(&a.cells, size);
    cudaMemcpy(a.cells, x, size, cudaMemcpyHostToDevice);
    Plane b;
    b.width = a.height;
    b.height = a.width;
    size = b.width * b.height * sizeof(float);
    cudaMalloc(&b.cells, size);
    dim3 block(4, 4);
    dim3 grid((a.width + block.x - 1) / block.x, (a.height + block.y - 1) / block.y);
    turned<<<grid, block>>>(a, b);
    cudaMemcpy(y, b.cells, size, cudaMemcpyDeviceToHost);
    if (n > 5) size = 2 * sizeof(float);
    cudaMemcpy(x, b.cells, 2 * sizeof(float), cudaMemcpyDeviceToHost);
    Line l = {x, 0.5f}, o;
    o.at = y;
    sloped<<<(n + 63) / 64, 64>>>(l, o, n);
    cudaFree(a.cells);
    cudaFree(b.cells);
}

void graph_of_two_steps(float *x, float *y, int n) {
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    smooth<<<(n + 63) / 64, 64, 0, s>>>(x, y, n);
    smooth<<<(n + 63) / 64, 64, 0, s>>>(y, x, n);
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&run, graph, NULL, NULL, 0));
    for (int t = 0; t < 5; t++) CHECK(cudaGraphLaunch(run, s));
    CHECK(cudaStreamSynchronize(s));
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
}

void graph_never_run(float *x, float *y, int n) {
    cudaStream_t s = 0;
    cudaGraph_t graph;
    add<<<1, n>>>(x, 1.0f, n);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, n, 0, s>>>(y, 1.0f, n);
    cudaStreamEndCapture(s, &graph);
}

void graph_made_in_the_first_round(float *x, float *y, int n) {
    cudaStream_t s = 0;
    bool made = false;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    for (int t = 0; t < 4; t++) {
        if (!made) {
            cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
            for (int k = 0; k < 3; k++) {
                add<<<1, n, 0, s>>>(x, 0.5f + k, n);
                mix<<<1, n, 0, s>>>(x, y, y, n);
            }
            cudaStreamEndCapture(s, &graph);
            cudaGraphInstantiate(&run, graph, NULL, NULL, 0);
            made = true;
        }
        cudaGraphLaunch(run, s);
        cudaStreamSynchronize(s);
    }
}

void graph_keeps_its_numbers(float *x, float *y, int n) {
    cudaStream_t s = 0;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    float *a = x, *b = y;
    float by = 2.0f;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, n, 0, s>>>(a, by, n);
    mix<<<1, n, 0, s>>>(a, b, b, n);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    by = 7.0f;
    std::swap(a, b);
    cudaGraphLaunch(run, s);
    cudaGraphLaunch(run, s);
    add<<<1, n>>>(a, by, n);
}

static void captured_steps(float *x, float *y, int n, cudaStream_t s) {
    smooth<<<(n + 63) / 64, 64, 0, s>>>(x, y, n);
    cudaMemcpyAsync(x, y, n * sizeof(float), cudaMemcpyDeviceToDevice, s);
}

void graph_of_a_helper(float *x, float *y, int n) {
    cudaStream_t s = 0;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    captured_steps(x, y, n, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    for (int t = 0; t < 3; t++) {
        cudaGraphLaunch(run, s);
        add<<<1, n, 0, s>>>(x, 1.0f, n);
    }
}

void graph_captured_in_each_round(float *x, float *y, int n) {
    cudaStream_t s = 0;
    for (int t = 0; t < 3; t++) {
        cudaGraph_t graph;
        cudaGraphExec_t run;
        cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
        add<<<1, n, 0, s>>>(x, 1.0f + t, n);
        cudaStreamEndCapture(s, &graph);
        cudaGraphInstantiate(&run, graph, 0);
        cudaGraphLaunch(run, s);
        mix<<<1, n>>>(x, y, y, n);
        cudaGraphLaunch(run, s);
    }
}

void graph_of_moving_pointers(float *x, float *y, int n) {
    cudaStream_t s = 0;
    bool made = false;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    float *a = x, *b = y;
    for (int t = 0; t < 4; t++) {
        if (!made) {
            cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
            smooth<<<1, n, 0, s>>>(a, b, n);
            cudaStreamEndCapture(s, &graph);
            cudaGraphInstantiate(&run, graph, 0);
            made = true;
        }
        cudaGraphLaunch(run, s);
        std::swap(a, b);
    }
}

void graph_captured_nowhere(float *x, float *y, int n) {
    cudaGraphExec_t run = 0;
    add<<<1, n>>>(x, 1.0f, n);
    cudaGraphLaunch(run, 0);
}

void graph_that_reads(float *x, float *y, int n) {
    cudaStream_t s = 0;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, n, 0, s>>>(x, y[0], n);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    y[0] = 3.0f;
    cudaGraphLaunch(run, s);
}

template <typename T> __global__ void lifted_by(const float *x, T *o, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = x[i] + by;
}

template <typename T> __global__ void lowered_by(const T *o, float *y, T by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (float)((o[i] - by) / (T)(i + 1));
}

template <typename T> void there_and_back(const float *x, float *y, T by, int n) {
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    lifted_by<<<1, n>>>(x, d, by, n);
    lowered_by<T><<<1, n>>>(d, y, by, n);
    cudaFree(d);
}

void kernels_of_doubles(float *x, float *y, int n) {
    there_and_back(x, y, 1e8, n);
}

void kernels_of_floats_and_doubles(float *x, float *y, int n) {
    there_and_back<float>(x, y, 3.1f, n);
    mix<<<1, n>>>(y, x, x, n);
    there_and_back<double>(x, y, 1e8, n);
}

template <typename T> __global__ void doubled(const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

void kernel_of_vectors_and_numbers(float *x, float *y, int n) {
    float *d, *e;
    cudaMalloc(&d, 4 * n * sizeof(float));
    cudaMalloc(&e, 4 * n * sizeof(float));
    cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(d + n, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemset(d + 2 * n, 0, 2 * n * sizeof(float));
    doubled<<<1, n>>>((const float4 *)d, (float4 *)e, n);
    doubled<<<1, n>>>(e, y, n);
    add<<<1, n>>>(y, 1.0f, n);
}

void dealt_out(float *x, float *y, int n) {
    float *pool;
    int m = n - 1;
    CHECK(cudaMalloc((void **)&pool, (2 * n + 2 * m) * sizeof(float)));
    float *u = pool, *v = u + n, *a = v + n, *b = a + m;
    cudaMemset(pool, 0, (2 * n + 2 * m) * sizeof(float));
    cudaMemcpy(u, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(a, y, m * sizeof(float), cudaMemcpyHostToDevice);
    for (int t = 0; t < 3; t++) {
        smooth<<<1, n>>>(u, v, n);
        smooth<<<1, n>>>(a, b, m);
        std::swap(u, v);
        float *c = a;
        a = b;
        b = c;
    }
    mix<<<1, n>>>(u, a, x, m);
    cudaMemcpy(y, v, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(pool);
}

void dealt_out_and_copied_as_one(float *x, float *y, int n) {
    float *h = (float *)malloc(3 * n * sizeof(float)), *d, *part[3];
    for (int i = 0; i < 3 * n; i++) h[i] = 0.5f * i + x[i % n];
    cudaMalloc(&d, 3 * n * sizeof(float));
    for (int k = 0; k < 3; k++) part[k] = d + k * n;
    cudaMemcpy(d, h, 3 * n * sizeof(float), cudaMemcpyHostToDevice);
    mix<<<1, n>>>(part[0], part[1], part[2], n);
    add<<<1, n>>>(part[0], 2.0f, n);
    cudaMemcpy(h, d, 3 * n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) { x[i] = h[i]; y[i] = h[i + n] + h[i + 2 * n]; }
}

void pieces_and_the_whole(float *x, float *y, int n) {
    float *d;
    cudaMalloc(&d, 2 * n * sizeof(float));
    float *u = d, *v = d + n;
    cudaMemcpy(u, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(v, y, n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 2 * n>>>(d, 3.0f, 2 * n);
    add<<<1, n>>>(v, 1.0f, n);
    smooth<<<1, n>>>(u, x, n);
    cudaMemcpy(y, v, n * sizeof(float), cudaMemcpyDeviceToHost);
}

void rows_of_a_history(float *x, float *y, int n) {
    float *d;
    cudaMalloc(&d, n * n * sizeof(float));
    cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int t = 1; t < n; t++) {
        cudaMemcpy(d + t * n, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
        smooth<<<1, n>>>(d + (t - 1) * n, d + t * n, n);
        add<<<1, n>>>(d + t * n, 0.25f * t, n);
    }
    cudaMemcpy(x, d + (n - 2) * n, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, d + (n - 1) * n, n * sizeof(float), cudaMemcpyDeviceToHost);
}

void halves(float *x, float *y, int n) {
    int m = n / 2;
    float *low = x, *high = x + m;
    for (int t = 0; t < 3; t++) {
        mix<<<1, n>>>(low, y, high, m);
        mix<<<1, n>>>(high, y, low, m);
    }
}

void pointer_that_keeps_its_place(float *x, float *y, int n) {
    int m = 2;
    float *p = x + m, *q = y + m;
    m = 3 * m;
    add<<<1, n>>>(p, 1.0f, m);
    for (int k = 0; k < 3; k++) {
        m = m - 1;
        add<<<1, n>>>(q, 2.0f, m);
    }
    if (n > 5) m = 1;
    add<<<1, n>>>(p, 0.5f, m);
}

void piece_that_is_left(float *x, float *y, int n) {
    float *d;
    cudaMalloc(&d, (2 * n + 1) * sizeof(float));
    float *u = d, *v = d + n;
    cudaMemcpy(u, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(v, y, n * sizeof(float), cudaMemcpyHostToDevice);
    smooth<<<1, n + 1>>>(u, v, n + 1);
    cudaMemcpy(y, v, n * sizeof(float), cudaMemcpyDeviceToHost);
}

void parts_that_meet(float *x, float *y, int n) {
    smooth<<<1, n>>>(x, x + 1, n - 1);
}

namespace scene {
namespace detail {
constexpr int THREADS = 64;
inline int blocks(int n) { return (n + THREADS - 1) / THREADS; }
}
struct Box { int first = 2, last; float lift; };
__global__ void raised_by(float *x, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}
void lift_all(float *x, const Box &b, int n) {
    raised_by<<<detail::blocks(n), detail::THREADS>>>(x, b.lift, n);
}
}

void names_of_a_namespace(float *x, float *y, int n) {
    scene::Box b;
    b.last = n - 1;
    b.lift = 0.5f;
    for (int i = b.first; i < b.last; i++) y[i] = 2.0f * x[i] + b.lift;
    scene::lift_all(x, b, n);
    ::scene::lift_all(y, b, scene::detail::blocks(n) * 5);
    scene::raised_by<<<scene::detail::blocks(n), 64>>>(y, 1.0f, n);
}

void allocated_in_an_assertion(float *x, float *y, int n) {
    float *d;
    assert(cudaMalloc(&d, n * sizeof(float)) == cudaSuccess);
    assert((cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice)) == cudaSuccess);
    add<<<1, n>>>(d, 1.0f, n);
    assert(cudaMemcpy(y, d, n * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
}

__global__ void moved_by(float *x, float *y, float3 g, float2 w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += g.x * w.x + g.y;
        y[i] += g.z * w.y;
    }
}


void vectors_by_value(float *x, float *y, int n) {
    float3 g = make_float3(0.5f, -9.8f, 0.25f * n), v;
    float2 w = {1.0f, 0.75f};
    v = g;
    for (int t = 0; t < 3; t++) {
        moved_by<<<1, n>>>(x, y, g, w, n);
        g = make_float3(g.y, g.x, 0.5f * g.z);
        v.x += 1.0f;
        w.y *= 0.5f;
    }
    moved_by<<<1, n>>>(x, y, v, w, n);
}

struct Flow { float *rho, *u, *rho_n, *u_n; int n; float dx; };

__global__ void flow_step(Flow f, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < f.n - 1) {
        f.rho_n[i] = 0.5f * (f.rho[i - 1] + f.rho[i + 1]) - dt / f.dx * (f.u[i + 1] - f.u[i - 1]);
        f.u_n[i] = 0.5f * (f.u[i - 1] + f.u[i + 1]) - dt * f.rho[i];
    }
}

void several_arrays_of_a_struct(float *x, float *y, int n) {
    Flow f;
    f.n = n;
    f.dx = 0.5f;
    f.rho = x;
    f.u = y;
    cudaMalloc(&f.rho_n, n * sizeof(float));
    cudaMalloc(&f.u_n, n * sizeof(float));
    cudaMemcpy(f.rho_n, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(f.u_n, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int t = 0; t < 4; t++) {
        flow_step<<<1, n>>>(f, 0.1f);
        std::swap(f.rho, f.rho_n);
        std::swap(f.u, f.u_n);
    }
}

void memory_of_the_caller_in_a_swap(float *x, float *y, int n) {
    float *a = x, *b;
    cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(b, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int t = 0; t < 4; t++) {
        smooth<<<1, n>>>(a, b, n);
        std::swap(a, b);
    }
    add<<<1, n>>>(y, 1.0f, n);
}

// structs by value are copies, whatever a helper does to its own
struct Pair { float *a, *b; int n; float s; float c[3]; };
void turned(Pair *t) { std::swap(t->a, t->b); t->s *= 2.0f; }
void raised_by_one(Pair &t) { t.s += 1.0f; }
void of_its_own(Pair t) { t.s += 3.0f; t.c[1] += 4.0f; std::swap(t.a, t.b); add<<<1, 64>>>(t.a, t.s + t.c[1], t.n); }
void handed_on(Pair t) { turned(&t); raised_by_one(t); add<<<1, 64>>>(t.a, t.s, t.n); }
void structs_by_value(float *x, float *y, int n) {
    Pair t;
    t.a = x; t.b = y; t.n = n; t.s = 1.0f;
    t.c[0] = 1.0f; t.c[1] = 2.0f; t.c[2] = 3.0f;
    Pair u = t;
    u.c[1] = 10.0f;
    of_its_own(t);
    of_its_own(t);
    handed_on(t);
    raised_by_one(t);
    handed_on(u);
    add<<<1, 64>>>(t.a, t.s + t.c[1], n);
    add<<<1, 64>>>(u.b, u.s + u.c[1], n);
}
struct Marching {
    float *a, *b; int n; float t;
    Marching(float *x, float *y, int n) : a(x), b(y), n(n), t(0) {}
    void step() { mix<<<1, 64>>>(a, b, b, n); t += 0.5f; std::swap(a, b); }
};
void marched(Marching s) { s.step(); add<<<1, 64>>>(s.a, s.t, s.n); }
void objects_by_value(float *x, float *y, int n) {
    Marching s(x, y, n);
    s.step();
    marched(s);
    marched(s);
    Marching u = s;
    u.step();
    add<<<1, 64>>>(s.a, s.t, n);
    add<<<1, 64>>>(u.a, u.t, n);
}
void left_by_a_flag_in_memory(float *x, float *y, int n) {
    int *h = (int *)malloc(sizeof(int));
    for (int k = 0; k < 9; k++) {
        *h = k < 3;
        add<<<1, 64>>>(x, 1.0f, n);
        cudaError_t err = cudaGetLastError();
        if (err) break;
        if (!*h) break;
    }
}
void left_by_time(float *x, float *y, int n) {
    cudaEvent_t a, b;
    for (int k = 0; k < 3; k++) {
        float ms;
        cudaEventRecord(a);
        add<<<1, 64>>>(x, 1.0f, n);
        cudaEventRecord(b);
        cudaEventElapsedTime(&ms, a, b);
        if (ms > 0.5f) break;
    }
}

// errors that are caught, members in loops that become functions, pointers that are cleared together
struct Totals {
    float *d, *h; int blocks;
    explicit Totals(int b) : blocks(b) { cudaMalloc(&d, b * sizeof(float)); h = (float *)malloc(b * sizeof(float)); }
    ~Totals() { cudaFree(d); free(h); }
    float of(const float *x, int n) {
        block_sum<<<blocks, 4>>>(x, d, n);
        cudaMemcpy(h, d, blocks * sizeof(float), cudaMemcpyDeviceToHost);
        float s = 0.0f;
        for (int i = 0; i < blocks; ++i) s += h[i];
        return s;
    }
};
void clear(Pair *t) { cudaFree(t->a); t->a = t->b = NULL; }
void caught(float *x, float *y, int n) {
    try {
        Totals all((n + 3) / 4);
        float s = 0.0f;
        for (int k = 0; k < 3; k++) {
            s = 0.1f * all.of(x, n);
            add<<<1, 64>>>(x, s, n);
        }
        s = all.of(x, n);
        add<<<1, 64>>>(y, s, n);
        if (n > 1000000) throw std::runtime_error("too large");
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\n", e.what());
        exit(1);
    }
    Pair t;
    t.a = x; t.b = y;
    add<<<1, 64>>>(t.b, 1.0f, n);
    clear(&t);
}
void caught_and_gone_on(float *x, float *y, int n) {
    try { if (n > 3) throw 1; add<<<1, 64>>>(x, 1.0f, n); } catch (int) { add<<<1, 64>>>(y, 1.0f, n); }
}
float added_up_now_and_then(float *x, float *y, int n) {
    float total = 0.0f, *h = (float *)malloc(n * sizeof(float));
    for (int t = 0; t < 7; t++) {
        mix<<<1, 64>>>(x, y, y, n);
        if (t % 2 == 0) {
            cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
            float s = 0.0f;
            for (int i = 0; i < n; i++) s += h[i];
            total += s / n;
        }
    }
    return total;
}

// calls in what has no part in the values
float advanced(float *x, int n) {
    add<<<1, 64>>>(x, 1.0f, n);
    float v;
    cudaMemcpy(&v, x, sizeof(float), cudaMemcpyDeviceToHost);
    return v;
}
int numbered(float *h, int n) { for (int i = 0; i < n; i++) h[i] = i; return 0; }
void calls_in_asides(float *x, float *y, int n) {
    float *h = (float *)malloc(n * sizeof(float));
    fprintf(stderr, "%f\n", advanced(x, n));
    assert(advanced(x, n) < 1e9f);
    advanced(x, n);
    numbered(h, n);
    cudaMemcpy(y, h, n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(y, 0.5f, n);
}
void call_in_an_arm(float *x, float *y, int n) { fprintf(stderr, "%f\n", n > 50 ? advanced(x, n) : 0.0f); add<<<1, 64>>>(y, 0.5f, n); }

// pointers of an array of pointers that a number chooses
void levels_by_a_number(float *x, float *y, int n) {
    const int levels = 2;
    float *u[levels], *t[levels];
    int m[levels];
    for (int l = 0; l < levels; l++) {
        m[l] = n >> l;
        cudaMalloc(&u[l], m[l] * sizeof(float));
        cudaMalloc(&t[l], m[l] * sizeof(float));
        cudaMemcpy(u[l], x, m[l] * sizeof(float), cudaMemcpyDeviceToDevice);
        cudaMemcpy(t[l], y, m[l] * sizeof(float), cudaMemcpyDeviceToDevice);
    }
    for (int s = 0; s < 3; s++) {
        int l = levels - 1;
        mix<<<m[l] / 64 + 1, 64>>>(u[l], t[l], t[l], m[l]);
        float *before = u[l];
        u[l] = t[l];
        t[l] = before;
    }
    mix<<<1, 64>>>(u[0], t[0], u[0], m[0]);
    cudaMemcpy(x, u[0], m[0] * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(y, u[1], m[1] * sizeof(float), cudaMemcpyDeviceToDevice);
}
void swapped_by_a_number(float *x, float *y, int n) {
    float *b[2] = {x, y};
    int c = n % 2;
    float *t = b[c]; b[c] = b[1 - c]; b[1 - c] = t;
    add<<<1, 64>>>(b[0], 1.0f, n);
}
void set_by_a_number(float *x, float *y, int n) {
    float *b[2] = {x, y};
    int c = n % 2;
    b[c] = y;
    add<<<1, 64>>>(b[0], 1.0f, n);
}
void vectors_are_copied(float *x, float *y, int n) {
    std::vector<float> v(n, 1.0f), w(v);
    auto u = v;
    auto &same = v;
    v[1] = 5.0f;
    w[2] = 6.0f;
    same[0] = 7.0f;
    cudaMemcpy(x, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y, w.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, u[0] + u[1], n);
}
void arranged(float *x, float *y, int n) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 3);
    float s = 0;
    for (int e : v) s += e;
    add<<<1, 64>>>(x, s, n);
    std::vector<float> w(y, y + n);
    std::reverse(w.begin() + 1, w.begin() + 4);
    cudaMemcpy(y, w.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(y, 1.0f, n);
}
// several structs with pointers, by a counter or a constant; helpers that call themselves with a depth that is known
struct Grid { float *u, *v; int n; };
struct Owned { float *d; std::vector<float> h; int n; Owned(int m, float s) : h(m, s), n(m) { cudaMalloc(&d, m * sizeof(float)); } };
Grid make_grid(float *u, const float *from, int n) {
    Grid g;
    g.u = u;
    g.n = n;
    cudaMalloc(&g.v, n * sizeof(float));
    cudaMemcpy(g.v, from, n * sizeof(float), cudaMemcpyHostToDevice);
    return g;
}
void descend(std::vector<Grid> &grids, int l) {
    Grid &g = grids[l];
    add<<<1, 64>>>(g.u, 1.0f + l, g.n);
    if (l == (int)grids.size() - 1) { add<<<1, 64>>>(g.v, 2.0f, g.n); return; }
    Grid *next = &grids[l + 1];
    mix<<<1, 64>>>(g.u, g.v, next->u, g.n);
    descend(grids, l + 1);
    mix<<<1, 64>>>(next->v, next->u, g.v, g.n);
}
void levels_by_recursion(float *x, float *y, int n) {
    std::vector<Grid> grids(3);
    for (int l = 0; l < 3; l++) {
        grids[l].n = n - l;
        cudaMalloc(&grids[l].u, n * sizeof(float));
        cudaMalloc(&grids[l].v, n * sizeof(float));
        cudaMemcpy(grids[l].u, x, n * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(grids[l].v, y, n * sizeof(float), cudaMemcpyHostToDevice);
    }
    for (int k = 0; k < 2; k++) descend(grids, 0);
    cudaMemcpy(x, grids[0].v, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, grids.back().u, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (auto &g : grids) { cudaFree(g.u); cudaFree(g.v); }
}
void tree(Grid *g, int l, int last) {
    if (l > last) return;
    add<<<1, 64>>>(g[l % 2].u, 1.0f + l, g[l % 2].n);
    tree(g, l + 1, last);
    tree(g, l + 1, last);
}
void two_calls_of_itself(float *x, float *y, int n) {
    Grid g[2] = {{x, y, n}, {y, x, n - 1}};
    Grid t = g[0];
    g[0] = g[1];
    g[1] = t;
    tree(g, 0, 2);
}
void pushed_structs(float *x, float *y, int n) {
    std::vector<Grid> grids;
    grids.push_back(make_grid(x, y, n));
    grids.push_back({y, x, n - 2});
    for (const auto &g : grids) mix<<<1, 64>>>(g.v, g.u, g.u, g.n);
    for (size_t i = 0; i < grids.size(); i++) add<<<1, 64>>>(grids[i].u, 0.5f, grids[i].n);
}
void constructed_structs(float *x, float *y, int n) {
    std::vector<Owned> all;
    all.emplace_back(n, 2.0f);
    all.emplace_back(n, 3.0f);
    cudaMemcpy(all[0].d, all[1].h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    mix<<<1, 64>>>(all[0].d, y, x, n);
    Grid *g = new Grid[2];
    g[1].u = x;
    g[1].v = y;
    g[1].n = n;
    g[0] = g[1];
    add<<<1, 64>>>(g[0].u, all[0].h[0], n);
    delete[] g;
}
void struct_by_data(float *x, float *y, int n) {
    Grid g[2] = {{x, y, n}, {y, x, n}};
    add<<<1, 64>>>(g[n % 2].u, 1.0f, n);
}
void struct_of_itself(float *x, float *y, int n) {
    Grid g = {x, y, n};
    g = {g.v, g.u, n};
    add<<<1, 64>>>(g.u, 1.0f, n);
}
void for_ever(float *p, int n, int l) { add<<<1, 64>>>(p, 1.0f, n); if (n > 0) for_ever(p, n, l); }
void recursion_without_end(float *x, float *y, int n) { for_ever(x, n, 1); }
void by_data(float *p, int n) { if (n < 2) return; add<<<1, 64>>>(p, 1.0f, n); by_data(p, n / 2); }
void recursion_by_data(float *x, float *y, int n) { by_data(x, n); }
void stepped_at_the_end(float *x, float *y, int n) {
    float *b[2] = {x, y};
    int l = 0;
    do { add<<<1, 64>>>(b[l], 1.0f + l, n); } while (++l < 2);
}
void stepped_after_the_test(float *x, float *y, int n) {
    float *b[2] = {x, y};
    int l = 0;
    do { add<<<1, 64>>>(b[l], 2.0f + l, n); } while (l++ < 1);
}
void rows_of_known_width(float *x, float *y, int n) {
    const int W = 5, H = 2;
    float h[H][W];
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) h[i][j] = 10 * i + j;
    cudaMemcpy(x, h, sizeof(h), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, h[1][2], n);
}
void bytes_of_a_variable_extent(float *x, float *y, int n) {
    int m[n];
    memset(m, 0xff, sizeof(m));
    unsigned char low[4];
    memset(low, -1, 4);
    for (int i = 0; i < n; i++) y[i] = m[i] + (low[3] > 254 ? i : 0.5f);
    cudaMemcpy(x, y, sizeof(m), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, 1.0f, n);
}
size_t rounded(int g, size_t n) { if (n == 0) return g; int r = n % g; return r == 0 ? n : n + g - r; }
int quotient(int a, int b) { int q = a / b; if (a % b) q++; return q; }
void sizes_by_branches(float *x, float *y, int n) {
    size_t m = rounded(4, n);
    float *d;
    cudaMalloc(&d, m * sizeof(float));
    cudaMemset(d, 0, m * sizeof(float));
    cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    add<<<quotient(m, 64), 64>>>(d, 0.5f + quotient(n, 4), m);
    block_sum<<<quotient(m, 4), 4>>>(d, y, m);
}
template <typename T> void thirds(T *p, int n) { T x = 7; for (int i = 0; i < n; i++) p[i] = x / 2 + i / (T)3; }
template <typename T, int B> void by_blocks(T *p, int n) { for (int b = 0; b < (n + B - 1) / B; b++) for (int t = 0; t < B; t++) if (b * B + t < n) p[b * B + t] += t; }
void ramp(int *p, int n) { for (int i = 0; i < n; i++) p[i] += i / 2; }
void ramp(float *p, int n) { for (int i = 0; i < n; i++) p[i] += i / 2.0f; }
void ramp(float *p, int n, float s) { for (int i = 0; i < n; i++) p[i] *= s; }
void instances_of_a_helper(float *x, float *y, int n) {
    std::vector<int> a(n);
    std::vector<double> b(n);
    thirds(a.data(), n);
    thirds<double>(b.data(), n);
    by_blocks<int, 4>(a.data(), n);
    by_blocks<int, 3>(a.data(), n);
    ramp(a.data(), n);
    for (int i = 0; i < n; i++) y[i] = a[i] + 0.125f * b[i];
    ramp(y, n);
    ramp(y, n, 0.5f);
    mix<<<1, 64>>>(y, x, x, n);
}
template <typename T, int V> void kept(T *p, int n) { add<<<1, 64>>>(p, V * 1.0f, n); }
template <int V> void by_version(float *x, float *y, int n) { kept<float, V>(x, n); }
void same_names_of_templates(float *x, float *y, int n) { by_version<2>(x, y, n); }
void generated(float *x, float *y, int n) {
    std::vector<int> a(n);
    int c = 3;
    std::generate(a.begin(), a.end(), [&c]() { c = c * 5 % 17; return c; });
    std::vector<float> v(n, 1.5f);
    float h = 0.25f;
    std::for_each(v.begin(), v.end(), [h](float &e) { e = e * h + 1; });
    float t = 0;
    std::generate(y, y + n, [&] { return t += 0.5f; });
    for (int i = 0; i < n; i++) y[i] += v[i] + a[i];
    add<<<1, 64>>>(y, c + t, n);
}
void generated_by_a_state(float *x, float *y, int n) {
    int c = 3;
    std::generate(y, y + n, [c]() mutable { return c++; });
    add<<<1, 64>>>(y, c, n);
}
void vector_of_pointers(float *x, float *y, int n) {
    const int members = 2;
    std::vector<float *> d(members), e{x, y};
    for (int m = 0; m < d.size(); m++) {
        cudaMalloc(&d[m], n * sizeof(float));
        cudaMemcpy(d[m], e[m], n * sizeof(float), cudaMemcpyDeviceToDevice);
        add<<<1, 64>>>(d[m], m + 1.0f, n);
    }
    mix<<<1, 64>>>(d[0], d[1], e[1], n);
}
void pointers_without_a_number(float *x, float *y, int n) {
    std::vector<float *> d(n);
    for (int m = 0; m < n; m++) cudaMalloc(&d[m], n * sizeof(float));
    add<<<1, 64>>>(d[0], 1.0f, n);
    cudaMemcpy(x, d[0], n * sizeof(float), cudaMemcpyDeviceToDevice);
}
__global__ void addi(int *x, int s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}
void more(float *p, int n) { add<<<1, 64>>>(p, 1.0f, n); }
void more(int *p, int n) { addi<<<1, 64>>>(p, 5, n); }
void overloads(float *x, float *y, int n) {
    int *d;
    std::vector<int> h(n);
    cudaMalloc(&d, n * sizeof(int));
    cudaMemset(d, 0, n * sizeof(int));
    more(x, n);
    more(d, n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) y[i] = h[i];
}
__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void twice(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 3; }
void first_of_two_kernels(float *x, float *y, int n) { twice<<<1, 64>>>(x, n); }
void second_of_two_kernels(float *x, float *y, int n) {
    int *d;
    cudaMalloc(&d, n * sizeof(int));
    cudaMemset(d, -1, n * sizeof(int));
    twice<<<1, 64>>>(d, n);
    std::vector<int> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) x[i] = h[i];
}
float **rows_of(int r, int c) {
    float **p = new float *[r], *data = new float[r * c];
    for (int i = 0; i < r; ++i) p[i] = &data[i * c];
    return p;
}
void count_up(float **a, int r, int c) { for (int i = 0; i < r; i++) for (int j = 0; j < c; j++) a[i][j] = i * 10 + j; }
void rows_one_by_one(float *x, float *y, int n) {
    int h = 3, w = n;
    float **a = (float **)malloc(h * sizeof(float *));
    for (int r = 0; r < h; r++) {
        a[r] = (float *)calloc(w, sizeof(float));
        for (int c = 0; c < w; c++) a[r][c] += r * 7 + c;
    }
    float **b = rows_of(h, n);
    count_up(b, h, n);
    w = 2;
    for (int r = 0; r < h; r++) a[r][w] += b[r][1];
    cudaMemcpy(x, a[1], n * sizeof(float), cudaMemcpyHostToDevice);
    mix<<<1, 64>>>(x, y, y, n);
    cudaMemcpy(x, &b[2][0], n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, a[2][2], n);
    free(a[0]); free(a);
}
void rows_on_the_device(float *x, float *y, int n) {
    float **d = (float **)malloc(2 * sizeof(float *)), **e, *all;
    for (int r = 0; r < 2; r++) CHECK(cudaMalloc((void **)&d[r], n * sizeof(float)));
    cudaMemcpy(d[1], x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    mix<<<1, 64>>>(d[1], y, d[0], n);
    e = (float **)malloc(2 * sizeof(float *));
    e[0] = (float *)malloc(2 * n * sizeof(float));
    for (int r = 1; r < 2; r++) e[r] = e[r - 1] + n;
    for (int j = 0; j < n; j++) e[1][j] = 0.5f * j;
    cudaMemcpy(x, d[0], n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(y, e[1], n * sizeof(float), cudaMemcpyHostToDevice);
}
void rows_that_swap(float *x, float *y, int n) {
    float **a = (float **)malloc(2 * sizeof(float *));
    for (int r = 0; r < 2; r++) a[r] = (float *)calloc(n, sizeof(float));
    a[0][0] = 3;
    std::swap(a[0], a[1]);
    cudaMemcpy(x, a[1], n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, 1.0f, n);
}
void rows_of_other_lengths(float *x, float *y, int n) {
    float **a = (float **)malloc(n * sizeof(float *));
    for (int r = 0; r < n; r++) a[r] = (float *)calloc(r + 1, sizeof(float));
    a[n - 1][0] = 3;
    cudaMemcpy(x, a[n - 1], n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, 1.0f, n);
}
void one_row_is_set(float *x, float *y, int n) {
    float **a = (float **)malloc(2 * sizeof(float *));
    for (int r = 0; r < 2; r++) a[r] = (float *)calloc(n, sizeof(float));
    a[1] = y;
    cudaMemcpy(x, a[1], n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<1, 64>>>(x, 1.0f, n);
}
struct Mass { float at, v; };
__global__ void pull(Mass *p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i].v += dt * p[i].at;
}
void numbers_as_structs(float *x, float *y, int n) {
    int bytes = n * sizeof(Mass);
    float *buf = (float *)malloc(bytes), *d;
    Mass *p = (Mass *)buf;
    for (int i = 0; i < n; i++) { p[i].at = 0.5f * i; p[i].v = 1; }
    cudaMalloc(&d, bytes);
    Mass *d_p = (Mass *)d;
    cudaMemcpy(d, buf, bytes, cudaMemcpyHostToDevice);
    pull<<<1, 64>>>(d_p, 0.25f, n);
    cudaMemcpy(buf, d, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) y[i] = p[i].v;
    add<<<1, 64>>>(x, 1.0f, n);
    free(buf);
}
void numbers_and_structs(float *x, float *y, int n) {
    float *d;
    cudaMalloc(&d, n * sizeof(Mass));
    cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    Mass *p = (Mass *)d;
    pull<<<1, 64>>>(p, 0.25f, n / 2);
    add<<<1, 64>>>(d, 1.0f, n);
    cudaMemcpy(x, d, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
struct Releases { void operator()(void *p) const { cudaFree(p); } };
template <class T> using dev_ptr = std::unique_ptr<T, Releases>;
template <class T> dev_ptr<T> on_device(const T *h, size_t n) {
    T *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, h, n * sizeof(T), cudaMemcpyHostToDevice);
    return dev_ptr<T>(p);
}
void owned_by_pointers(float *x, float *y, int n) {
    auto a = on_device<float>(x, n), b = on_device(y, n);
    std::unique_ptr<float, Releases> c = on_device(x, n);
    for (int k = 0; k < 3; k++) {
        smooth<<<1, 64>>>(a.get(), c.get(), n);
        a.swap(b);
        std::swap(b, c);
    }
    cudaMemcpy(x, a.get(), n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(y, c.get(), n * sizeof(float), cudaMemcpyDeviceToHost);
    a.reset();
}
cudaError_t reported_step(float *d, float s, int n) { add<<<(n + 63) / 64, 64>>>(d, s, n); return cudaGetLastError(); }
cudaError_t reported_copy(float *to, const float *from, int n) { return cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyDeviceToDevice); }
cudaError_t reported_both(float *d, int n) { cudaError_t e = reported_step(d, 0.5f, n); if (e != cudaSuccess) return e; return reported_step(d, 0.25f, n); }
void status_of_a_helper(float *x, float *y, int n) {
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaError_t e = reported_copy(d, x, n), f{reported_step(d, 1.0f, n)};
    if (e != cudaSuccess || reported_step(d, 2.0f, n) != cudaSuccess) return;
    e = reported_both(d, n);
    (void)reported_step(d, 4.0f, n);
    CHECK(reported_step(d, 8.0f, n));
    auto job = std::async([&] { for (int k = 0; k < 3; k++) reported_step(d, 16.0f, n); });
    job.wait();
    reported_copy(y, d, n);
}
struct Doer { float *d; int n; cudaError_t go(float s) { add<<<1, 64>>>(d, s, n); return cudaGetLastError(); } };
template <typename T> void checked_status(T e, const char *what) { if (e) { printf("%s", what); exit(1); } }
void status_of_a_method(float *x, float *y, int n) {
    Doer doer{x, n};
    cudaError_t e = doer.go(1.0f);
    checked_status(doer.go(2.0f), "go");
    CHECK(doer.go(4.0f));
    printf("%d\n", doer.go(8.0f));
    [&] { doer.go(16.0f); }();
}
void status_of_elsewhere(float *x, float *y, int n) {
    add<<<1, 64>>>(x, 1.0f, n);
    elsewhere_t e = work_elsewhere(x, n);
}
void object_of_elsewhere(float *x, float *y, int n) {
    add<<<1, 64>>>(x, 1.0f, n);
    std::thread worker(reported_step, x, 1.0f, n);
    worker.join();
}
void another_name_of_memory(float *x, float *y, int n) {
    add<<<1, 64>>>(x, 1.0f, n);
    void *p = x;
    work_elsewhere(p, n);
}
void moved_by_an_algorithm(float *x, float *y, int n) {
    add<<<1, 64>>>(x, 1.0f, n);
    auto last = std::remove(x, x + n, 0.0f);
}
void made_by_new(float *x, float *y, int n) {
    float *a = new float[4]{1.0f, 2.0f, 3.0f}, *b = new float(4.5f), *c = new float[n](), *s = new float;
    const int *k = new int[2]{5, 6};
    *s = 0.25f;
    for (int i = 0; i < 4; i++) y[i] += a[i] + c[i];
    add<<<1, 64>>>(x, *b + *s, k[1]);
    delete[] a; delete s;
}
struct Ends { float first_one, last_one; };
Ends ends_of(float *d, int n) { Ends e; cudaMemcpy(&e.first_one, d, sizeof(float), cudaMemcpyDeviceToHost); cudaMemcpy(&e.last_one, d + n - 1, sizeof(float), cudaMemcpyDeviceToHost); return e; }
std::pair<float, int> stepped_pair(float *d, int n) { add<<<1, 64>>>(d, 1.0f, n); return {d[0], n - 1}; }
std::tuple<float, float, int> stepped_three(float *d, int n) { auto [a, b] = ends_of(d, n); return std::make_tuple(a + 1.0f, b, n / 2); }
static Ends turned_ends(const Ends &e) { return {e.last_one, e.first_one}; }
void several_at_once(float *x, float *y, int n) {
    auto [a, m] = stepped_pair(x, n);
    add<<<1, 64>>>(y, a, m);
    const auto p = stepped_pair(y, n);
    add<<<1, 64>>>(x, p.first, p.second);
    auto three = stepped_three(y, n);
    add<<<1, 64>>>(x, std::get<0>(three), std::get<2>(three));
    auto [c, d, middle] = stepped_three(x, n);
    add<<<1, 64>>>(y, c - d, middle);
    float u = 0, v = 0;
    for (int k = 0; k < 2; k++) {
        std::tie(u, v) = std::make_pair(v + 1.0f, u);
        std::tie(u, std::ignore, middle) = stepped_three(y, n);
        add<<<1, 64>>>(y, u + v, middle);
    }
    Ends e = ends_of(x, n);
    e = turned_ends(e);
    add<<<1, 64>>>(y, e.first_one - 2.0f * e.last_one, n);
}
#define REACH 2
struct Settings { int n; float s; };
struct Halved { int n; float s; Halved(const Settings &a) : n(a.n / 2), s(2 * a.s) {} };
struct Copied { float *p; int n;
    Copied(float *q, int m) : n(m) { cudaMalloc(&p, m * sizeof(float)); cudaMemcpy(p, q, m * sizeof(float), cudaMemcpyDeviceToDevice); }
    Copied(const Copied &o) : n(o.n) { cudaMalloc(&p, n * sizeof(float)); cudaMemcpy(p, o.p, n * sizeof(float), cudaMemcpyDeviceToDevice); }
    ~Copied() { cudaFree(p); } };
void made_of_another(float *x, float *y, int n) {
    Settings a{n, 1.5f};
    Halved half_of(a);
    Copied u(x, n), v(u), w = u;
    add<<<1, 64>>>(u.p, half_of.s, half_of.n);
    add<<<1, 64>>>(v.p, a.s, a.n);
    cudaMemcpy(x, u.p, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy(y, v.p, n * sizeof(float), cudaMemcpyDeviceToDevice);
    mix<<<1, 64>>>(w.p, y, x, n);
}
void sizes_of_arrays(float *x, float *y, int n) {
    enum { FEW = 3 };
    const int m = n - 4;
    float h[8], g[2 * REACH + 1], v[m], w[FEW][4];
    for (int i = 0; i < sizeof(h) / sizeof(h[0]); i++) h[i] = i + 1;
    for (int i = 0; i < sizeof g / sizeof(float); i++) g[i] = 2 * i + 1;
    for (int i = 0; i < (int)(sizeof v / sizeof *v); i++) v[i] = 3 * i + 1;
    for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) for (size_t j = 0; j < sizeof(w[0]) / sizeof(w[0][0]); j++) w[i][j] = 10 * i + j;
    for (float &e : g) e *= 2;
    for (float &e : v) e += FEW;
    float s = 0;
    for (float e : h) s += e;
    for (int i = 0; i < m; i++) { x[i] += v[i] + s; y[i] += h[i % 8] + g[i % 5] + w[i % FEW][i % 4]; }
    add<<<1, 64>>>(x, 1.0f, n);
}
__global__ void add(float *y, const float *s, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += 2 * s[i]; }
void overloaded_kernels(float *x, float *y, int n) {
    add<<<1, 64>>>(x, 1.0f, n);
    add<<<1, 64>>>(x, y, n);
    const float *p = x;
    add<<<1, 64>>>(y, p, n - 1);
}
void extents_in_loops(float *x, float *y, int n) {
    dim3 block(4), grid((n + block.x - 1) / block.x, 2);
    for (unsigned b = 0; b < grid.x; b++) y[b] += grid.y * block.x + block.z;
    float s = 0;
    for (int i = 0; i < n; i++) s += x[i] * (i / block.x) + y[i % grid.x];
    add<<<grid.x, block>>>(x, s, n);
}
struct Listed { int n; float w[3]; };
struct Nested { Ends e; int n; float w[3]; };
void listed_structs(float *x, float *y, int n) {
    Listed z = {4, {7.0f, 8.0f}};
    Nested a = {{z.w[0], z.w[2]}, z.n, {z.w[1]}}, c{{1.5f, 2.5f}, n};
    Nested e = a;
    e.e.first_one = 9; e.w[1] = 6;
    auto started = std::async(std::launch::async, [=] { add<<<1, 64>>>(y, 0.5f, n); });
    started.wait();
    add<<<1, 64>>>(x, a.e.first_one + 10 * a.e.last_one + 100 * a.w[0] + a.w[2], a.n);
    add<<<1, 64>>>(x, c.e.first_one + 10 * c.e.last_one + c.w[2], c.n);
    add<<<1, 64>>>(y, e.e.first_one + e.w[0] + 100 * e.w[1], n);
}
void chained_numbers(float *x, float *y, int n) {
    int a, b;
    float s, t;
    a = b = n - 1;
    s = t = 0.5f;
    x[1] = y[2] = x[0] + s;
    x[a - 2] = s = t += 2.0f;
    add<<<1, 64>>>(x, s + t, a = b - 1);
    add<<<1, 64>>>(y, t, a + 1);
}
struct Scaled { float *d; int n; float s; Scaled(float *p, int m) : d(p), n(m), s(1.0f) {} virtual void step() { add<<<1, 64>>>(d, s, n); } void twice_over() { step(); step(); } virtual ~Scaled() {} };
struct Faster : Scaled { int k = 2; Faster(float *p, int m, float f) : Scaled(p, m - 1) { s = f; } void step() override { add<<<1, 64>>>(d, s * k, n); k++; } };
struct Plainly { float *d; int n; Plainly(float *p, int m) : d(p), n(m - 1) {} void step() { add<<<1, 64>>>(d, 1.0f, n); } };
struct Unmade : Plainly { int k = 2; };
void derived_with_maker(float *x, float *y, int n) {
    Faster f(x, n, 0.5f);
    f.step(); f.twice_over();
    Scaled *g = new Faster(y, n, 0.25f);
    g->step(); g->twice_over();
    delete g;
}
void derived_without_maker(float *x, float *y, int n) {
    Unmade f{{x, n}};
    f.step();
}
struct Hidden { float *d; int n; void step() { add<<<1, 64>>>(d, 1.0f, n); } };
struct Hiding : Hidden { void step() { add<<<1, 64>>>(d, 2.0f, n); } };
void points_to_derived(float *x, float *y, int n) {
    Hidden *f = new Hiding();
    f->d = x; f->n = n;
    f->step();
}
__global__ void alike(float *x, float s) { x[threadIdx.x] += s; }
__global__ void alike(float *x, double s) { x[threadIdx.x] -= s; }
void one_of_alike_kernels(float *x, float *y, int n) { alike<<<1, n>>>(x, (float)n / 2); alike<<<1, n>>>(x, n / 2 > 3 ? 1.0f : 2.0); }
template <typename F> float timed_calls(F &&fn, int times = 2) { cudaEvent_t a, b; cudaEventCreate(&a); cudaEventRecord(a); for (int r = 0; r < times; ++r) fn(); cudaEventRecord(b); float ms = 0.0f; cudaEventElapsedTime(&ms, a, b); return ms / times; }
template <class Op> void for_each_part(int n, int parts, Op op) { int size = n / parts; for (int p = 0; p < parts; p++) { int lo = p * size; op(lo, p == parts - 1 ? n - lo : size); } }
void functions_as_arguments(float *x, float *y, int n) {
    float size = 3.0f;
    float ms = timed_calls([&] { add<<<1, 64>>>(x, size, n); }, 3);
    auto both = [&]() { add<<<1, 64>>>(x, 1.0f, n); mix<<<1, 64>>>(x, y, y, n); };
    const float more = timed_calls(both);
    printf("%f %f\n", ms + more, timed_calls([=] { add<<<1, 64>>>(y, size, n); }));
    for_each_part(n, 4, [&](int at, int count) { add<<<1, 64>>>(x + at, size + at, count); });
    auto leaves = [&](float a) { if (a == 0.0f) return; add<<<1, 64>>>(x, a, n); };
    leaves(2.0f);
    leaves(0.0f);
}
template <class T> class Storage { T *p_ = nullptr; int n_; public: explicit Storage(int n) : n_(n) { CHECK(cudaMalloc(&p_, n * sizeof(T))); } ~Storage() { cudaFree(p_); } Storage(const Storage &) = delete; T *get() const { return p_; } void up(const T *h) { CHECK(cudaMemcpy(p_, h, n_ * sizeof(T), cudaMemcpyHostToDevice)); } void down(T *h) const { CHECK(cudaMemcpy(h, p_, n_ * sizeof(T), cudaMemcpyDeviceToHost)); } };
struct Steps { float by; int n; };
class Machine { Storage<float> a, b; Steps s; public: Machine(int n, float by) : a(n), b(n), s{by, n} {} void run(const float *x, float *y) { a.up(x); b.up(y); add<<<1, 64>>>(a.get(), s.by, s.n); mix<<<1, 64>>>(a.get(), b.get(), b.get(), s.n); b.down(y); } };
struct Rule { virtual ~Rule() {} virtual void apply(float *d, int n) = 0; };
struct Adds : Rule { float k; Adds(float k) : k(k) {} void apply(float *d, int n) override { add<<<1, 64>>>(d, k, n); } };
struct Ones : Rule { void apply(float *d, int n) override { add<<<1, 64>>>(d, 1.0f, n); } };
void objects_in_objects(float *x, float *y, int n) {
    Machine m(n, 0.5f);
    m.run(x, y);
    auto shared = std::make_shared<Storage<float>>(n);
    shared->up(x);
    auto same = shared;
    auto unique = std::make_unique<Machine>(n, 2.0f);
    Ones ones;
    Adds adds(3.0f);
    Rule *rule = &ones;
    ones.apply(same->get(), n);
    rule->apply(shared->get(), n);
    adds.apply(same->get(), n);
    shared->down(x);
    unique->run(x, y);
}
struct Looking { float *p; int n; };
void pointers_that_auto_declares(float *x, float *y, int n) {
    Looking v{x, n};
    auto q = &v;
    q->p = y;
    add<<<1, 64>>>(v.p, 3.0f, v.n);
    auto copy = v;
    copy.p = x;
    Looking *r = &v;
    auto s = r;
    s->n = n / 2;
    add<<<1, 64>>>(v.p, 2.0f, v.n);
    add<<<1, 64>>>(copy.p, 1.0f, copy.n);
}
void floating_counters(float *x, float *y, int n) {
    float dt = 2.5f, t;
    for (float s = 0.0f; s < 10.0f; s += 2.5f) add<<<1, 64>>>(x, s, n);
    for (double s = 0; s <= 6; s += dt) mix<<<1, 64>>>(x, y, y, n);
    for (t = 0.5f; t < 4; t++) add<<<1, 64>>>(y, t, n);
    for (int i = 0; i < n / 2.0f; i++) add<<<1, 64>>>(y, t * i, n);
    for (int i = 0; i <= 2.5; i++) mix<<<1, 64>>>(y, x, x, n);
    for (size_t k = n; k-- > 2;) { if (k == 5) continue; mix<<<1, 64>>>(y, x, x, (int)k); }
}
static bool went_well(cudaError_t e) { if (e == cudaSuccess) return true; fprintf(stderr, "%s\n", cudaGetErrorString(e)); return false; }
static int failed(cudaError_t code, const char *what) { if (code != cudaSuccess) { printf("%s\n", what); return 1; } return 0; }
float tests_of_error_codes(float *x, float *y, int n) {
    float *d;
    if (auto e = cudaMalloc(&d, n * sizeof(float)); e != cudaSuccess) return -1;
    if (cudaError_t e = cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice)) throw std::runtime_error(cudaGetErrorString(e));
    if (!went_well(cudaGetLastError()) || failed(cudaDeviceSynchronize(), "wait")) return -2;
    if (int half = n / 2; half > 2) add<<<1, 64>>>(d, 3.0f, half);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) goto out;
    bool good; good = went_well(cudaMemcpy(y, d, n * sizeof(float), cudaMemcpyDeviceToHost)) && went_well(cudaGetLastError());
    if (!good) y[0] = 100.0f;
out:
    cudaFree(d);
    return status == cudaSuccess ? 5 : 1;
}
__constant__ float four_taps[4];
__global__ void by_taps(const float *a, float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] += a[i] * (four_taps[0] + 10 * four_taps[1] + 100 * four_taps[2] + four_taps[3]); }
void middle_of_a_symbol(float *x, float *y, int n) {
    float w[4] = {1.0f, 2.0f, 3.0f, 4.0f}, v = -1.0f;
    size_t bytes{2 * sizeof(float)};
    cudaMemcpyToSymbol(four_taps, w, sizeof(w));
    by_taps<<<1, 64>>>(x, y, n);
    cudaMemcpyToSymbol(four_taps, &v, sizeof(float), 3 * sizeof(float));
    cudaMemcpyToSymbol(four_taps, w + 2, bytes, sizeof(float));
    by_taps<<<1, 64>>>(x, y, n);
    cudaMemcpyFromSymbol(x + 1, four_taps, bytes, 2 * sizeof(float));
}
void one_piece_twice(float *x, float *y, int n) {
    int off = n / 3;
    float *d;
    CHECK(cudaMalloc(&d, n * sizeof(float)));
    CHECK(cudaMemcpy(d, x, n * sizeof(float), cudaMemcpyHostToDevice));
    mix<<<1, 64>>>(d + off, d + off, d + off, off);
    for (int k = 1; k < 3; k++) mix<<<1, 64>>>(d + (k - 1) * off, d + k * off, d + k * off, off);
    CHECK(cudaMemcpy(y, d, n * sizeof(float), cudaMemcpyDeviceToHost));
}
void one_piece_smoothed(float *x, float *y, int n) { smooth<<<1, 64>>>(x + 2, x + 2, n - 2); }
void pieces_that_meet(float *x, float *y, int n) { mix<<<1, 64>>>(x + 2, x + 3, x + 2, n - 3); }
float places_of_searches(float *x, float *y, int n) {
    std::vector<float> h(x, x + n);
    auto it = std::max_element(h.begin(), h.end());
    int at = std::distance(h.begin(), it);
    add<<<1, 64>>>(x, *it, n);
    return at + (std::min_element(x, x + n) - x);
}
struct Squared { __host__ __device__ float operator()(float v) const { return v * v; } };
struct Moved { float a, b; __device__ float operator()(float v) const { return a * v + b; } };
template <class T> struct Times { T k; explicit Times(T k_) : k(k_ + 1) {} __device__ T operator()(T v) const { return k * v; } };
struct Sums { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
template <typename Op> __global__ void apply_to(float *x, int n, Op op) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = op(x[i]); }
template <typename T, typename Op> __global__ void zipped(const T *a, const T *b, T *c, int n, Op op) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = op(a[i], b[i]); }
template <typename F> __global__ void run_all(int n, F f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) f(i); }
template <typename Op> void launch_apply(float *d, int n, Op op) { apply_to<<<(n + 63) / 64, 64>>>(d, n, op); }
template <typename F> void parallel_for(int n, F f) { run_all<<<(n + 63) / 64, 64>>>(n, f); }
void functors_of_kernels(float *x, float *y, int n) {
    float s = 3.0f;
    const Moved move{0.5f, 1.0f};
    apply_to<<<1, 64>>>(x, n, Squared());
    apply_to<<<1, 64>>>(x, n, Moved{2.0f, s});
    apply_to<<<1, 64>>>(x, n, Times<float>(0.25f));
    launch_apply(y, n, move);
    zipped<<<1, 64>>>(x, y, y, n, Sums{});
    apply_to<<<1, 64>>>(x, n, [s] __device__(float v) { return s * v - 1.0f; });
    parallel_for(n, [=] __device__(int i) { y[i] = s * y[i] + x[i]; });
    s = 4.0f;
    parallel_for(n / 2, [=] __device__(int i) { if (x[i] > 0.0f) y[i] += s; });
    auto halve = [] __device__(float v) { return 0.5f * v; };
    launch_apply(x, n - 1, halve);
}
struct Spread { float k, b; __device__ float operator()(float v) const { return k * v + b; } };
void functors_that_change(float *x, float *y, int n) {
    Spread a{2.0f, -1.0f}, c{1.5f, 0.5f}, unset;
    a.k = 3.0f;
    apply_to<<<1, 64>>>(x, n, a);
    for (int i = 0; i < 3; i++) { apply_to<<<1, 64>>>(y, n, a); a.k *= 0.5f; a.b += 1.0f; }
    c = Spread{0.25f, 2.0f};
    apply_to<<<1, 64>>>(x, n, c);
    if (n > 7) unset.k = 1.5f; else unset.k = 4.0f;
    unset.b = a.b;
    Spread *p = &unset;
    p->b += 1.0f;
    apply_to<<<1, 64>>>(y, n, unset);
}
void functor_that_a_changed_one_was(float *x, float *y, int n) {
    Spread a{2.0f, -1.0f};
    Spread b = a;
    b.k = 7.0f;
    apply_to<<<1, 64>>>(x, n, b);
}
void functor_of_a_changing_number(float *x, float *y, int n) {
    float s = 3.0f;
    auto op = [=] __device__(float v) { return s * v; };
    s = 2.0f;
    apply_to<<<1, 64>>>(x, n, op);
}
void functor_with_a_state(float *x, float *y, int n) { int k = 0; parallel_for(n, [=] __device__(int i) mutable { y[i] = k++; }); }
struct Seen { float *p; int n; float g; };
struct Twofold { Seen s; int k; };
void structs_that_swap(float *x, float *y, int n) {
    Seen a{x, n, 1.0f}, b{y, n - 2, 2.0f}, all[2] = {{x, n, 3.0f}, {y, n - 1, 4.0f}};
    Twofold c{a, 1}, d{b, 2};
    std::swap(a, b);
    std::swap(c, d);
    std::swap(all[0], all[1]);
    add<<<1, 64>>>(a.p, a.g, a.n);
    for (int i = 0; i < c.k; i++) mix<<<1, 64>>>(c.s.p, d.s.p, d.s.p, c.s.n);
    for (auto &s : all) { s.n--; add<<<1, 64>>>(s.p, s.g, s.n); }
    std::function<void(float *, float)> more = [&](float *p, float by) { add<<<1, 64>>>(p, by, all[0].n); };
    more(x, 0.5f);
    more(y, b.g);
}
template <class L, class T> void add_labelled(const L &label, T *x, T by, int n) { add<<<1, 64>>>(x, by, n); std::cout << label << std::endl; }
void with_a_label(float *x, float *y, int n) { std::string label; add_labelled(label, x, 1.0f, n); }

__global__ void biased(const float *x, float *y, int n, const float *b = nullptr, float *last = NULL) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = (b ? b[i] : 0.25f) + 2.0f * x[i];
        if (b != nullptr && b[i] > 0.0f) v += 1.0f;
        y[i] = v;
        if (i == n - 1 && last) last[0] = v;
    }
}
template <typename T> __global__ void weighed(const T *x, T *y, const T *w, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = w == NULL ? x[i] : w[i] * x[i]; }
void optional_pointers(float *x, float *y, int n) {
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    biased<<<1, 64>>>(x, d, n, x, y);
    biased<<<1, 64>>>(d, x, n, nullptr, y + 1);
    biased<<<1, 64>>>(x, d, n - 2, NULL);
    biased<<<1, 64>>>(x, y, n - 3);
    weighed<<<1, 64>>>(y, x, (const float *)0, n);
    weighed<float><<<1, 64>>>(d, y, x, n - 2);
    cudaFree(d);
}
void followed_null(float *x, float *y, int n) { mix<<<1, 64>>>(x, NULL, y, n); }
union Bits { float f; unsigned u; };
union Four { float4 v; float a[4]; };
__device__ void turn(Bits *b) { b->u ^= 0x80000000u; }
__device__ float size(Bits b) { b.u &= 0x7fffffffu; return b.f; }
__global__ void seen_as(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Bits b = {x[i]}, c = b, both[2];
    turn(&c);
    b.u |= 1u;
    for (int k = 0; k < 3; k++) { if (c.u >> 31) c.f = 0.5f * c.f - x[i]; else c.u += 3; }
    Four q;
    for (int k = 0; k < 4; k++) q.a[k] = k * c.f + y[i];
    both[i & 1].f = q.v.z;
    both[1 - (i & 1)].f = q.v.x;
    union { unsigned u; unsigned char b[4]; } p;
    p.u = b.u;
    p.b[2] = p.b[0] ^ p.b[1];
    union { double d; int w[2]; } e;
    e.d = x[i];
    union { unsigned u; float f; } two = {0x40000000u};
    y[i] = two.f * b.f + size(c) * both[0].f + (p.u >> 8) * 1e-6f + (e.w[1] >> 20) + (e.w[0] & 7);
}
void unions(float *x, float *y, int n) { seen_as<<<1, 64>>>(x, y, n); }

__global__ void flags_of(const float *x, int *f, float least, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) f[i] = x[i] > least ? 1 : 0; }
__global__ void places_of(const int *f, int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { p[i] = s; s += f[i]; } }
__global__ void places_from_one(const int *f, int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { s += f[i]; p[i] = s; } }
__global__ void kept_where(const float *x, const int *f, const int *p, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && f[i]) y[p[i]] = x[i]; }
__global__ void kept_by_value(const float *x, const int *p, float *y, float *at, float least, int n) { int j = blockIdx.x * blockDim.x + threadIdx.x; if (j < n && x[j] > least) { y[p[j] - 1] = x[j]; at[p[j] - 1] = j; } }
__global__ void kept_by_other_flags(const float *x, const int *f, const int *p, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && f[i]) y[p[i]] = x[i]; }
__global__ void kept_beyond(const float *x, const int *f, const int *p, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && f[i]) y[p[i]] = x[i]; }
__global__ void kept_by_names(const float *x, const int *f, const int *p, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && f[i]) y[p[i]] = x[i]; }
#define WITH_PLACES(...) int *f, *p; cudaMalloc(&f, n * sizeof(int)); cudaMalloc(&p, n * sizeof(int)); flags_of<<<1, 64>>>(x, f, 0.25f, n); __VA_ARGS__ cudaFree(f); cudaFree(p);
void compacted(float *x, float *y, int n) { WITH_PLACES(places_of<<<1, 1>>>(f, p, n); kept_where<<<1, 64>>>(x, f, p, y, n);) }
void compacted_by_sums(float *x, float *y, int n) {
    float *at;
    cudaMalloc(&at, n * sizeof(float));
    cudaMemset(at, 0, n * sizeof(float));
    WITH_PLACES(places_from_one<<<1, 1>>>(f, p, n); kept_by_value<<<1, 64>>>(x, p, y, at, 0.25f, n); mix<<<1, 64>>>(y, at, y, n);)
    cudaFree(at);
}
void compacted_by_other_flags(float *x, float *y, int n) { WITH_PLACES(places_of<<<1, 1>>>(f, p, n); flags_of<<<1, 64>>>(x, f, 0.0f, n); kept_by_other_flags<<<1, 64>>>(x, f, p, y, n);) }
void compacted_beyond_the_places(float *x, float *y, int n) { WITH_PLACES(places_of<<<1, 1>>>(f, p, n - 1); kept_beyond<<<1, 64>>>(x, f, p, y, n);) }
void compacted_by_two_names(float *x, float *y, int n) { WITH_PLACES(int *q = f; places_of<<<1, 1>>>(f, p, n); flags_of<<<1, 64>>>(x, q, 0.0f, n); kept_by_names<<<1, 64>>>(x, f, p, y, n);) }

__global__ void cells_from(float *f, const float *c, int d, int lo, int hi, int w) {
    int i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i > hi) return;
    int j = d - i;
    f[i * w + j] = c[i * w + j] + fminf(f[(i - 1) * w + j], fminf(f[i * w + j - 1], f[(i - 1) * w + j - 1]));
}
__global__ void cells_of(float *f, const float *c, int d, int lo, int count, int w) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count) { int i = lo + t, j = d - i; f[i * w + j] = c[i * w + j] + 0.5f * fmaxf(f[(i - 1) * w + j], f[i * w + j - 1]); }
}
__global__ void cells_beyond(float *f, const float *c, int d, int lo, int hi, int w) {
    int i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= hi) { int j = d - i; f[i * w + j] = c[i * w + j] + fminf(f[(i - 1) * w + j], f[i * w + j - 1]); }
}
void diagonals_with_ends(float *x, float *y, int n) {
    const int h = n / 3, w = 3;
    for (int d = 2; d <= h + w - 2; d++) {
        int lo = d - (w - 1) > 1 ? d - (w - 1) : 1;
        int hi = d - 1 < h - 1 ? d - 1 : h - 1;
        int len = hi - lo + 1;
        cells_from<<<(len + 63) / 64, 64>>>(y, x, d, lo, hi, w);
    }
    for (int d = 2; d <= h + w - 2; d++) {
        int lo = std::max(1, d - w + 1);
        cells_of<<<1, 64>>>(y, x, d, lo, std::min(d - 1, h - 1) - lo + 1, w);
    }
}
void diagonals_that_leave_the_table(float *x, float *y, int n) {
    const int w = 3;
    for (int d = 2; d <= n / 3 + w - 2; d++) {
        int lo = std::max(1, d - w);
        cells_beyond<<<1, 64>>>(y, x, d, lo, std::min(d - 1, n / 3 - 1), w);
    }
}
