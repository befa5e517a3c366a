"""Lloyd's algorithm: assign, accumulate and update, each a kernel, in a loop of the host."""

import numpy as np
from numba import cuda


@cuda.jit
def assign(points, centres, label):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best = 1.0e30
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                d += (points[i, k] - centres[c, k]) ** 2
            if d < best:
                best = d
                label[i] = c


@cuda.jit
def accumulate(points, label, total, count):
    i = cuda.grid(1)
    if i < points.shape[0]:
        cuda.atomic.add(count, label[i], 1.0)
        for k in range(points.shape[1]):
            cuda.atomic.add(total, (label[i], k), points[i, k])


@cuda.jit
def update(total, count, centres):
    c = cuda.grid(1)
    if c < centres.shape[0]:
        if count[c] > 0.0:
            for k in range(centres.shape[1]):
                centres[c, k] = total[c, k] / count[c]


def kmeans(points, start, rounds):
    n, dims = points.shape
    k = start.shape[0]
    centres = cuda.to_device(start)
    label = cuda.device_array(n, dtype=np.int32)
    for _ in range(rounds):
        total = cuda.to_device(np.zeros_like(start))
        count = cuda.to_device(np.zeros(k, dtype=start.dtype))
        assign[(n + 127) // 128, 128](points, centres, label)
        accumulate[(n + 127) // 128, 128](points, label, total, count)
        update[1, k](total, count, centres)
    return centres.copy_to_host(), label.copy_to_host()
