"""Process groups, functions before exec, creation flags."""
import functools
import os
import subprocess
import sys
from somewhere import hook, other
from subprocess import DETACHED_PROCESS as GONE
from subprocess import *

import win32con

subprocess.Popen(["server"], process_group=0)  # finds: process-group
subprocess.Popen(["server"], process_group=other)  # finds: process-group?
spawn_it(["server"], process_group=0)  # finds: process-group
subprocess.Popen(["server"], process_group=None)
torch_module(model, process_group=pg)
os.setpgid(0, 0)  # finds: process-group
os.setpgrp()  # finds: process-group
os.posix_spawnp("server", ["server"], {}, setpgroup=0)  # finds: process-group
os.posix_spawnp("server", ["server"], {}, setpgroup=None)
on_start(os.setpgrp)  # finds: process-group


def leave():
    os.setsid()  # finds: new-session


def indirect():
    leave()


def stay():
    os.nice(5)


def unlimited():
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


subprocess.Popen(["server"], preexec_fn=os.setsid)  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=os.setpgrp)  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=lambda: os.setsid())  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=lambda: (os.nice(5), os.setpgid(0, 0)))  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=leave)  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=indirect)  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=functools.partial(os.setpgid, 0, 0))  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=getattr(os, "setsid", None))  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=None if sys.platform == "win32" else os.setsid)  # finds: before-exec
subprocess.Popen(["server"], preexec_fn=hook)  # finds: before-exec?
subprocess.Popen(
    ["server"],
    stdout=subprocess.PIPE,
    preexec_fn=os.setsid,  # finds: before-exec
)
OPTIONS = {"preexec_fn": os.setsid}  # finds: before-exec
subprocess.Popen(["server"], **OPTIONS)
subprocess.Popen(["server"], preexec_fn=stay)
subprocess.Popen(["server"], preexec_fn=unlimited)
subprocess.Popen(["server"], preexec_fn=None)
subprocess.Popen(["server"], preexec_fn=lambda: os.nice(5))

FLAGS = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
subprocess.Popen(["server"], creationflags=subprocess.DETACHED_PROCESS)  # finds: creation-flags
subprocess.Popen(["server"], creationflags=FLAGS)  # finds: creation-flags
subprocess.Popen(["server"], creationflags=GONE | 0x08000000)  # finds: creation-flags
subprocess.Popen(["server"], creationflags=0x00000008)  # finds: creation-flags
subprocess.Popen(["server"], creationflags=win32con.CREATE_BREAKAWAY_FROM_JOB)  # finds: creation-flags
Popen(["server"], creationflags=CREATE_NEW_PROCESS_GROUP)  # finds: creation-flags
subprocess.Popen(["server"], creationflags=getattr(subprocess, "DETACHED_PROCESS", 0))  # finds: creation-flags
flags = 0
if sys.platform == "win32":
    flags |= subprocess.DETACHED_PROCESS
subprocess.Popen(["server"], creationflags=flags)  # finds: creation-flags
subprocess.Popen(["server"], creationflags=subprocess.CREATE_NO_WINDOW)
subprocess.Popen(["server"], creationflags=0x08000000)
subprocess.Popen(["server"], creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
subprocess.Popen(["server"], creationflags=0)


def with_flags(creationflags):
    subprocess.Popen(["server"], creationflags=creationflags)  # finds: creation-flags?
