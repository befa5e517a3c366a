from numba import cuda

DT = 0.05
BOX = 4.0


@cuda.jit
def particle_push(pos, vel, acc):
    """Leapfrog kick and drift with reflecting walls; several arrays are written."""
    i = cuda.grid(1)
    if i >= pos.shape[0]:
        return
    for d in range(3):
        v = vel[i, d] + DT * acc[i, d]
        p = pos[i, d] + DT * v
        # bounce off the walls
        if p < 0.0:
            p = -p
            v = -v
        elif p > BOX:
            p = 2.0 * BOX - p
            v = -v
        pos[i, d] = p
        vel[i, d] = v
