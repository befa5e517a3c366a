import math

from numba import cuda


@cuda.jit
def bilinear_sample(img, ys, xs, out):
    """Sample ``img`` at fractional positions, clamped to the border."""
    p = cuda.grid(1)
    if p < out.shape[0]:
        h, w = img.shape
        y = min(max(ys[p], 0.0), h - 1.0)
        x = min(max(xs[p], 0.0), w - 1.0)
        y0 = min(int(math.floor(y)), h - 2)
        x0 = min(int(math.floor(x)), w - 2)
        fy = y - y0
        fx = x - x0
        top = (1.0 - fx) * img[y0, x0] + fx * img[y0, x0 + 1]
        bottom = (1.0 - fx) * img[y0 + 1, x0] + fx * img[y0 + 1, x0 + 1]
        out[p] = (1.0 - fy) * top + fy * bottom
