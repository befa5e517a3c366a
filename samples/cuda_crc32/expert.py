"""The CRC-32 of messages by hand, all messages at once."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("count", "bytes"))
def checksum(messages, crc, count, bytes):
    def byte(state, value):
        state = state ^ value
        for _ in range(8):
            state = jnp.where(state & 1, (state >> 1) ^ jnp.uint32(0xEDB88320), state >> 1)
        return state, None

    start = jnp.full(count, 0xFFFFFFFF, jnp.uint32)
    state, _ = jax.lax.scan(byte, start, messages[: count * bytes].reshape(count, bytes).T.astype(jnp.uint32))
    return crc.at[:count].set(~state)


def large(rng):
    messages = rng.integers(0, 256, 5000 * 100).astype("uint8")
    return {
        "checksum": {
            "messages": messages,
            "crc": rng.integers(0, 9, 5000).astype("uint32"),
            "count": 5000,
            "bytes": 100,
        }
    }
