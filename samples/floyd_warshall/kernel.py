def floyd_warshall(dist):
    """All-pairs shortest paths in place; dist[i, j] is the weight of edge i -> j."""
    n = dist.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = dist[i, k] + dist[k, j]
                if through < dist[i, j]:
                    dist[i, j] = through
