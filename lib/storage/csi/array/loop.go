package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// fileName is how the kernel shows whose device it is (losetup, /sys/block/loopN/loop/backing_file).
func fileName(volume string, generation uint32) string {
	return fmt.Sprintf("forcedetach.%s.%d", volume, generation)
}

const ownFiles = "/forcedetach."

// loopMajor is in major(7), as the kernel's list of devices has it.
const loopMajor = 7

func devicePath(loop int) string { return fmt.Sprintf("/dev/loop%d", loop) }

func sysfsPath(loop int) string { return fmt.Sprintf("/sys/block/loop%d", loop) }

// isBound is true while a file is behind the device.
func isBound(loop int) bool { return exists(sysfsPath(loop) + "/loop/backing_file") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// bindLoop puts the open file behind a loop device of that number. The number is made anew, so
// that its counters begin at 0.
func bindLoop(loop, file int, name string) error {
	if isBound(loop) {
		return failure("LOOP_BUSY", "%s serves something else", devicePath(loop))
	}
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/loop-control: %w", err)
	}
	defer unix.Close(control)
	if exists(sysfsPath(loop)) {
		if err := unix.IoctlSetInt(control, unix.LOOP_CTL_REMOVE, loop); err != nil {
			return failure("LOOP_BUSY", "%s cannot be made anew: %v", devicePath(loop), err)
		}
	}
	if err := unix.IoctlSetInt(control, unix.LOOP_CTL_ADD, loop); err != nil {
		return fmt.Errorf("LOOP_CTL_ADD %d: %w", loop, err)
	}
	device, err := unix.Open(devicePath(loop), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", devicePath(loop), err)
	}
	defer unix.Close(device)
	config := unix.LoopConfig{Fd: uint32(file), Size: 512}
	config.Info.Flags = unix.LO_FLAGS_DIRECT_IO
	copy(config.Info.File_name[:len(config.Info.File_name)-1], name)
	if err := unix.IoctlLoopConfigure(device, &config); err != nil {
		if errors.Is(err, unix.EBUSY) {
			return failure("LOOP_BUSY", "%s serves something else", devicePath(loop))
		}
		return fmt.Errorf("LOOP_CONFIGURE %s: %w", devicePath(loop), err)
	}
	return nil
}

// detachLoop takes the file away: at once where nobody has the device open, else at its last close.
func detachLoop(loop int) error {
	device, err := unix.Open(devicePath(loop), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(device)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(device), unix.LOOP_CLR_FD, 0)
	if errno != 0 && errno != unix.ENXIO {
		return errno
	}
	return nil
}

// removeLoop takes an unbound device away, as far as nobody looks at it just now.
func removeLoop(loop int) {
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(control)
	_ = unix.IoctlSetInt(control, unix.LOOP_CTL_REMOVE, loop)
}

// isMounted asks the file systems instead of the device: a probing open would make a mount that
// happens at that moment fail.
func isMounted(loop int) bool {
	name := fmt.Sprintf("loop%d", loop)
	return exists("/sys/fs/ext4/"+name) || exists("/sys/fs/xfs/"+name)
}

// isClaimed is true while somebody mounted the device or opened it for itself.
func isClaimed(loop int) bool {
	device, err := unix.Open(devicePath(loop), unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(device)
	}
	return errors.Is(err, unix.EBUSY)
}

// loopsBehindLoops are the numbers of loop devices that others have as their file: kubelet puts one
// over each raw volume that a pod has, and keeps it open so.
func loopsBehindLoops() map[int]bool {
	behind := map[int]bool{}
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range files {
		name, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(name), ownFiles) {
			continue
		}
		var over int
		if _, err := fmt.Sscanf(file, "/sys/block/loop%d/", &over); err != nil {
			continue
		}
		if loop, is := loopBehind(over); is {
			behind[loop] = true
		}
	}
	return behind
}

// loopBehind is the loop device that the device has as its file.
func loopBehind(over int) (loop int, is bool) {
	device, err := unix.Open(devicePath(over), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(device)
	info, err := unix.IoctlLoopGetStatus64(device)
	if err != nil || unix.Major(info.Rdevice) != loopMajor {
		return 0, false
	}
	return int(unix.Minor(info.Rdevice)), true
}
