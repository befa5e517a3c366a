"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Recurrences over the two rounds before, in the cells of the output.
"""

import jax


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@jax.jit
def resonator(x, y, r, c):
    """y[k] = c y[k-1] - r y[k-2] + x[k], one channel a thread

    y_before, y_before2 = y[ch, 1], y[ch, 0]  for 0 <= ch < y.shape[0]
    for k = 2 ... y.shape[1] - 1:
        y_out[ch, k] = y_before, y_before2 = c * y_before - r * y_before2 + x[ch, k], y_before
    y[ch, k] = y_out[ch, k]  for 0 <= ch < y.shape[0], 2 <= k < y.shape[1]
    """
    rows, cols = y.shape
    if cols < 3:
        return y

    def step(state, x_k):
        y_before, y_before2 = state
        y_new = c * y_before - r * y_before2 + x_k
        return (y_new.astype(y.dtype), y_before), y_new

    _, y_out = jax.lax.scan(
        step, (y[:, 1], y[:, 0]), x[:rows, 2:cols].T, unroll=rounds_at_once(32)
    )  # kernel.py:11
    return y.at[:, 2:].set(y_out.T)  # kernel.py:12


@jax.jit
def chebyshev(x, T):
    """Chebyshev polynomials of the first kind, one row an order.

    T[0, i] = 1.0  for 0 <= i < x.shape[0]
    T[1, i] = x[i]  for 0 <= i < x.shape[0]
    T_before, T_before2 = x[i], T[0, i]  for 0 <= i < x.shape[0]
    for n = 2 ... T.shape[0] - 1:
        T_out[i, n] = T_before, T_before2 = 2.0 * x[i] * T_before - T_before2, T_before
    T[n, i] = T_out[i, n]  for 0 <= i < x.shape[0], 2 <= n < T.shape[0]
    """
    m = x.shape[0]
    T = T.at[0, :m].set(1.0)  # kernel.py:18
    T = T.at[1, :m].set(x)  # kernel.py:19

    def step(state, _):
        T_before, T_before2 = state
        T_new = 2.0 * x * T_before - T_before2
        return (T_new.astype(T.dtype), T_before), T_new

    _, T_out = jax.lax.scan(
        step,
        (x.astype(T.dtype), T[0, :m]),
        None,
        length=max(T.shape[0] - 2, 0),
        unroll=rounds_at_once(32),
    )  # kernel.py:20
    return T.at[2:, :m].set(T_out)  # kernel.py:21
