from numba import cuda


@cuda.jit
def conv2d(image, mask, out):
    """Same-size 2-D filter; pixels outside the image count as zero."""
    i, j = cuda.grid(2)
    rows, cols = image.shape
    if i >= rows or j >= cols:
        return
    dr = mask.shape[0] // 2
    dc = mask.shape[1] // 2
    s = 0.0
    for k in range(mask.shape[0]):
        for l in range(mask.shape[1]):
            r = i + k - dr
            c = j + l - dc
            if r >= 0 and r < rows and c >= 0 and c < cols:
                s += mask[k, l] * image[r, c]
    out[i, j] = s
