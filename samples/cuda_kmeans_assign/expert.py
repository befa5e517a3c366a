"""The nearest centre of each point by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("nfeatures", "npoints", "nclusters"))
def kmeans_assign(feature, nfeatures, npoints, nclusters, membership, clusters):
    x, c = feature.reshape(nfeatures, npoints), clusters.reshape(nclusters, nfeatures)
    distance = ((x - c[:, :, None]) ** 2).sum(axis=1)
    return distance.argmin(axis=0).astype(membership.dtype)


def large(rng):
    points, clusters, features = 100_000, 8, 4
    x, c = rng.random(points * features, "f"), rng.random(clusters * features, "f")
    sizes = {"nfeatures": features, "npoints": points, "nclusters": clusters}
    nearest = rng.integers(0, 9, points).astype("int32")
    return {"kmeans_assign": sizes | {"feature": x, "clusters": c, "membership": nearest}}
