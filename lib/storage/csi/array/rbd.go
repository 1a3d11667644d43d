package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// rbdServer keeps volumes as images of a Ceph in this container (ceph.go). librbd reaches the osd without the array
// in between, so what it wrote is in the log of the osd only: an answer's client is the path's.
type rbdServer struct {
	ask   asker
	start func() error

	making sync.Mutex // one image at a time

	mu       sync.Mutex
	images   map[string]*rbdImage  // by name
	offered  map[*path]string      // by their nodes' addresses
	clients  map[string]*rbdClient // by address and nonce
	barriers map[string]chan struct{}
	number   int
	revoking map[*path]bool // by this array, which notes the cut itself
}

type rbdImage struct {
	folder string // of its volume
	inode  uint64 // of the volume's disk.img
	id     string // its header is rbd_header.ID, its objects are rbd_data.ID.NUMBER
}

// rbdClient is one librbd: a path's, from the moment that it watches the image.
type rbdClient struct {
	path   *path
	image  *rbdImage
	number int  // in the order in which they came
	ended  bool // its initiator is gone, while the osd may wait for it to come back
	// answered are its latest requests: the osd answers one again that is sent again, and changes nothing.
	answered [rbdInFlight]uint64
}

// rbdInFlight is more than librbd has under way.
const rbdInFlight = 4096

func newRBDServer(ask asker) *rbdServer {
	s := &rbdServer{
		ask: ask, images: map[string]*rbdImage{}, offered: map[*path]string{},
		clients: map[string]*rbdClient{}, barriers: map[string]chan struct{}{}, revoking: map[*path]bool{},
	}
	s.start = sync.OnceValue(func() error {
		log, err := startCeph()
		if err == nil {
			go s.follow(log)
		}
		return err
	})
	return s
}

// follow reads the osd's log. Without it evidence would have a gap, so the array ends with the osd.
func (s *rbdServer) follow(log io.Reader) {
	readLines(log, s.read)
	fmt.Fprintln(os.Stderr, "forcedetach-array: the osd ended")
	os.Exit(1)
}

func (s *rbdServer) read(line string) {
	if answer, is := parseAnswer(line); is {
		s.answered(answer)
	} else if epoch := mapIn(line); epoch > 0 {
		s.mapped(epoch)
	} else if strings.Contains(line, " -1 ") {
		fmt.Fprintln(os.Stderr, line)
	}
}

func (s *rbdServer) answered(r osdAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if passed, is := s.barriers[r.object]; is {
		close(passed)
		delete(s.barriers, r.object)
	}
	if strings.HasPrefix(r.object, "rbd_header.") {
		s.meet(r)
		return
	}
	client := s.clients[r.client]
	if client == nil || client.ended || client.isRepeated(r.tid) {
		return
	}
	client.path.log(r, "rbd_data."+client.image.id)
}

// meet takes a client that begins to watch an image for the latest path of its node.
func (s *rbdServer) meet(r osdAnswer) {
	if r.errno != 0 || !strings.HasPrefix(r.ops[0], "watch watch ") || s.clients[r.client] != nil {
		return
	}
	for p, address := range s.offered {
		image := s.images[p.volume.name]
		if image == nil || r.object != "rbd_header."+image.id || !strings.HasPrefix(r.client, address+":") {
			continue
		}
		if known := s.clients[r.client]; known == nil || known.path.generation < p.generation {
			s.clients[r.client] = &rbdClient{path: p, image: image, number: len(s.clients)}
		}
	}
}

func (c *rbdClient) isRepeated(tid uint64) bool {
	place := &c.answered[tid%rbdInFlight]
	if *place == tid {
		return true
	}
	*place = tid
	return false
}

// log notes what an answer says of the path's image, at the time of the answer.
func (p *path) log(r osdAnswer, prefix string) {
	at := monotonicNs() - uint64(max(0, time.Since(r.wall)))
	for _, each := range r.changes(prefix) {
		each.generation, each.timeNs = p.generation, at
		each.length = uint32(min(uint64(each.length), uint64(p.volume.size)-each.offset))
		if r.errno != 0 && !(each.op == opZero && r.errno == 2) {
			each.op, each.flags = opRefused, uint8(each.op)
		}
		p.volume.log.add(each, nil)
		if each.op == opWrite {
			p.writes.Add(1)
			p.bytesWritten.Add(int64(each.length))
		}
	}
}

