"""Scores of rows with a bias by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("classes", "dim", "batch"))
def row_scores(weights, features, scores, classes, dim, batch):
    w = weights.reshape(classes, dim + 1)
    return (features.reshape(batch, dim) @ w[:, :dim].T + w[:, dim]).ravel()


def large(rng):
    classes, dim, batch = 200, 300, 400
    sizes = {"weights": classes * (dim + 1), "features": batch * dim, "scores": batch * classes}
    arrays = {name: rng.random(size, "f") for name, size in sizes.items()}
    return {"row_scores": arrays | {"classes": classes, "dim": dim, "batch": batch}}
