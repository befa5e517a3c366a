"""Stores: versions of arrays, and what each store makes of them."""
