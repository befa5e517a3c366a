"""The forms of a program: types, operations, Kernel IR, equations, with a printer and a validator each."""
