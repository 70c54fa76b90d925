"""Command lines."""
import asyncio
import os
import shlex
import subprocess
import sys
from hermes_spawn import spawn_owned

program = input()
RUNNER = "nohup"
COMMAND = ["setsid", "server"]

subprocess.run("setsid server &", shell=True)  # finds: detaching-command
subprocess.run("server --port 1 &", shell=True)  # finds: background-job
subprocess.run(f"nohup {program} > log", shell=True)  # finds: detaching-command
subprocess.run("nohup %s" % program, shell=True)  # finds: detaching-command
subprocess.run("{} &".format(program), shell=True)  # finds: background-job
subprocess.run("cd /x && " "nohup server", shell=True)  # finds: detaching-command
subprocess.run(program + " &", shell=True)  # finds: background-job
subprocess.run(program, shell=True)  # finds: unknown-command?
os.system("server & disown")  # finds: background-job
os.popen("systemd-run --user server")  # finds: detaching-command
subprocess.getoutput("(sleep 1; server) &")  # finds: background-job
subprocess.Popen(["setsid", "server"])  # finds: detaching-command
subprocess.Popen(COMMAND)  # finds: detaching-command
subprocess.Popen([RUNNER, "server"])  # finds: detaching-command
subprocess.Popen(args=["/usr/bin/nohup", "server"])  # finds: detaching-command
subprocess.Popen(["sh", "-c", "server &"])  # finds: background-job
subprocess.Popen(["bash", "-lc", f"exec setsid {program}"])  # finds: detaching-command
subprocess.Popen(["sh", "-c", program])  # finds: unknown-command?
subprocess.Popen(["sudo", "-u", "x", "env", "A=1", "setsid", "-w", "server"])  # finds: detaching-command
subprocess.Popen(["setsid"] + [program])  # finds: detaching-command
subprocess.Popen(["nohup", *program])  # finds: detaching-command
subprocess.Popen(shlex.split("setsid server"))  # finds: detaching-command
subprocess.Popen(["start-stop-daemon", "--start", "--background", "--exec", "x"])  # finds: detaching-command
subprocess.run(["sh", "-c", "sh -c 'nohup server'"])  # finds: detaching-command
os.execvp("setsid", ["setsid", "server"])  # finds: detaching-command
os.execlp("sh", "sh", "-c", "server &")  # finds: background-job
os.spawnlp(os.P_NOWAIT, "nohup", "nohup", "server")  # finds: detaching-command
os.spawnv(os.P_DETACH, "server", ["server"])  # finds: creation-flags


async def asynchronous():
    await asyncio.create_subprocess_shell("nohup server")  # finds: detaching-command
    await asyncio.create_subprocess_exec("setsid", "server")  # finds: detaching-command
    await asyncio.create_subprocess_exec(
        "sh",  # finds: background-job
        "-c",
        "server &",
    )


for background in ("server", "server &"):
    subprocess.run(background, shell=True)  # finds: background-job
for name, paired in [("a", "server"), ("b", "nohup server")]:
    subprocess.run(paired, shell=True)  # finds: detaching-command
for computed in lines():
    subprocess.run(computed, shell=True)  # finds: unknown-command?

# Nothing of the kind.
for harmless in ("true", "uname -p"):
    subprocess.run(harmless, shell=True)
subprocess.run("server && echo done", shell=True)
subprocess.run("server > log 2>&1", shell=True)
subprocess.run("server &> log", shell=True)
subprocess.run("echo 'a & b' \"nohup\" setsid", shell=True)
subprocess.run("command -v setsid", shell=True)
subprocess.run(f"git log {program}", shell=True)
subprocess.run(sys.executable, shell=True)
subprocess.run(["echo", "setsid", "&"])
subprocess.run(["grep", "nohup", "file"])
subprocess.run(["which", "setsid"])
subprocess.run("setsid &")
subprocess.run([program, "server"])
subprocess.run(["start-stop-daemon", "--stop", "--pidfile", "x"])
subprocess.run(["sh", "script", "-c", "x &"])
print("nohup server &", "sh -c 'x &'")
spawn_owned(["sh", "-c", "echo ready; exec sleep 600"], stdout=1)
spawn_owned(["server"], outlive="it serves others")
