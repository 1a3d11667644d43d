// Command forcedetach-array is the storage array of a lab cluster: the data path between each
// node's loop device and the volume's file. It runs outside the nodes, so it survives their death.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const version = "1"

const usage = `usage:
  forcedetach-array serve --root DIR                 serve the volumes under DIR on DIR/array.sock
  forcedetach-array install --root DIR               put this program into DIR/bin
  forcedetach-array initiate --root DIR --node NODE --loop N
                                                     make the node's devices of what a network brings
  forcedetach-array files --root DIR --mount PATH    pass DIR through at PATH, with locks of its own
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "forcedetach-array:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no command\n%s", usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	root := flags.String("root", "/var/lib/forcedetach", "directory shared by nodes, lab and array")
	node := flags.String("node", "", "whose devices they are (initiate only)")
	loop := flags.Int("loop", 0, "number of the self-test's device (initiate only)")
	mount := flags.String("mount", "", "where the files appear (files only)")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	switch args[0] {
	case "serve":
		return serve(*root, ended)
	case "install":
		return installProgram(*root)
	case "initiate":
		return initiate(*root, request{Node: *node, Loop: *loop}, ended)
	case "files":
		return serveFiles(*root, *mount, ended)
	}
	return fmt.Errorf("no such command: %s\n%s", args[0], usage)
}
