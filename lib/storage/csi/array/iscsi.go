package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// iscsiServer is tgtd, in this container: a target for each path, whose LUN is the path's file, so that the log
// has each write with its path. Flushes of its aio end in the cache, so that it is rdwr.
type iscsiServer struct {
	running func() error

	mu      sync.Mutex
	last    int
	targets map[*path]*iscsiTarget
}

type iscsiTarget struct {
	id   string
	file int
	gone chan struct{} // closed when nobody has the file open any more
}

// iscsiName is of targets and initiators (lib/scenario/transports/iscsi.ts).
const iscsiName = "iqn.2026-01.dev.forcedetach:"

// reserver is the initiator that the storage itself has.
const reserver = iscsiName + "storage"

func newISCSIServer() *iscsiServer {
	return &iscsiServer{running: sync.OnceValue(startTgtd), targets: map[*path]*iscsiTarget{}}
}

// tgtPatience is less than the driver has for a call.
var tgtPatience = 10 * time.Second

func startTgtd() error {
	if err := os.MkdirAll("/run/tgtd", 0o755); err != nil {
		return err
	}
	daemon := exec.Command("tgtd", "-f", "--iscsi", "portal=0.0.0.0:3260")
	daemon.Stdout, daemon.Stderr = os.Stderr, os.Stderr
	if err := daemon.Start(); err != nil {
		return failure("SERVER_FAILED", "tgtd: %v", err)
	}
	go func() { fmt.Fprintln(os.Stderr, "forcedetach-array: tgtd ended:", daemon.Wait()) }()
	return eventually("tgtd answers", func() bool {
		_, err := tgtadm("show", "sys")
		return err == nil
	})
}

func eventually(what string, holds func() bool) error {
	for end := time.Now().Add(tgtPatience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return nil
		}
	}
	return failure("SERVER_FAILED", "not within %v: %s", tgtPatience, what)
}

func tgtadm(op, mode string, more ...string) (string, error) {
	return commanded("tgtadm", append([]string{"--lld", "iscsi", "--op", op, "--mode", mode}, more...)...)
}

func commanded(program string, words ...string) (string, error) {
	out, err := exec.Command(program, words...).CombinedOutput()
	if err != nil {
		err = failure("SERVER_FAILED", "%s %s: %v: %s", program, strings.Join(words, " "), err, bytes.TrimSpace(out))
	}
	return string(out), err
}

func (s *iscsiServer) offer(p *path) error {
	if err := s.running(); err != nil {
		return err
	}
	gone := make(chan struct{})
	file, err := openPathFile(p, func() { close(gone) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.last++
	t := &iscsiTarget{id: fmt.Sprint(s.last), file: file, gone: gone}
	s.targets[p] = t
	s.mu.Unlock()
	medium := []string{"--bstype", "rdwr", "--bsoflags", "direct", "-b", fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file)}
	if err := t.do("new", "target", "-T", iscsiName+p.name()); err != nil {
		return err
	}
	if err := t.do("new", "logicalunit", append(medium, "--lun", "1")...); err != nil {
		return err
	}
	return t.admit("bind", p)
}

func (t *iscsiTarget) do(op, mode string, more ...string) error {
	_, err := tgtadm(op, mode, append(more, "--tid", t.id)...)
	return err
}

// admit binds the node's initiator and the storage's own, or unbinds the node's.
func (t *iscsiTarget) admit(op string, p *path) error {
	err := t.do(op, "target", "-Q", iscsiName+"node."+p.name())
	if op == "bind" && err == nil {
		err = t.do(op, "target", "-Q", reserver)
	}
	return err
}

func (s *iscsiServer) of(p *path) *iscsiTarget {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.targets[p]
}

func (s *iscsiServer) withdraw(p *path) {
	t := s.of(p)
	if t == nil {
		return
	}
	s.mu.Lock()
	delete(s.targets, p)
	s.mu.Unlock()
	if err := t.do("delete", "target", "--force"); err != nil {
		fmt.Fprintln(os.Stderr, "forcedetach-array:", err)
	}
	unix.Close(t.file)
	select {
	case <-t.gone:
	case <-time.After(tgtPatience):
	}
}

var (
	sessionLine    = regexp.MustCompile(`^Session: (\d+)`)
	connectionLine = regexp.MustCompile(`^\s*Connection: (\d+)`)
)

// connections are those of all sessions: after a cut that healed, the target has the old one beside the new one.
func (t *iscsiTarget) connections() (found [][2]string, err error) {
	out, err := tgtadm("show", "conn", "--tid", t.id)
	session := ""
	for line := range strings.Lines(out) {
		if is := sessionLine.FindStringSubmatch(line); is != nil {
			session = is[1]
		} else if is := connectionLine.FindStringSubmatch(line); is != nil {
			found = append(found, [2]string{session, is[1]})
		}
	}
	return found, err
}

func (t *iscsiTarget) endSessions() error {
	found, err := t.connections()
	for _, each := range found {
		// It may have ended by itself meanwhile.
		_ = t.do("delete", "conn", "--sid", each[0], "--cid", each[1])
	}
	return err
}

func (s *iscsiServer) revoke(p *path, how string) (hasWay bool, err error) {
	t := s.of(p)
	if t == nil {
		return true, cannotRevoke(p, how)
	}
	switch how {
	case "acl":
		return true, t.admit("unbind", p)
	case "session":
		return true, t.endSessions()
	case "acl+session":
		if err := t.admit("unbind", p); err != nil {
			return true, err
		}
		return false, eventually("no session is left", func() bool {
			found, err := t.connections()
			if err == nil && len(found) == 0 {
				return true
			}
			_ = t.endSessions()
			return false
		})
	case "read-only":
		err = t.do("update", "logicalunit", "--lun", "1", "--params", "readonly=1")
	case "reservation":
		err = t.reserve(p, "--reserve", "--prout-type=5")
	default:
		return true, cannotRevoke(p, how)
	}
	return err != nil, err
}

// reserve asks for a persistent reservation as the next node's initiator would: that has a LUN of its own here.
func (t *iscsiTarget) reserve(p *path, what ...string) error {
	words := append(what, "--param-sark=fd", "--initiator-name="+reserver)
	_, err := commanded("iscsi-pr", append(words, "iscsi://127.0.0.1/"+iscsiName+p.name()+"/1")...)
	return err
}

func (s *iscsiServer) giveBack(p *path, how string) error {
	t := s.of(p)
	if t == nil {
		return cannotRevoke(p, how)
	}
	switch how {
	case "acl", "acl+session":
		return t.do("bind", "target", "-Q", iscsiName+"node."+p.name())
	case "read-only":
		return t.do("update", "logicalunit", "--lun", "1", "--params", "readonly=0")
	case "reservation":
		return t.reserve(p, "--clear")
	}
	return cannotRevoke(p, how)
}
