"""The interpreter against an independent meaning: the samples' own Python in numba's CUDA simulator."""

import os
import subprocess
import sys
from pathlib import Path


def test_samples_mean_what_their_python_does():
    program = [sys.executable, str(Path(__file__).with_name("simulator.py"))]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
