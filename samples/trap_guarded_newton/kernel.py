from numba import cuda


@cuda.jit
def guarded_newton(root, error, rounds, c, limit):
    """Newton's rounds for a root; numbers up to a limit are kept apart, and the others let the rounds run away."""
    i = cuda.grid(1)
    if i < c.shape[0]:
        v = c[i]
        n = 0
        if c[i] > 0.0:
            while n < 25:
                step = (v * v - c[i]) / (2.0 * v)
                v = v - step
                n += 1
                if abs(step) < 1e-12:
                    break
            if c[i] > limit:
                root[i] = v
            else:
                error[i] = v - 0.5 * c[i]
        rounds[i] = n
