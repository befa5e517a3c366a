"""Newton's method with a tolerance and a bound on the iterations: exits in the middle and at the end."""

import math

from numba import cuda


@cuda.jit
def kepler(mean, eccentricity, anomaly, rounds, tolerance, most):
    i = cuda.grid(1)
    if i < mean.shape[0]:
        e = eccentricity[i]
        x = mean[i]
        n = 0
        while n < most:
            slope = 1.0 - e * math.cos(x)
            if slope < 0.05:
                break
            step = (x - e * math.sin(x) - mean[i]) / slope
            x -= step
            n += 1
            if abs(step) < tolerance:
                break
        anomaly[i] = x
        rounds[i] = n


@cuda.jit
def first_passage(steps, level, when, where):
    """the first time that a walk passes a level: -1 if it never does"""
    i = cuda.grid(1)
    if i < steps.shape[0]:
        position = 0.0
        when[i] = -1
        for t in range(steps.shape[1]):
            position += steps[i, t]
            if position > level:
                when[i] = t
                break
        where[i] = position
