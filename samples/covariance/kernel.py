import numpy as np


def covariance(data):
    """Sample covariance of the columns of ``data`` (observations by variables)."""
    n, m = data.shape
    mean = np.zeros(m)
    cov = np.zeros((m, m))
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for a in range(m):
        for b in range(m):
            for i in range(n):
                cov[a, b] += (data[i, a] - mean[a]) * (data[i, b] - mean[b])
            cov[a, b] /= n - 1
    return cov
