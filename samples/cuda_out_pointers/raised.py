"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spin(points, radius, angle, n):
    """rotates each point by twice its own angle and stores both forms

    points[i, 0] = cos(2.0 * a) * points[i, 0] - sin(2.0 * a) * points[i, 1]  for 0 <= i < n
    points[i, 1] = sin(2.0 * a) * points.0[i, 0] + cos(2.0 * a) * points.0[i, 1]  for 0 <= i < n
    radius[i] = hypot(points.0[i, 0], points.0[i, 1])  for 0 <= i < n
    angle[i] = atan2(points.0[i, 1], points.0[i, 0])  for 0 <= i < n
    """
    py = points[:n, 1]  # kernel.cu:18
    px = points[:n, 0]
    a = jnp.arctan2(py, px)  # kernel.cu:5
    angle_2 = 2.0 * a  # kernel.cu:22
    c = jnp.cos(angle_2)
    s = jnp.sin(angle_2)
    px_2 = c * px - s * py  # kernel.cu:10
    py_2 = s * px + c * py
    points = points.at[:n, :2].set(jnp.stack((px_2, py_2), axis=1))  # kernel.cu:24
    radius = radius.at[:n].set(jnp.hypot(px, py))  # kernel.cu:25
    angle = angle.at[:n].set(a)  # kernel.cu:26
    return points, radius, angle
