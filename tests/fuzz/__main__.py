"""``python -m tests.fuzz``: see :mod:`tests.fuzz.run` (a module that worker processes can import)."""

import sys

from tests.fuzz.run import main

if __name__ == "__main__":
    sys.exit(main())
