"""Raised host functions as text."""
