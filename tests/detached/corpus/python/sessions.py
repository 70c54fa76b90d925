"""Sessions of their own. start_new_session=True in a docstring is nothing; os.setsid() neither."""
import asyncio
import os
import subprocess
import subprocess as sp
from os import setsid as leave
from subprocess import Popen as Start, run

DETACH = True
ATTACHED = False

subprocess.Popen(["server"], start_new_session=True)  # finds: new-session
sp.Popen(["server"], start_new_session=DETACH)  # finds: new-session
Start(["server"], start_new_session=1)  # finds: new-session
run(
    ["server"],
    check=True,
    start_new_session=True,  # finds: new-session
)
subprocess.run(["server"], start_new_session=os.name == "posix")  # finds: new-session?
subprocess.call(["server"], start_new_session=True if os.name == "posix" else False)  # finds: new-session


async def asynchronous(new):
    await asyncio.create_subprocess_exec("server", start_new_session=True)  # finds: new-session
    await asyncio.create_subprocess_shell("server", start_new_session=new)  # finds: new-session?


os.setsid()  # finds: new-session
leave()  # finds: new-session
getattr(os, "setsid")()  # finds: new-session
__import__("os").setsid()  # finds: new-session
detach = os.setsid
detach()  # finds: new-session
CHILDS_HOOKS = [os.setsid]  # finds: new-session
os.posix_spawn("/bin/server", ["server"], {}, setsid=True)  # finds: new-session


class Server:
    def __init__(self):
        self.hook = os.setsid

    def go(self):
        self.hook()  # finds: new-session


# Options in dictionaries.
OPTIONS = {"start_new_session": True}  # finds: new-session
subprocess.Popen(["server"], **OPTIONS)
subprocess.Popen(["server"], **{"start_new_session": True})  # finds: new-session
more = dict(stdin=subprocess.DEVNULL, start_new_session=True)  # finds: new-session
subprocess.Popen(["server"], **more)
built = {}
built["start_new_session"] = True  # finds: new-session
subprocess.Popen(["server"], **built)
built.setdefault("start_new_session", True)  # finds: new-session
built.update(start_new_session=True)  # finds: new-session


def wrapper(**options):
    return subprocess.Popen(["server"], **options)  # finds: unknown-options?


# Nothing of the kind.
subprocess.Popen(["server"])
subprocess.Popen(["server"], start_new_session=False)
subprocess.Popen(["server"], start_new_session=ATTACHED)
subprocess.Popen(["server"], start_new_session=None)
os.posix_spawn("/bin/server", ["server"], {}, setsid=False)
os.posix_spawn("/bin/server", ["server"], {})
quiet = {"stdin": subprocess.DEVNULL}
subprocess.Popen(["server"], **quiet)
print("subprocess.Popen(cmd, start_new_session=True)")
help_text = """
os.setsid()
subprocess.Popen(["setsid", "x"])
"""
print(hasattr(os, "setsid"), callable(os.setsid), help_text)
# subprocess.Popen(["server"], start_new_session=True)


def start_new_session(setsid):
    """A parameter of that name is not os.setsid."""
    setsid()
    return start_new_session


class Own:
    def setsid(self):
        return None


Own().setsid()
