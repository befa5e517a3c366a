"""The first entry of a ragged row that passes a test, and what comes before it."""

from numba import cuda


@cuda.jit
def first_hit(starts, energy, depth, limit, where, lost):
    """Steps along each ray: which of them is the first beyond the limit, and what the ray loses until then."""
    i = cuda.grid(1)
    if i >= where.shape[0]:
        return
    loss = 0.0
    where[i] = -1
    for k in range(starts[i], starts[i + 1]):
        if energy[k] > limit:
            where[i] = k
            break
        loss += energy[k] * depth[i]
    lost[i] = loss
