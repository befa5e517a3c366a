"""Runge-Kutta steps whose stages are in small arrays of each thread."""

import math

from numba import cuda, float32


@cuda.jit
def pendulums(state, out, h, steps):
    """Angle and speed of each pendulum after some steps of length h."""
    i = cuda.grid(1)
    if i >= state.shape[0]:
        return
    y = cuda.local.array(2, float32)
    k = cuda.local.array((4, 2), float32)
    t = cuda.local.array(2, float32)
    for c in range(2):
        y[c] = state[i, c]
    for _ in range(steps):
        for stage in range(4):
            for c in range(2):
                if stage == 0:
                    t[c] = y[c]
                elif stage == 3:
                    t[c] = y[c] + h * k[2, c]
                else:
                    t[c] = y[c] + 0.5 * h * k[stage - 1, c]
            k[stage, 0] = t[1]
            k[stage, 1] = -math.sin(t[0])
        for c in range(2):
            y[c] += h / 6.0 * (k[0, c] + 2.0 * k[1, c] + 2.0 * k[2, c] + k[3, c])
    for c in range(2):
        out[i, c] = y[c]
