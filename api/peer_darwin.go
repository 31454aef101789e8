package api

import (
	"bytes"
	"os/exec"
	"strconv"
	"syscall"
)

// What <sys/un.h> calls SOL_LOCAL and LOCAL_PEERPID.
const (
	solLocal     = 0
	localPeerPID = 2
)

func peerPID(fd int) int {
	pid, err := syscall.GetsockoptInt(fd, solLocal, localPeerPID)
	if err != nil {
		return 0
	}
	return pid
}

// parentPID asks ps: macOS has no proc file system.
func parentPID(pid int) int {
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	parent, err := strconv.Atoi(string(bytes.TrimSpace(out)))
	if err != nil {
		return 0
	}
	return parent
}
