"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def covariance(data):
    """Sample covariance of the columns of ``data`` (observations by variables).

    mean[j] = (sum_i data[i, j]) / n  for 0 <= j < m
    cov[a, b] = (sum_i (data[i, a] - mean[a]) * (data[i, b] - mean[b])) / (n - 1)
        for 0 <= a < m, 0 <= b < m
    """
    n = data.shape[0]
    mean = data.sum(axis=0) / n  # kernel.py:12
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return (data.T - mean[:, None]) @ (data - mean) / (n - 1)  # kernel.py:17
