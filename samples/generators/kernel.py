"""Random numbers from integers of a fixed width, each exact to the bit."""

import numpy as np
from numba import cuda


@cuda.jit
def pcg_hash(keys, hashes):
    """PCG's output permutation as a hash."""
    i = cuda.grid(1)
    if i < hashes.size:
        state = np.uint32(keys[i]) * np.uint32(747796405) + np.uint32(2891336453)
        word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
        hashes[i] = (word >> np.uint32(22)) ^ word


@cuda.jit
def splitmix(seeds, values):
    """A row of splitmix64's numbers for each seed."""
    i = cuda.grid(1)
    if i < values.shape[0]:
        state = np.uint64(seeds[i])
        for k in range(values.shape[1]):
            state += np.uint64(0x9E3779B97F4A7C15)
            z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            values[i, k] = z ^ (z >> np.uint64(31))


@cuda.jit
def minimal_standard(seeds, numbers, rounds):
    """The generator of ANSI C's rand()."""
    i = cuda.grid(1)
    if i < numbers.size:
        state = seeds[i]
        for k in range(rounds):
            state = (1103515245 * state + 12345) % 2147483648
        numbers[i] = state
