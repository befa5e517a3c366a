"""One generation on a torus: eight neighbours, without the cell itself."""

from numba import cuda


@cuda.jit
def game_of_life(cur, nxt):
    x, y = cuda.grid(2)
    h, w = cur.shape
    if x < h and y < w:
        total = 0
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                if dx != 0 or dy != 0:
                    total += cur[(x + dx) % h, (y + dy) % w]
        if cur[x, y] == 1 and (total == 2 or total == 3):
            nxt[x, y] = 1
        elif cur[x, y] == 0 and total == 3:
            nxt[x, y] = 1
        else:
            nxt[x, y] = 0