// imageSpec names the volume's image, as the transport's declaration does (lib/scenario/transports/rbd.ts).
func imageSpec(volume string) string { return cephPool + "/forcedetach." + volume }

// offer makes the image where there is none. By its address the node's librbd is recognized.
func (s *rbdServer) offer(p *path) error {
	if err := s.start(); err != nil {
		return err
	}
	address, err := s.ask.addressOf(p)
	if err != nil {
		return err
	}
	if err := s.ensureImage(p.volume); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered[p] = address
	return nil
}

func (s *rbdServer) imageOf(volume string) *rbdImage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.images[volume]
}

// ensureImage makes one for each volume, also for a new one of an old name.
func (s *rbdServer) ensureImage(v *volume) error {
	s.making.Lock()
	defer s.making.Unlock()
	if err := s.removeOrphans(); err != nil || s.imageOf(v.name) != nil {
		return err
	}
	mark, spec := filepath.Join(v.folder, "image"), imageSpec(v.name)
	if exists(mark) {
		return failure("IMAGE_LOST", "the data of %s is gone with the Ceph that kept it", v.name)
	}
	size := fmt.Sprintf("%dB", v.size)
	made := []string{"rbd", "create", "--size", size, "--object-size", "4M", "--image-feature", "exclusive-lock", spec}
	if _, err := ceph(made...); err != nil {
		return err
	}
	var info struct{ ID string }
	if err := cephJSON(&info, "rbd", "info", spec); err != nil {
		return err
	}
	if err := os.WriteFile(mark, []byte(info.ID), 0o644); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images[v.name] = &rbdImage{folder: v.folder, inode: inodeOf(v.folder), id: info.ID}
	return nil
}

// inodeOf tells a volume from a later one of that name; 0 where there is none.
func inodeOf(folder string) uint64 {
	var found unix.Stat_t
	_ = unix.Stat(filepath.Join(folder, "disk.img"), &found)
	return found.Ino
}

