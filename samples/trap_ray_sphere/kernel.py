import math

from numba import cuda


@cuda.jit
def ray_sphere(t, ox, oy, dx, dy, radius):
    """Distance along each ray to a circle about the origin, -1 for those that miss it."""
    i = cuda.grid(1)
    if i < t.shape[0]:
        b = ox[i] * dx[i] + oy[i] * dy[i]
        c = ox[i] * ox[i] + oy[i] * oy[i] - radius * radius
        disc = b * b - c * (dx[i] * dx[i] + dy[i] * dy[i])
        if disc < 0.0:
            t[i] = -1.0
        else:
            root = math.sqrt(disc)
            near = -b - root
            far = -b + root
            t[i] = near if near > 0.0 else (far if far > 0.0 else -1.0)
