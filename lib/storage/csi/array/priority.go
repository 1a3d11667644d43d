package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// takePriority makes the array run before all ordinary processes: a real one is a machine of its
// own and does not wait for a processor behind the nodes. Threads made later inherit it.
func takePriority() {
	tasks, err := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		thread, _ := strconv.Atoi(task.Name())
		attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
		if failed := unix.SchedSetAttr(thread, &attributes, 0); failed != nil {
			err = failed
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "forcedetach-array: runs at ordinary priority:", err)
	}
}