// removeOrphans removes the images of volumes that are gone: they take memory.
func (s *rbdServer) removeOrphans() error {
	s.mu.Lock()
	found := maps.Clone(s.images)
	s.mu.Unlock()
	for name, image := range found {
		if inodeOf(image.folder) == image.inode {
			continue
		}
		// What a killed client watches is watched for another 30 s.
		watchers, err := watchersOf(name)
		for _, each := range watchers {
			_, err = ceph("ceph", "osd", "blocklist", "add", each)
		}
		if err == nil {
			_, err = ceph("rbd", "rm", "--no-progress", imageSpec(name))
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		delete(s.images, name)
		s.mu.Unlock()
	}
	return nil
}

func watchersOf(volume string) ([]string, error) {
	var status struct{ Watchers []struct{ Address string } }
	err := cephJSON(&status, "rbd", "status", imageSpec(volume))
	var found []string
	for _, each := range status.Watchers {
		found = append(found, each.Address)
	}
	return found, err
}

// watching are the paths whose librbd watches its image, as the osd has it: 30 s longer than a killed one lives.
func (s *rbdServer) watching() map[*path]bool {
	var watches []struct {
		Client osdAddress `json:"entity_addr_t"`
	}
	if err := askOSD("dump_watchers", &watches); err != nil {
		fmt.Fprintln(os.Stderr, "forcedetach-array:", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[*path]bool{}
	for _, each := range watches {
		if client := s.clients[each.Client.String()]; client != nil {
			found[client.path] = true
		}
	}
	return found
}

// withdraw comes after the initiator ended.
func (s *rbdServer) withdraw(p *path) {
	_ = s.barrier()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.offered, p)
	for _, each := range s.clients {
		each.ended = each.ended || each.path == p
	}
}

// barrier returns when all that the osd applied before is in the log. A write, since these are answered in their
// order; its client is new, so that the osd has the latest map first.
func (s *rbdServer) barrier() error {
	s.mu.Lock()
	s.number++
	object, passed := fmt.Sprintf("barrier.%d", s.number), make(chan struct{})
	s.barriers[object] = passed
	s.mu.Unlock()
	if _, err := ceph("rados", "-p", cephPool, "touch", object); err != nil {
		return err
	}
	select {
	case <-passed:
		return nil
	case <-time.After(cephPatience):
		return failure("CEPH_FAILED", "the osd's log lacks %s", object)
	}
}

// clientEnd kills the node's librbd: its lock and its watch outlive it.
const clientEnd = "end"

func (s *rbdServer) revoke(p *path, how string) (hasWay bool, err error) {
	if how == clientEnd {
		// An initiator that does not answer is dead.
		_, _ = s.ask(p.node, request{Do: "stop", Name: p.name(), Force: true})
		return false, s.barrier()
	}
	// A client that has just come may not be in the log yet.
	if err := s.barrier(); err != nil {
		return true, err
	}
	address := s.addressOf(p)
	if address == "" {
		return true, failure("NO_CLIENT", "the osd's log has no client of %s on %s", p.node, p.volume.name)
	}
	s.setRevoking(p, true)
	defer s.setRevoking(p, false)
	switch how {
	case ownCut, "blocklist":
		_, err = ceph("ceph", "osd", "blocklist", "add", address)
	case "lock-rm":
		err = s.removeLock(p, address, "--rbd-blocklist-on-break-lock=true")
	case "lock-rm-only":
		err = s.removeLock(p, address, "--rbd-blocklist-on-break-lock=false")
	default:
		err = cannotRevoke(p, how)
	}
	if err != nil {
		return true, err
	}
	if err := s.barrier(); err != nil {
		return true, err
	}
	listed, err := blocklisted(0)
	return !listed[address], err
}

func (s *rbdServer) setRevoking(p *path, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is {
		s.revoking[p] = true
	} else {
		delete(s.revoking, p)
	}
}

// addressOf is that of the path's latest client; empty where there was none.
func (s *rbdServer) addressOf(p *path) (found string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := -1
	for address, each := range s.clients {
		if each.path == p && !each.ended && each.number > latest {
			found, latest = address, each.number
		}
	}
	return found
}

// removeLock does nothing where another client has the lock, or none.
func (s *rbdServer) removeLock(p *path, address, flag string) error {
	var locks []struct{ ID, Locker, Address string }
	spec := imageSpec(p.volume.name)
	if err := cephJSON(&locks, "rbd", "lock", "ls", spec); err != nil {
		return err
	}
	for _, each := range locks {
		if each.Address != address {
			continue
		}
		if _, err := ceph("rbd", "lock", "rm", flag, spec, each.ID, each.Locker); err != nil {
			return err
		}
	}
	return nil
}

func (s *rbdServer) giveBack(p *path, how string) error {
	_, err := ceph("ceph", "osd", "blocklist", "rm", s.addressOf(p))
	return err
}

// mapIn is the epoch of a map that the line says the osd got; 0 where it says something else.
func mapIn(line string) (epoch int) {
	_, rest, isMap := strings.Cut(line, " osd_map(")
	if isMap && strings.Contains(line, " <== mon.") {
		_, _ = fmt.Sscanf(rest, "%d..%d", new(int), &epoch)
	}
	return epoch
}

// mapped notes whom a successor's librbd fenced: it blocklists a client that is silent and has the lock. The log is
// read no further meanwhile, so that the cut comes before what the successor writes.
func (s *rbdServer) mapped(epoch int) {
	listed, err := blocklisted(epoch)
	if err != nil {
		fmt.Fprintln(os.Stderr, "forcedetach-array:", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for address, each := range s.clients {
		if listed[address] && !each.ended && !s.revoking[each.path] {
			each.path.volume.noteCut(each.path, "on Ceph's blocklist", false)
		}
	}
}

// copyTo copies the image as it is at one moment, by a snapshot of the pool. One of the image would take the lock.
func (s *rbdServer) copyTo(v *volume, image *rbdImage, to string) (bytes int64, err error) {
	s.mu.Lock()
	s.number++
	snapshot := fmt.Sprintf("copy.%d", s.number)
	s.mu.Unlock()
	if _, err := ceph("rados", "-p", cephPool, "mksnap", snapshot); err != nil {
		return 0, err
	}
	defer ceph("rados", "-p", cephPool, "rmsnap", snapshot)
	if err := s.barrier(); err != nil {
		return 0, err
	}
	v.log.flush()
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return 0, err
	}
	size, whole := strconv.FormatInt(v.size, 10), strconv.Itoa(objectBytes)
	printed, err := ceph("python3", "-c", cephCopy, cephPool, "rbd_data."+image.id, snapshot, to, size, whole)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(printed)), 10, 64)
}
