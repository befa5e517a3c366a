"""kraise: raise scalar GPU kernels and loop nests to JAX modules that can be read and differentiated."""

__version__ = "0.1.0"
