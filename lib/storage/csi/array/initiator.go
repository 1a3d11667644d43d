package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// initiator makes a node's devices of what it reaches over the storage network, in a container on that: one
// qemu-storage-daemon a path. They end with the container, and what waits for them gets an I/O error.
type initiator struct {
	mu      sync.Mutex
	running map[string]*program // by the name of the path's file
}

// program shows a path as a file.
type program struct {
	file  string
	cmd   *exec.Cmd
	said  tail
	ended chan struct{}
}

const (
	connectPatience = 12 * time.Second
	endPatience     = 3 * time.Second
	storageDaemon   = "qemu-storage-daemon"
	storageHost     = "storage" // on the storage network (lib/storage/csi/paths.ts)
)

// initiatorSocket is where the array asks the node's.
func initiatorSocket(root, node string) string {
	return filepath.Join(root, "initiators", node+".sock")
}

// initiate tests the daemon, then answers requests on the node's socket until a signal comes.
func initiate(root string, self request, ended <-chan os.Signal) error {
	i := &initiator{running: map[string]*program{}}
	listener, err := i.listen(root, self)
	if err != nil {
		fmt.Println("unfit:", err)
		return err
	}
	go accept(listener, i)
	fmt.Println("listening")
	<-ended
	return listener.Close()
}

func (i *initiator) listen(root string, self request) (net.Listener, error) {
	if !isName(self.Node) {
		return nil, errors.New("initiate needs --node")
	}
	if err := ensureKernelDevices(); err != nil {
		return nil, err
	}
	takePriority()
	if err := errors.Join(sinkRoute(), rememberStorage()); err != nil {
		return nil, err
	}
	self.Name, self.Connect = fileName("test-"+self.Node, 1), selfConnect
	if err := i.test(self); err != nil {
		return nil, err
	}
	socket := initiatorSocket(root, self.Node)
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return nil, err
	}
	if err := removeDeadSocket(socket); err != nil {
		return nil, err
	}
	return net.Listen("unix", socket)
}

// sinkAddress is no network's (RFC 5737).
const sinkAddress = "192.0.2.1"

// sinkRoute lets what goes to no network be dropped, as a broken one drops it: where connect() fails at once,
// libiscsi never comes back.
func sinkRoute() error {
	script := `ip link show sink >/dev/null 2>&1 && exit 0
		ip link add sink type veth peer name unheard
		ip link set sink up && ip link set unheard up
		ip addr add ` + sinkAddress + `/32 dev sink && ip route add default dev sink metric 9999`
	_, err := commanded("sh", "-c", script)
	return err
}

