"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp

DT = 0.05
BOX = 4.0


@jax.jit
def particle_push(pos, vel, acc):
    """Leapfrog kick and drift with reflecting walls; several arrays are written.

    pos[i, d] = -(pos[i, d] + DT * (vel[i, d] + DT * acc[i, d])) if pos[i, d] + DT * (vel[i, d] + DT
        * acc[i, d]) < 0.0 else 2.0 * BOX - (pos[i, d] + DT * (vel[i, d] + DT * acc[i, d])) if
        pos[i, d] + DT * (vel[i, d] + DT * acc[i, d]) > BOX else pos[i, d] + DT * (vel[i, d] + DT *
        acc[i, d])
        for 0 <= i < pos.shape[0], 0 <= d < 3
    vel[i, d] = -(vel[i, d] + DT * acc[i, d]) if pos.0[i, d] + DT * (vel[i, d] + DT * acc[i, d]) <
        0.0 or pos.0[i, d] + DT * (vel[i, d] + DT * acc[i, d]) > BOX else vel[i, d] + DT * acc[i, d]
        for 0 <= i < pos.shape[0], 0 <= d < 3
    """
    rows = pos.shape[0]
    v = vel[:rows, :3] + DT * acc[:rows, :3]  # kernel.py:14
    p = pos[:, :3] + DT * v
    below = p < 0.0
    above = p > BOX
    p_2 = 2.0 * BOX - p  # kernel.py:21
    p_3 = jnp.where(above, p_2, p)
    p_4 = jnp.where(below, -p, p_3)  # kernel.py:18
    pos = pos.at[:, :3].set(p_4)  # kernel.py:23
    v_2 = jnp.where(below | above, -v, v)  # kernel.py:19
    vel = vel.at[:rows, :3].set(v_2)  # kernel.py:24
    return pos, vel
