import math

from numba import cuda


@cuda.jit
def attention_edges(ptr, src, score, h, weight, out):
    """Graph attention: a softmax over the edges that end in each node, and the mean of their sources by it."""
    node = cuda.grid(1)
    if node < out.shape[0]:
        first = ptr[node]
        last = ptr[node + 1]
        top = -math.inf
        for e in range(first, last):
            top = max(top, score[e])
        total = 0.0
        for e in range(first, last):
            total += math.exp(score[e] - top)
        mixed = 0.0
        for e in range(first, last):
            weight[e] = math.exp(score[e] - top) / total
            mixed += weight[e] * h[src[e]]
        out[node] = mixed
