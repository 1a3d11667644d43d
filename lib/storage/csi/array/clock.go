package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// started is one moment on Go's clock, which has no origin that others know, and on the kernel's.
var started, startedNs = now()

func now() (time.Time, uint64) {
	var kernel unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &kernel); err != nil {
		panic(err) // Every kernel has this clock.
	}
	return time.Now(), uint64(kernel.Nano())
}

// monotonicNs is CLOCK_MONOTONIC, which all containers of a machine share. Go reads it without a
// system call.
func monotonicNs() uint64 { return startedNs + uint64(time.Since(started)) }
