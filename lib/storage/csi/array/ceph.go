package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	cephFolder = "/srv/ceph"
	cephFsid   = "3b6a8c1e-0d1c-4f0e-9f8e-6d1f3f0f9a11"
	osdUUID    = "6d1f3f0f-9a11-4f0e-9f8e-3b6a8c1e0d1c"
	cephPool   = "rbd"
	// A command that takes longer is stuck.
	cephPatience = 15 * time.Second
)

// cephConf is of one mon and one osd that keep all in memory. One placement group, so that its log has the writes
// of all images in their order. Paxos would wait a second before it answers. Validated pools have no snapshots.
const cephConf = `[global]
fsid = %[1]s
mon host = [v2:%[2]s:3300,v1:%[2]s:6789]
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
paxos propose interval = 0.01
paxos min wait = 0.01
run dir = %[3]s
admin socket = %[3]s/$name.asok
log to file = false
log to stderr = false
rbd validate pool = false
[mon]
mon data = %[3]s/mon
mon data avail warn = 1
mon data avail crit = 1
[osd]
osd data = %[3]s/osd
osd objectstore = memstore
memstore device bytes = 8589934592
memstore page set = true
log to stderr = true
log coarse timestamps = false
debug ms = 1
`

// startCeph runs a mon and an osd on this container's address, and returns what the osd logs.
func startCeph() (io.Reader, error) {
	address, err := ownAddress()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cephFolder, 0o755); err != nil {
		return nil, err
	}
	// The mon waits for its disk before each answer.
	if err := unix.Mount("tmpfs", cephFolder, "tmpfs", 0, ""); err != nil {
		return nil, err
	}
	for _, name := range []string{"mon", "osd"} {
		if err := os.MkdirAll(filepath.Join(cephFolder, name), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll("/etc/ceph", 0o755); err != nil {
		return nil, err
	}
	conf := fmt.Sprintf(cephConf, cephFsid, address, cephFolder)
	if err := os.WriteFile("/etc/ceph/ceph.conf", []byte(conf), 0o644); err != nil {
		return nil, err
	}
	monmap := filepath.Join(cephFolder, "monmap")
	addresses := fmt.Sprintf("[v2:%s:3300,v1:%s:6789]", address, address)
	if err := steps(
		[]string{"monmaptool", "--create", "--clobber", "--fsid", cephFsid, "--addv", "a", addresses, monmap},
		[]string{"ceph-mon", "--mkfs", "-i", "a", "--monmap", monmap},
	); err != nil {
		return nil, err
	}
	if err := exec.Command("ceph-mon", "-i", "a", "-f").Start(); err != nil {
		return nil, err
	}
	if err := steps(
		[]string{"ceph", "osd", "new", osdUUID},
		[]string{"ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osdUUID, "--debug-ms", "0"},
		[]string{"ceph", "osd", "crush", "add", "osd.0", "1.0", "host=array", "root=default"},
	); err != nil {
		return nil, err
	}
	osd := exec.Command("ceph-osd", "-i", "0", "-f")
	log, err := osd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := osd.Start(); err != nil {
		return nil, err
	}
	_, err = ceph("ceph", "osd", "pool", "create", cephPool, "1", "1")
	return log, err
}

func steps(commands ...[]string) error {
	for _, each := range commands {
		if _, err := ceph(each...); err != nil {
			return err
		}
	}
	return nil
}

// ceph runs a program of Ceph and returns what it prints.
func ceph(argv ...string) ([]byte, error) {
	patience, cancel := context.WithTimeout(context.Background(), cephPatience)
	defer cancel()
	printed, err := exec.CommandContext(patience, argv[0], argv[1:]...).Output()
	if err == nil {
		return printed, nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return nil, failure("CEPH_FAILED", "%s: %v", strings.Join(argv, " "), err)
}

// cephJSON parses what the command prints.
func cephJSON(into any, argv ...string) error {
	printed, err := ceph(append(argv, "--format", "json")...)
	if err != nil {
		return err
	}
	// Some commands print a second value.
	return json.NewDecoder(strings.NewReader(string(printed))).Decode(into)
}

// askOSD carries out a command of the osd's admin socket.
func askOSD(command string, into any) error {
	socket, err := net.Dial("unix", filepath.Join(cephFolder, "osd.0.asok"))
	if err != nil {
		return err
	}
	defer socket.Close()
	_ = socket.SetDeadline(time.Now().Add(cephPatience))
	if _, err := fmt.Fprintf(socket, "{\"prefix\": %q}\x00", command); err != nil {
		return err
	}
	// Its length comes first.
	if _, err := io.CopyN(io.Discard, socket, 4); err != nil {
		return err
	}
	return json.NewDecoder(socket).Decode(into)
}

// osdAddress is a client's, as the admin socket has it.
type osdAddress struct {
	Address string `json:"addr"`
	Nonce   uint64
}

func (c osdAddress) String() string { return fmt.Sprintf("%s/%d", c.Address, c.Nonce) }

// blocklisted are the addresses of clients that the osd refuses, once it has the map.
func blocklisted(epoch int) (map[string]bool, error) {
	var status struct {
		Newest int `json:"newest_map,string"`
	}
	for end := time.Now().Add(cephPatience); status.Newest < epoch; {
		if err := askOSD("status", &status); err != nil {
			return nil, err
		}
		if time.Now().After(end) {
			return nil, failure("CEPH_FAILED", "the osd has no map %d", epoch)
		}
	}
	var entries []struct {
		Client osdAddress `json:"entity_addr_t"`
	}
	err := askOSD("dump_blocklist", &entries)
	found := map[string]bool{}
	for _, each := range entries {
		found[each.Client.String()] = true
	}
	return found, err
}

func ownAddress() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	return ownAmong(addresses)
}

// ownAmong leaves out the address of an initiator's route to nowhere: its interface may come first.
func ownAmong(addresses []net.Addr) (string, error) {
	for _, each := range addresses {
		network, is := each.(*net.IPNet)
		if is && !network.IP.IsLoopback() && network.IP.To4() != nil && network.IP.String() != sinkAddress {
			return network.IP.String(), nil
		}
	}
	return "", failure("NO_ADDRESS", "it is on no network")
}

// readLines calls `each` until the log ends.
func readLines(log io.Reader, each func(line string)) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		each(lines.Text())
	}
}

// cephCopy writes the pool's snapshot of an image's objects to a file. What is zero stays a hole.
const cephCopy = `
import os, rados, sys
pool, prefix, snapshot, to, size, whole = *sys.argv[1:5], int(sys.argv[5]), int(sys.argv[6])
cluster = rados.Rados(conffile='/etc/ceph/ceph.conf')
cluster.connect()
objects = cluster.open_ioctx(pool)
names = [each.key for each in objects.list_objects() if each.key.startswith(prefix + '.')]
objects.set_read(objects.lookup_snap(snapshot).snap_id)
file = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
os.ftruncate(file, size)
copied = 0
for name in names:
    try:
        data = objects.read(name, whole)
    except rados.ObjectNotFound:
        continue
    start = int(name.rsplit('.', 1)[1], 16) * whole
    for at in range(0, len(data), 1 << 16):
        part = data[at:at + (1 << 16)]
        if part.count(0) < len(part):
            os.pwrite(file, part, start + at)
            copied += len(part)
print(copied)
`
