package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
)

const gcPercent = 800

// serve answers requests on root/array.sock until a signal comes. Then it cuts nothing: held
// requests are answered EIO, and each loop device goes with its last user.
func serve(root string, ended <-chan os.Signal) error {
	if err := ensureKernelDevices(); err != nil {
		return err
	}
	socket := filepath.Join(root, "array.sock")
	if err := removeDeadSocket(socket); err != nil {
		return err
	}
	if err := installProgram(root); err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	takePriority()
	// Requests make garbage of a few kilobytes; memory is cheaper than collecting it often.
	debug.SetGCPercent(gcPercent)
	array := newArray(root)
	go accept(listener, array)
	fmt.Println("listening")
	<-ended
	listener.Close()
	array.shutDown()
	return nil
}

// removeDeadSocket removes what a killed array left; a living one keeps its socket.
func removeDeadSocket(socket string) error {
	connection, err := net.Dial("unix", socket)
	if err == nil {
		connection.Close()
		return fmt.Errorf("another array serves %s", socket)
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// doer carries out requests.
type doer interface{ do(request) (any, error) }

func accept(listener net.Listener, by doer) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go converse(connection, by)
	}
}

// converse runs the requests of one connection side by side: a copy must not hold up a status.
func converse(connection net.Conn, by doer) {
	defer connection.Close()
	var writing sync.Mutex
	var running sync.WaitGroup
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		var asked request
		err := json.Unmarshal(lines.Bytes(), &asked)
		running.Go(func() {
			var result any
			if err != nil {
				err = failure("BAD_REQUEST", "%v", err)
			} else {
				result, err = by.do(asked)
			}
			writing.Lock()
			defer writing.Unlock()
			_, _ = connection.Write(reply(asked.ID, result, err))
		})
	}
	running.Wait()
}

// installProgram puts this program where all containers find it: nodes serve files with it, initiators make
// devices, and other images serve paths.
func installProgram(root string) error {
	to := filepath.Join(root, "bin", "forcedetach-array")
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// Written aside: the old one may be running.
	if err := os.WriteFile(to+".new", program, 0o755); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
