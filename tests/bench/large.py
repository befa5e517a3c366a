"""A long CUDA C file: 5,500 lines, 30 kernels (issue 3: parse to diagnostics in under 10 s, under 500 MB)."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from kraise import pipeline
from tests.bench.timing import row

HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#define TILE 16
#define BLOCK 256
#define IDX(i, j, w) ((i) * (w) + (j))
#define CLAMP(x, lo, hi) ((x) < (lo) ? (lo) : ((x) > (hi) ? (hi) : (x)))

typedef struct { float rate; float decay; int width; } Settings;

__device__ float blend(float a, float b, float t) { return a + t * (b - a); }
__device__ __forceinline__ float square(float x) { return x * x; }
"""
# one text a family; {n} is the kernel's number, {lines} straight-line arithmetic that makes it as long as real ones
FAMILIES = (
    """
__global__ void cells_{n}(const float *u, const float *v, float *out, Settings s, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = u[i];
    float b = v[i];
{lines}
    out[i] = blend(a, b, s.rate) - s.decay * square(a);
}}
""",
    """
__global__ void stencil_{n}(const float *u, float *out, float alpha, int height, int width) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    float a = u[IDX(y, x, width)];
    float b = u[IDX(y - 1, x, width)] + u[IDX(y + 1, x, width)] + u[IDX(y, x - 1, width)] + u[IDX(y, x + 1, width)];
{lines}
    out[IDX(y, x, width)] = a + alpha * (b - 4.0f * a);
}}
""",
    """
__global__ void product_{n}(const float *A, const float *B, float *C, float alpha, int rows, int cols, int depth) {{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {{
        float sum = 0.0f;
        for (int k = 0; k < depth; ++k) sum += A[row * depth + k] * B[k * cols + col];
        float a = sum;
        float b = alpha;
{lines}
        C[row * cols + col] = a * b;
    }}
}}
""",
    """
__global__ void totals_{n}(const float *x, float *total, int n) {{
    __shared__ float part[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    float a = i < n ? x[i] : 0.0f;
    float b = 0.5f;
{lines}
    part[t] = i < n ? a + b : 0.0f;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {{
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }}
    if (t == 0) total[blockIdx.x] = part[0];
}}
""",
    """
__global__ void pairs_{n}(const float4 *body, float4 *force, float soft, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = body[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int j = 0; j < n; ++j) {{
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float w = other.w * rsqrtf(square(dx) + square(dy) + square(dz) + soft);
        fx += w * dx;
        fy += w * dy;
        fz += w * dz;
    }}
    float a = fx;
    float b = fy;
{lines}
    force[i] = make_float4(a, b, fz, me.w);
}}
""",
    """
__global__ void image_{n}(const unsigned char *img, int *counts, float *out, int height, int width, int radius) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float a = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            a += img[CLAMP(y + dy, 0, height - 1) * width + CLAMP(x + dx, 0, width - 1)] / 25.0f;
    float b = a * radius;
{lines}
    atomicAdd(&counts[img[y * width + x]], 1);
    out[y * width + x] = b;
}}
""",
)
LINES = (
    "    a = a * {c}f + b; // relaxes toward the other",
    "    b = fmaxf(b - 0.{k}f * a, -1.0f);",
    "    if (a > {c}f) {{ a -= b; }} else {{ b += {c}f; }}",
    "    float t{k} = sqrtf(fabsf(a * b) + {c}f);",
    "    a += expf(-t{k} * t{k});",
    "    /* step {k} of the scheme */",
    "    b = blend(a, b, {c}f);",
)
HOST = """
void report_{n}(const float *values, int count) {{
{lines}
}}
"""


def source(kernels: int = 30, lines: int = 5500) -> str:
    """A CUDA C file of so many kernels and, with host code between, lines; the same text each time."""
    text = HEAD
    body = lines // kernels
    for n in range(kernels):
        arithmetic = [
            LINES[k % len(LINES)].format(k=k - k % len(LINES), c=f"{1 + k % 5}.{n}") for k in range(body // 4)
        ]
        text += FAMILIES[n % len(FAMILIES)].format(n=n, lines="\n".join(arithmetic))
        printed = (n + 1) * body - text.count("\n") - 4
        text += HOST.format(n=n, lines="\n".join(f'    printf("%d %f\\n", {k}, values[{k}]);' for k in range(printed)))
    return text


def main() -> None:
    """Prints the seconds from text to diagnostics and module, and the peak of the memory."""
    text = source()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "large.cu")
        file.write_text(text)
        started = time.process_time()
        done = pipeline.translate(text, str(file))
        seconds = time.process_time() - started
    row(f"{text.count(chr(10))} lines, {len(done.raised)} kernels raised", f"{seconds:.1f} s", "below 10 s of one core")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    row("peak memory", f"{peak:.0f} MB", "below 500 MB")


if __name__ == "__main__":
    main()
