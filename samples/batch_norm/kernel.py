"""Batch normalisation over samples and pixels, channel by channel."""

import math


def batch_norm(x, gamma, beta, eps, out):
    N, C, H, W = x.shape
    for c in range(C):
        m = 0.0
        for n in range(N):
            for h in range(H):
                for w in range(W):
                    m += x[n, c, h, w]
        m /= N * H * W
        v = 0.0
        for n in range(N):
            for h in range(H):
                for w in range(W):
                    v += (x[n, c, h, w] - m) ** 2
        v /= N * H * W
        inv = 1.0 / math.sqrt(v + eps)
        for n in range(N):
            for h in range(H):
                for w in range(W):
                    out[n, c, h, w] = gamma[c] * (x[n, c, h, w] - m) * inv + beta[c]
