"""Reductions, contractions, running values and segments."""
