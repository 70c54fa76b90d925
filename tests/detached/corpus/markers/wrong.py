import os

os.setsid()  # finds: new-session, marker-misspelt; detatched-spawn: ok - a letter too many
os.setsid()  # finds: new-session, marker-misspelt; detached_spawn: ok - not a hyphen
os.setsid()  # finds: new-session, marker-misspelt; detached-spawn ok - no colon
os.setsid()  # finds: new-session, marker-misspelt; detached-spawn: fine - not ok
os.setsid()  # finds: new-session, marker-without-reason; detached-spawn: ok -
print("x")  # finds: marker-unused; detached-spawn: ok - nothing is started here
# The marker `detached-spawn: ok - why` is only talked about.
print("# detached-spawn: ok - in a string")
