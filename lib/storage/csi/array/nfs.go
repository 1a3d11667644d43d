package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// nfsServer is nfs-ganesha, in this container, by NFSv3: an export for each path, of the path's own file system, so
// that the log has each write with its path.
type nfsServer struct {
	ask     asker
	running func() error
	config  string
	daemon  *exec.Cmd
	reread  atomic.Int64 // so often it has read its exports again

	mu      sync.Mutex // one change of the configuration at a time
	last    int
	exports map[*path]*nfsExport
}

type nfsExport struct {
	path    *path
	id      int
	address string // of the node's initiator
	refuses bool   // the node is no client of it
	hidden  bool
	gone    chan struct{} // closed when nobody has the file open any more
}

// nfsFolder as lib/scenario/transports/nfs.ts has it.
const nfsFolder = "/export"

func newNFSServer(ask asker) *nfsServer {
	s := &nfsServer{ask: ask, config: "/run/ganesha/forcedetach.conf", exports: map[*path]*nfsExport{}}
	s.running = sync.OnceValue(s.start)
	return s
}

// nfsSetUp: the image has no netbase, and the server finds mounts by mtab.
const nfsSetUp = `set -eu
mkdir -p /run/rpcbind /run/ganesha /var/run/ganesha /var/lib/nfs/ganesha ` + nfsFolder + `
ln -sf /proc/self/mounts /etc/mtab
printf 'tcp 6 TCP\nudp 17 UDP\n' > /etc/protocols
printf 'sunrpc 111/tcp portmapper\nsunrpc 111/udp portmapper\n' > /etc/services
printf 'portmapper 100000\nnfs 100003\nmountd 100005\n' > /etc/rpc
rpcbind -w`

var mountdLine = regexp.MustCompile(`100005 +3 +tcp`)

func (s *nfsServer) start() error {
	if _, err := commanded("sh", "-c", nfsSetUp); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	daemon := exec.Command("ganesha.nfsd", "-F", "-L", "/dev/stdout", "-f", s.config, "-p", "/run/ganesha/pid")
	log, err := daemon.StdoutPipe()
	if err != nil {
		return err
	}
	if err := daemon.Start(); err != nil {
		return failure("SERVER_FAILED", "ganesha.nfsd: %v", err)
	}
	s.daemon = daemon
	go s.follow(log)
	return eventually("ganesha answers", func() bool {
		list, err := commanded("rpcinfo", "-p", "127.0.0.1")
		return err == nil && mountdLine.MatchString(list)
	})
}

func (s *nfsServer) follow(log io.Reader) {
	readLines(log, func(line string) {
		fmt.Fprintln(os.Stderr, line)
		if strings.HasSuffix(line, "Reread exports complete") {
			s.reread.Add(1)
		}
	})
	fmt.Fprintln(os.Stderr, "forcedetach-array: ganesha ended:", s.daemon.Wait())
}

func (s *nfsServer) write() error {
	config := `NFS_CORE_PARAM {
  Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false; Enable_RQUOTA = false;
  mount_path_pseudo = false; allow_set_io_flusher_fail = true;
}
LOG { Default_Log_Level = EVENT; }
`
	for _, each := range s.exports {
		if !each.hidden {
			config += each.config()
		}
	}
	return os.WriteFile(s.config, []byte(config), 0o644)
}

func (e *nfsExport) config() string {
	client := ""
	if !e.refuses {
		client = "CLIENT { Clients = " + e.address + "; Access_Type = RW; Protocols = 3; Squash = No_root_squash; } "
	}
	return fmt.Sprintf(`EXPORT {
  Export_Id = %d; Path = %[2]s; Pseudo = %[2]s; Access_Type = NONE; Squash = No_root_squash;
  SecType = sys; Protocols = 3; Transports = TCP; %[3]sFSAL { Name = VFS; }
}
`, e.id, e.mountPoint(), client)
}

func (e *nfsExport) mountPoint() string { return filepath.Join(nfsFolder, e.path.name()) }

// change lets the server read its exports again, once `how` has changed them.
func (s *nfsServer) change(how func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := how(); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	before := s.reread.Load()
	if err := s.daemon.Process.Signal(syscall.SIGHUP); err != nil {
		return failure("SERVER_FAILED", "ganesha: %v", err)
	}
	return eventually("ganesha read its exports", func() bool { return s.reread.Load() > before })
}

func (s *nfsServer) offer(p *path) error {
	if err := s.running(); err != nil {
		return err
	}
	address, err := s.ask.addressOf(p)
	if err != nil {
		return err
	}
	return s.change(func() error {
		s.last++
		e := &nfsExport{path: p, id: s.last, address: address, gone: make(chan struct{})}
		if err := os.MkdirAll(e.mountPoint(), 0o700); err != nil {
			return err
		}
		s.exports[p] = e
		return mountPathFile(p, e.mountPoint(), func() { close(e.gone) })
	})
}

func (s *nfsServer) of(p *path) *nfsExport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exports[p]
}

// withdraw ends the file system by force: the server may keep its file open.
func (s *nfsServer) withdraw(p *path) {
	e := s.of(p)
	if e == nil {
		return
	}
	err := s.change(func() error {
		delete(s.exports, p)
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "forcedetach-array:", err)
	}
	_ = unix.Unmount(e.mountPoint(), unix.MNT_FORCE|unix.MNT_DETACH)
	<-e.gone
	os.Remove(e.mountPoint())
}

func (s *nfsServer) set(p *path, how string, taken bool) error {
	e := s.of(p)
	if e == nil || how != "client" && how != "unexport" {
		return cannotRevoke(p, how)
	}
	return s.change(func() error {
		e.refuses, e.hidden = taken && how == "client", taken && how == "unexport"
		return nil
	})
}

func (s *nfsServer) revoke(p *path, how string) (hasWay bool, err error) {
	err = s.set(p, how, true)
	return err != nil, err
}

func (s *nfsServer) giveBack(p *path, how string) error { return s.set(p, how, false) }
