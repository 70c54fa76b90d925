"""A worker that is forked and runs the same program is not a start of another one."""
import os

if os.fork() == 0:
    os._exit(0)
