"""The sample covariance by hand."""

import jax


@jax.jit
def covariance(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (data.shape[0] - 1)


def large(rng):
    return {"covariance": {"data": rng.random((3000, 150))}}
