"""European calls by hand, also on the day that they expire."""

import jax
import jax.numpy as jnp
from jax.scipy.special import erfc


@jax.jit
def option_expiry(price, s, k, t, vol, rate):
    alive = t > 0
    time = jnp.where(alive, t, 1)
    sq = vol * jnp.sqrt(time)
    moves = alive & (sq != 0)
    spread, ratio = jnp.where(moves, sq, 1), jnp.where(moves, s / k, 1)
    discounted = k * jnp.exp(-rate * time)
    d1 = (jnp.log(ratio) + (rate + 0.5 * vol * vol) * time) / spread
    n1, n2 = (0.5 * erfc(-d / 2**0.5) for d in (d1, d1 - spread))
    still = jnp.maximum(s - jnp.where(alive, discounted, k), 0)
    return jnp.where(moves, s * n1 - discounted * n2, still)


def large(rng):
    price, s, k, t, vol = 0.1 + rng.random((5, 100_000))
    return {"option_expiry": {"price": price, "s": s + 1, "k": k + 1, "t": t - 0.3, "vol": vol, "rate": 0.03}}
