// Package starts: Setsid: true is only said here.
package starts

import (
	"fmt"
	"os/exec"
	run "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const leave = true
const runner = "nohup"

/* SysProcAttr{Setsid: true} */
func attributes(given bool) {
	cmd := exec.Command("server")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}  // finds: new-session
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // finds: process-group
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig:  syscall.SIGKILL,
		Foreground: true, // finds: foreground-group
		Setpgid:    leave, // finds: process-group
	}
	cmd.SysProcAttr.Setsid = true                            // finds: new-session
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: given}       // finds: new-session?
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: 8} // finds: creation-flags
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP} // finds: creation-flags
	syscall.Setsid()                                         // finds: new-session
	unix.Setpgid(0, 0)                                       // finds: process-group
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: false}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.SysProcAttr.Setpgid = false
	other := Options{Setsid: true}
	fmt.Println("Setsid: true", other, `Setpgid: true`)
}

func commands(given string) {
	exec.Command("setsid", "server")                             // finds: detaching-command
	run.Command(runner, "server")                                // finds: detaching-command
	exec.CommandContext(ctx, "sh", "-c", "server &")             // finds: background-job
	exec.Command("sh", "-c", fmt.Sprintf("nohup %s", given))     // finds: detaching-command
	exec.Command("bash", []string{"-c", "nohup server"}...)      // finds: detaching-command
	exec.Command("sh", "-c", given)                              // finds: unknown-command?
	exec.Command("sh", "-c", "cd "+given+" && nohup server")     // finds: detaching-command
	syscall.Exec("/usr/bin/setsid", []string{"setsid", "x"}, nil) // finds: detaching-command
	exec.Command("echo", "setsid", "&")
	exec.Command(given, "setsid")
	exec.Command("sh", "-c", "server && echo 'a & b'")
}
