"""Tests of the package, with the standard library only: `python3 -m unittest` in the folder above."""

import atexit
import os
import shutil
import tempfile

if "HERMES_TEST" not in os.environ:
    # A test is an owner, too, and must not write into the home of whoever runs it.
    _home = tempfile.mkdtemp(prefix="hs-")
    atexit.register(shutil.rmtree, _home, ignore_errors=True)
    os.environ["HERMES_HOME"] = _home
