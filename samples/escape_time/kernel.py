from numba import cuda


@cuda.jit
def escape_time(cx, cy, steps, max_iter):
    """Mandelbrot set: rounds until |z| > 2, at most max_iter."""
    i, j = cuda.grid(2)
    if i < steps.shape[0] and j < steps.shape[1]:
        x = 0.0
        y = 0.0
        n = 0
        while n < max_iter and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cx[j], 2.0 * x * y + cy[i]
            n += 1
        steps[i, j] = n
