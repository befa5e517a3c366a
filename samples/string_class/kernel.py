"""A string that is plucked: a class keeps its state on the device."""

import numpy as np
from numba import cuda


@cuda.jit
def accelerate(shape, speed, stiffness, dt):
    i = cuda.grid(1)
    if 0 < i < shape.size - 1:
        speed[i] += dt * stiffness * (shape[i - 1] - 2.0 * shape[i] + shape[i + 1])


@cuda.jit
def move(shape, speed, friction, dt):
    i = cuda.grid(1)
    if i < shape.size:
        speed[i] *= 1.0 - dt * friction
        shape[i] += dt * speed[i]


class String:
    """The string between two fixed ends."""

    FRICTION = 0.01

    def __init__(self, shape, stiffness, dt=0.05):
        self.stream = cuda.stream()
        self.dt = dt
        self.stiffness = stiffness
        self.shape = cuda.to_device(shape)
        self.speed = cuda.to_device(np.zeros_like(shape))
        self.threads = 128
        self.time = 0.0

    def step(self):
        blocks = (self.shape.size + self.threads - 1) // self.threads
        accelerate[blocks, self.threads, self.stream](self.shape, self.speed, self.stiffness, self.dt)
        move[blocks, self.threads, self.stream](self.shape, self.speed, self.FRICTION, self.dt)
        self.time += self.dt

    def run(self, steps):
        """The shape after some steps."""
        for _ in range(steps):
            self.step()
        self.stream.synchronize()
        return self.shape.copy_to_host()