// rememberStorage writes the server's address into a file: while the network is gone nobody resolves names.
func rememberStorage() error {
	found, err := net.LookupHost(storageHost)
	if err != nil {
		return nil // The self-test alone needs no server.
	}
	hosts, err := os.OpenFile("/etc/hosts", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer hosts.Close()
	_, err = fmt.Fprintf(hosts, "%s %s\n", found[0], storageHost)
	return err
}

func (i *initiator) do(asked request) (any, error) {
	if !isName(asked.Name) {
		return nil, failure("BAD_REQUEST", "%s needs a name", asked.Do)
	}
	switch asked.Do {
	case "connect":
		return map[string]any{}, i.connect(asked)
	case "stop":
		if !asked.Force {
			i.end(asked.Name)
		}
		i.stop(asked.Name)
		return map[string]any{}, nil
	case "address":
		address, err := ownAddress()
		return map[string]any{"address": address}, err
	}
	return nil, failure("BAD_REQUEST", "cannot do %q", asked.Do)
}

// connect puts the path's file, as the daemon shows it, behind the loop device. A daemon of that name that
// runs already had a path that is gone.
func (i *initiator) connect(asked request) error {
	i.stop(asked.Name)
	file := filepath.Join("/run", asked.Name)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	p := &program{file: file, ended: make(chan struct{})}
	p.cmd = exec.Command(storageDaemon, "--blockdev", "node-name=path,"+asked.Connect,
		"--export", "fuse,id=path,node-name=path,writable=on,mountpoint="+file)
	p.cmd.Stderr = &p.said
	if err := p.cmd.Start(); err != nil {
		return failure("INITIATOR_FAILED", "%s: %v", storageDaemon, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	i.mu.Lock()
	i.running[asked.Name] = p
	i.mu.Unlock()
	err := p.shown()
	if err == nil {
		err = bindFile(asked.Loop, file, asked.Name)
	}
	if err != nil {
		i.stop(asked.Name)
	}
	return err
}

// shown waits until the daemon shows the path.
func (p *program) shown() error {
	for end := time.Now().Add(connectPatience); time.Now().Before(end); {
		if found, err := os.Stat(p.file); err == nil && found.Size() > 0 {
			return nil
		}
		select {
		case <-p.ended:
			return failure("INITIATOR_FAILED", "%s ended: %s", storageDaemon, p.said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return failure("INITIATOR_FAILED", "no path after %v: %s", connectPatience, p.said.String())
}

func bindFile(loop int, file, name string) error {
	// Not os.Open: Go's poller would send the file poll requests.
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return bindLoop(loop, fd, name)
}

// end lets it leave its server as a client does that is not dead: RBD's gives its lock back.
func (i *initiator) end(name string) {
	i.mu.Lock()
	p := i.running[name]
	i.mu.Unlock()
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(unix.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(endPatience):
	}
}

// stop kills it: whatever waits for it gets an I/O error. No error where there is none.
func (i *initiator) stop(name string) {
	i.mu.Lock()
	p := i.running[name]
	delete(i.running, name)
	i.mu.Unlock()
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	_ = unix.Unmount(p.file, unix.MNT_DETACH)
	os.Remove(p.file)
}

// tail keeps the last of what a program writes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2000

func (t *tail) Write(more []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, more...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return os.Stderr.Write(more)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}

const (
	testWriters = 16
	testWrites  = 8 // by each
	testBlock   = 512 << 10
	testZeroed  = 1 << 20
	testSize    = testWriters * testWrites * testBlock
)

// scratch is a disk in memory.
type scratch struct {
	mu   sync.Mutex
	data []byte
}

func (s *scratch) size() int64 { return int64(len(s.data)) }

func (s *scratch) read(_ <-chan struct{}, offset int64, into []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copy(into, s.data[offset:]), nil
}

func (s *scratch) write(_ <-chan struct{}, offset int64, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	copy(s.data[offset:], data)
	return nil
}

func (s *scratch) flush(<-chan struct{}) error { return nil }

func (s *scratch) zero(_ <-chan struct{}, offset, length int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.data[offset : offset+length])
	return nil
}

// selfConnect is how the daemon reaches the self-test's disk, whatever protocol follows.
const selfConnect = "driver=nbd,server.type=inet,server.host=127.0.0.1,server.port=10809,export=test," +
	"cache.direct=on,discard=unmap"

// leastVersion: the FUSE export of 7.2 loses concurrent writes, now and then.
var leastVersion = [2]int{11, 1}

// test writes through the daemon and a loop device, many requests at a time, and compares with what arrived:
// releases of the daemon differ in what they lose, and in what they call zeroed.
func (i *initiator) test(self request) error {
	version, err := exec.Command(storageDaemon, "--version").Output()
	if err != nil {
		return failure("INITIATOR_FAILED", "%s: %v", storageDaemon, err)
	}
	var found [2]int
	_, _ = fmt.Sscanf(string(version), storageDaemon+" version %d.%d", &found[0], &found[1])
	if slices.Compare(found[:], leastVersion[:]) < 0 {
		return failure("INITIATOR_FAILED", "%s %v is older than %v", storageDaemon, found, leastVersion)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nbdPort))
	if err != nil {
		return err
	}
	defer listener.Close()
	disk := &scratch{data: make([]byte, testSize)}
	go serveNBD(listener, func(string) *export { return &export{disk: disk, letGo: func() {}} })
	if err := i.connect(self); err != nil {
		return err
	}
	wanted, err := writeMany(self.Loop)
	_ = detachLoop(self.Loop)
	i.stop(self.Name)
	removeLoop(self.Loop)
	if err != nil {
		return err
	}
	disk.mu.Lock()
	defer disk.mu.Unlock()
	wrong := 0
	for at := 0; at < testSize; at += testBlock {
		if !bytes.Equal(disk.data[at:at+testBlock], wanted[at:at+testBlock]) {
			wrong++
		}
	}
	if wrong > 0 {
		return failure("INITIATOR_FAILED", "%d of %d blocks are not as they were written", wrong, testSize/testBlock)
	}
	return nil
}

// writeMany writes random blocks side by side, zeroes the first ones, and returns what must be there.
func writeMany(loop int) ([]byte, error) {
	fd, err := unix.Open(devicePath(loop), unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)

	// Direct I/O needs memory at a page's beginning.
	memory, err := unix.Mmap(-1, 0, testSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	defer unix.Munmap(memory)
	_, _ = rand.Read(memory)
	failed := make([]error, testWriters)
	var all sync.WaitGroup
	for writer := range testWriters {
		all.Go(func() {
			for n := range testWrites {
				at := (n*testWriters + writer) * testBlock
				if err := pwriteAll(fd, memory[at:at+testBlock], int64(at)); err != nil {
					failed[writer] = err
				}
			}
		})
	}
	all.Wait()
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	failed = append(failed, unix.Fallocate(fd, punch, 0, testZeroed), unix.Fsync(fd))
	wanted := bytes.Clone(memory)
	clear(wanted[:testZeroed])
	return wanted, errors.Join(failed...)
}
