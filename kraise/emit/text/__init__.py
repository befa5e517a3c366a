"""Python text: expressions with precedence, layout, names."""
