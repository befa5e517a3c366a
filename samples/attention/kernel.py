"""Attention of every query to all keys, with one scratch row for the scores."""

import math

import numpy as np


def attention(Q, K, V, out, scale):
    n, d = Q.shape
    m = K.shape[0]
    scores = np.zeros(m)
    for i in range(n):
        mx = -np.inf
        for j in range(m):
            s = 0.0
            for k in range(d):
                s += Q[i, k] * K[j, k]
            scores[j] = s * scale
            if scores[j] > mx:
                mx = scores[j]
        z = 0.0
        for j in range(m):
            scores[j] = math.exp(scores[j] - mx)
            z += scores[j]
        for c in range(V.shape[1]):
            acc = 0.0
            for j in range(m):
                acc += scores[j] * V[j, c]
            out[i, c] = acc / z

