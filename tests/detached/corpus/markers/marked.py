"""detached-spawn: ok - in a string it is nothing"""
import os
import subprocess

subprocess.Popen(["a"], start_new_session=True)  # detached-spawn: ok - it outlives us by design
# detached-spawn: ok — an em dash will do
subprocess.Popen(["a"], start_new_session=True)
# detached-spawn: ok - above the call is as good as above the option
subprocess.Popen(
    ["a"],
    start_new_session=True,
)
subprocess.Popen(
    ["a"],
    # detached-spawn: ok - and so is this
    start_new_session=True,
)
os.setsid()  # noqa: X; detached-spawn: ok - behind another comment

# detached-spawn: ok - two lines above is too far (finds: marker-unused)

os.setsid()  # finds: new-session
