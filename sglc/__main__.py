"""`python -m sglc`: the command line, with the checkout's own folders kept off the import path.

Run from a checkout, Python puts the working directory on the path first, where folders named `kernels` and
`runtime` would answer to bare imports that other packages make.
"""

import os.path
import sys

if sys.path and os.path.isdir(os.path.join(sys.path[0] or ".", "kernels")):
    sys.path.pop(0)

from sglc.cli import main

if __name__ == "__main__":
    sys.exit(main())
