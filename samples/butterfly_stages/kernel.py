"""Stages of fast transforms: each thread takes a pair at a distance that the host halves or doubles."""

from numba import cuda


@cuda.jit
def walsh_stage(v, half, n):
    t = cuda.grid(1)
    if t < n // 2:
        low = t & (half - 1)
        a = ((t - low) << 1) + low
        b = a + half
        p, q = v[a], v[b]
        v[a] = p + q
        v[b] = p - q


@cuda.jit
def fourier_stage(re, im, cos, sin, half, n):
    """One stage of a transform in bit-reversed order; the table holds the turns of the last stage."""
    t = cuda.grid(1)
    if t >= n // 2:
        return
    k = t % half
    a = 2 * half * (t // half) + k
    b = a + half
    turn = k * (n // (2 * half))
    c, s = cos[turn], sin[turn]
    x = re[b] * c - im[b] * s
    y = re[b] * s + im[b] * c
    re[b] = re[a] - x
    im[b] = im[a] - y
    re[a] += x
    im[a] += y
