"""``python -m kraise`` is ``kraise``."""

from kraise.cli import main

if __name__ == "__main__":
    main()
