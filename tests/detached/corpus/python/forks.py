"""Forks, daemons, terminals."""
import os as system
import pty
from pty import fork as terminal_fork

import daemon
from daemonize import Daemonize
from daemoniker import Daemonizer


def by_hand():
    if system.fork() == 0:  # finds: fork-exec
        system.execvp("server", ["server"])


pid, fd = pty.fork()  # finds: terminal-fork
terminal_fork()  # finds: terminal-fork
system.forkpty()  # finds: terminal-fork
with daemon.DaemonContext():  # finds: daemon
    pass
Daemonize(app="server", pid="/run/server.pid", action=by_hand)  # finds: daemon
with Daemonizer() as (_, daemonizer):  # finds: daemon
    pass
daemon.threads_are_daemons = True


class Worker:
    daemon = True

    def fork(self):
        return self.daemon


Worker().fork()
