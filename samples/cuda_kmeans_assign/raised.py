"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("nfeatures", "npoints", "nclusters"))
def kmeans_assign(feature, nfeatures, npoints, nclusters, membership, clusters):
    """the nearest centre of each point; features are stored feature by feature

    membership[point_id] = argmin_i(dist) if min_i(dist) < 3.4028234663852886e+38 else -1
        for 0 <= point_id < npoints
    """
    feature2 = feature[: nfeatures * npoints].reshape(nfeatures, npoints)
    clusters2 = clusters[: nclusters * nfeatures].reshape(nclusters, nfeatures)
    d = feature2.T[:, None, :] - clusters2  # kernel.cu:13
    dist = jnp.sum(d * d, axis=2)  # kernel.cu:12
    index = (
        jnp.where(dist.min(axis=1) < 3.4028234663852886e38, dist.argmin(axis=1), -1)
        if nclusters > 0
        else jnp.full(npoints, -1)
    )  # kernel.cu:10
    return membership.at[:npoints].set(index.astype(membership.dtype))  # kernel.cu:21
