from numba import cuda


@cuda.jit
def conv1d(signal, taps, out):
    """Valid correlation of a signal with a short filter."""
    i = cuda.grid(1)
    if i < out.size:
        s = 0.0
        for k in range(len(taps)):
            s += signal[i + k] * taps[k]
        out[i] = s
