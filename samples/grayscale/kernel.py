"""Colour to luminance, one thread a pixel."""

from numba import cuda

# ITU-R BT.601 weights
RED = 0.299
GREEN = 0.587
BLUE = 0.114


@cuda.jit
def grayscale(rgb, gray, gain):
    x, y = cuda.grid(2)
    height = rgb.shape[0]
    width = rgb.shape[1]
    if x < width and y < height:
        lum = RED * rgb[y, x, 0] + GREEN * rgb[y, x, 1] + BLUE * rgb[y, x, 2]
        gray[y, x] = min(gain * lum, 255.0)
