// Gravity between bodies that are kept as an array of structs, with the host code around the launches.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                        \
  do {                                                                     \
    cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                            \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

struct Body {
  float x, y, vx, vy, mass;
};

__global__ void kick(Body *bodies, int n, float dt, float softening) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f;
  for (int j = 0; j < n; j++) {
    float dx = bodies[j].x - bodies[i].x;
    float dy = bodies[j].y - bodies[i].y;
    float inv = rsqrtf(dx * dx + dy * dy + softening);
    ax += bodies[j].mass * dx * inv * inv * inv;
    ay += bodies[j].mass * dy * inv * inv * inv;
  }
  bodies[i].vx += dt * ax;
  bodies[i].vy += dt * ay;
}

__global__ void drift(Body *bodies, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = bodies[i];
  b.x += dt * b.vx;
  b.y += dt * b.vy;
  bodies[i] = b;
}

float simulate(Body *host, int n, int steps, float dt) {
  const size_t bytes = n * sizeof(Body);
  Body *bodies;
  CHECK(cudaMalloc(&bodies, bytes));
  CHECK(cudaMemcpy(bodies, host, bytes, cudaMemcpyHostToDevice));
  const int threads = 128, blocks = (n + threads - 1) / threads;
  for (int step = 0; step < steps; step++) {
    kick<<<blocks, threads>>>(bodies, n, dt, 0.1f);
    drift<<<blocks, threads>>>(bodies, n, dt);
  }
  CHECK(cudaMemcpy(host, bodies, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(bodies));
  float energy = 0.0f;
  for (int i = 0; i < n; i++)
    energy += 0.5f * host[i].mass * (host[i].vx * host[i].vx + host[i].vy * host[i].vy);
  return energy;
}
