"""Cooling of a plate with two buffers that a number chooses, until the largest change is small."""

import numpy as np
from numba import cuda


@cuda.jit
def cool(plate, after, change, rate):
    i, j = cuda.grid(2)
    if 0 < i < plate.shape[0] - 1 and 0 < j < plate.shape[1] - 1:
        around = plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]
        after[i, j] = plate[i, j] + rate * (around - 4.0 * plate[i, j])
        change[i, j] = abs(after[i, j] - plate[i, j])


def cool_plate(plate, rate, tolerance, most_steps):
    rows, cols = plate.shape
    buffers = [cuda.to_device(plate) for _ in range(2)]
    change = cuda.to_device(np.zeros_like(plate))
    config = ((rows + 15) // 16, (cols + 15) // 16), (16, 16)
    now = 0
    for _ in range(most_steps):
        cool[config](buffers[now], buffers[1 - now], change, rate)
        now = 1 - now
        if change.copy_to_host().max() < tolerance:
            break
    coolest = buffers[now].copy_to_host()[1:-1].min(axis=1)
    return buffers[now].copy_to_host(), coolest
