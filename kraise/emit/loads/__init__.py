"""Loads: a subscript is a slice, a roll, a padded slice, a window or a gather."""
