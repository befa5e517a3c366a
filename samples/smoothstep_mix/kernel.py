"""Blend two images along a soft edge; the edge function is a device helper."""

from numba import cuda


@cuda.jit(device=True, inline=True)
def smoothstep(lo, hi, v):
    t = (v - lo) / (hi - lo)
    if t <= 0.0:
        return 0.0
    if t >= 1.0:
        return 1.0
    return t * t * (3.0 - 2.0 * t)


@cuda.jit(device=True)
def mix(a, b, t):
    return a * (1.0 - t) + b * t


@cuda.jit
def smoothstep_mix(front, back, depth, out, lo, hi):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        t = smoothstep(lo, hi, depth[y, x])
        out[y, x] = mix(front[y, x], back[y, x], t)
