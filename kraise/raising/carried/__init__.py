"""Scalars carried by a loop: one rule a module."""
