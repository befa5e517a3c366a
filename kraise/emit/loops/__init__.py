"""Loops that stay, and the memory that their gradients take."""
