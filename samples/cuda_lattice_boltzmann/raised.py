"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp

NX = 8
NY = 6


@jax.jit
def stream_and_collide(f_in, f_out, omega):
    """D2Q5: pull the distributions from the neighbours (periodic), then relax them toward equilibrium

    f_out[y, x] = f_in[y, x] + omega * (rho / 3.0 - f_in[y, x])  for 0 <= x < 8, 0 <= y < 6
    f_out[y + 6, x] = f_in[8 * y + (x + 7) % NX + 48] + omega * (rho / 6.0 * (1.0 + 3.0 * ux) -
        f_in[8 * y + (x + 7) % NX + 48])
        for 0 <= x < 8, 0 <= y < 6
    f_out[y + 12, x] = f_in[8 * y + (x + 1) % NX + 96] + omega * (rho / 6.0 * (1.0 - 3.0 * ux) -
        f_in[8 * y + (x + 1) % NX + 96])
        for 0 <= x < 8, 0 <= y < 6
    f_out[y + 18, x] = f_in[x + 8 * ((y + 5) % NY) + 144] + omega * (rho / 6.0 * (1.0 + 3.0 * uy) -
        f_in[x + 8 * ((y + 5) % NY) + 144])
        for 0 <= x < 8, 0 <= y < 6
    f_out[y + 24, x] = f_in[x + 8 * ((y + 1) % NY) + 192] + omega * (rho / 6.0 * (1.0 - 3.0 * uy) -
        f_in[x + 8 * ((y + 1) % NY) + 192])
        for 0 <= x < 8, 0 <= y < 6
    """
    n = f_in.shape[0]
    f_in2 = f_in[:48].reshape(6, 8)
    y = jnp.arange(6)
    x = jnp.arange(8)
    f1 = f_in[8 * y[:, None] + (x + 7) % NX + 48]  # kernel.cu:18
    f2 = f_in[8 * y[:, None] + (x + 1) % NX + 96]
    f_in2_2 = f_in[: 8 * (n // 8)].reshape(n // 8, 8)
    f3 = f_in2_2[(y + 5) % NY + 18]
    f4 = f_in2_2[(y + 1) % NY + 24]
    rho = f_in2 + f1 + f2 + f3 + f4  # kernel.cu:23
    f_out2 = f_out[:240].reshape(30, 8)
    f_out2 = f_out2.at[:6].set(f_in2 + omega * (rho / 3.0 - f_in2))  # kernel.cu:27
    ratio = rho / 6.0
    ux = (f1 - f2) / rho  # kernel.cu:24
    f_out2 = f_out2.at[6:12].set(
        f1 + omega * (ratio * (1.0 + 3.0 * ux) - f1)
    )  # kernel.cu:28
    f_out2 = f_out2.at[12:18].set(
        f2 + omega * (ratio * (1.0 - 3.0 * ux) - f2)
    )  # kernel.cu:29
    uy = (f3 - f4) / rho  # kernel.cu:25
    f_out2 = f_out2.at[18:24].set(
        f3 + omega * (ratio * (1.0 + 3.0 * uy) - f3)
    )  # kernel.cu:30
    f_out2 = f_out2.at[24:].set(
        f4 + omega * (ratio * (1.0 - 3.0 * uy) - f4)
    )  # kernel.cu:31
    return f_out.at[:240].set(f_out2.ravel())
