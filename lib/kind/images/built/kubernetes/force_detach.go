package main

import (
	"fmt"
	"os"
	"time"

	"k8s.io/kubernetes/pkg/controller/volume/attachdetach"
)

const forceDetachWaitVariable = "FORCEDETACH_MAX_WAIT_FOR_UNMOUNT"

// takeForceDetachWait sets how long the attach-detach controller waits for an unmount before it
// detaches by force. Upstream it is a constant of 6 minutes without a flag. Unset leaves it alone;
// set, it is said aloud, so that no log of a shortened run can be taken for a stock one.
func takeForceDetachWait() {
	value, set := os.LookupEnv(forceDetachWaitVariable)
	if !set || value == "" {
		return
	}
	wait, err := time.ParseDuration(value)
	if err != nil || wait <= 0 {
		fmt.Fprintf(os.Stderr, "%s=%q is not a positive duration such as 30s\n",
			forceDetachWaitVariable, value)
		os.Exit(2)
	}
	stock := attachdetach.DefaultTimerConfig.ReconcilerMaxWaitForUnmountDuration
	attachdetach.DefaultTimerConfig.ReconcilerMaxWaitForUnmountDuration = wait
	fmt.Fprintf(os.Stderr, "forcedetach: force-detach wait is %s instead of the stock %s (%s)\n",
		wait, stock, forceDetachWaitVariable)
}
