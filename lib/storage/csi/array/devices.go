package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ensureKernelDevices puts the kernel's own /dev in place: a container's /dev is a copy made when
// it started, and devices made later never appear in it.
func ensureKernelDevices() error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) > 2 && fields[1] == "/dev" && fields[2] == "devtmpfs" {
			return nil
		}
	}
	if err := unix.Mount("devtmpfs", "/dev", "devtmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount devtmpfs on /dev: %w", err)
	}
	return nil
}
