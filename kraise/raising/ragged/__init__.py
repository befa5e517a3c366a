"""Loops whose range an array decides: segments of one flat range (raising.md, step 5)."""
