package marked

import "syscall"

func f() {
	syscall.Setsid() // detached-spawn: ok - a line comment
}
