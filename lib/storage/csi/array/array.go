package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// array holds all volumes that have a path, and how each node's link behaves. It keeps no policy.
type array struct {
	root string

	mu      sync.Mutex         // never held while a device or a disk is waited for
	volumes map[string]*volume // by name; those in use
	paths   map[pathKey]*path  // closed ones, too
	fenced  map[pathKey]string // generations that can never be opened any more, and why
	links   map[string]nodeLink
	turns   map[pathKey]*sync.Mutex

	servers map[string]server // by their transports
	rbd     *rbdServer        // one of them: it keeps what is written, too
}

type pathKey struct {
	volume     string
	generation uint32
}

type nodeLink struct {
	state   linkState
	delay   time.Duration
	sinceNs uint64
}

const logEvery = 100 * time.Millisecond

func newArray(root string) *array {
	a := &array{
		root: root, volumes: map[string]*volume{}, paths: map[pathKey]*path{},
		fenced: map[pathKey]string{}, links: map[string]nodeLink{},
		turns: map[pathKey]*sync.Mutex{},
	}
	a.rbd = newRBDServer(a.ask)
	a.servers = map[string]server{
		"nbd": newNBDServer(), "iscsi": newISCSIServer(), "nfs": newNFSServer(a.ask), "rbd": a.rbd,
	}
	go func() {
		for range time.Tick(logEvery) {
			a.flushLogs()
		}
	}()
	return a
}

func (a *array) do(asked request) (any, error) {
	switch asked.Do {
	case "ping":
		return map[string]any{"version": version, "clockNs": monotonicNs()}, nil
	case "open":
		return a.open(asked)
	case "close":
		return a.close(asked)
	case "cut":
		return a.cut(asked)
	case "giveBack":
		return a.giveBack(asked)
	case "link":
		return a.link(asked)
	case "status":
		return a.status(asked), nil
	case "copy":
		return a.copy(asked)
	case "losePower":
		return a.losePower(asked)
	}
	return nil, failure("BAD_REQUEST", "cannot do %q", asked.Do)
}

func (a *array) status(asked request) any {
	a.flushLogs()
	found := []pathStatus{}
	behind, watching := sync.OnceValue(loopsBehindLoops), sync.OnceValue(a.rbd.watching)
	for _, p := range a.allPaths() {
		if asked.Volume == "" || asked.Volume == p.volume.name {
			status := p.status(behind)
			if p.server == a.rbd {
				watches := watching()[p]
				status.Watches = &watches
			}
			found = append(found, status)
		}
	}
	return map[string]any{"paths": found}
}

// turn is held while the path is opened or closed: that may take as long as its device takes, and
// holds up no other path.
func (a *array) turn(key pathKey) *sync.Mutex {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns[key] == nil {
		a.turns[key] = &sync.Mutex{}
	}
	return a.turns[key]
}

func (p *path) key() pathKey { return pathKey{p.volume.name, p.generation} }

// allPaths are in the order of their volumes and generations.
func (a *array) allPaths() []*path {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Values(a.paths), func(x, y *path) int {
		return cmp.Or(cmp.Compare(x.volume.name, y.volume.name), cmp.Compare(x.generation, y.generation))
	})
}

// livePaths are those that are not closed and for which the test holds.
func (a *array) livePaths(test func(*path) bool) []*path {
	return slices.DeleteFunc(a.allPaths(), func(p *path) bool { return p.isClosed() || !test(p) })
}

func (a *array) openVolumes() []*volume {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Values(a.volumes))
}

func (a *array) flushLogs() {
	for _, v := range a.openVolumes() {
		v.log.flush()
	}
}

// use is the volume of that name, opened where it is not open. The caller releases it.
func (a *array) use(name string) (*volume, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.volumes[name]
	if v == nil || v.isReplaced() {
		var err error
		if v, err = openVolume(a.root, name); err != nil {
			return nil, err
		}
		a.volumes[name] = v
	}
	v.users++
	return v, nil
}

// hold keeps the files of the path's volume open until it is released; false where it is closed.
func (a *array) hold(p *path) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p == nil || p.isClosed() {
		return false
	}
	p.volume.users++
	return true
}

func (a *array) release(v *volume) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v.users--
	if v.users > 0 {
		return
	}
	if a.volumes[v.name] == v {
		delete(a.volumes, v.name)
	}
	v.close()
}

func (a *array) link(asked request) (any, error) {
	state := slices.Index(linkNames, asked.State)
	if state < 0 || asked.Node == "" || asked.DelayMs < 0 {
		return nil, failure("BAD_REQUEST", "link needs a node and a state of %v", linkNames)
	}
	link := nodeLink{state: linkState(state), delay: time.Duration(asked.DelayMs) * time.Millisecond}
	if link.state != linkPass {
		link.sinceNs = monotonicNs()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if before := a.links[asked.Node]; before.state == link.state {
		link.sinceNs = before.sinceNs
	}
	a.links[asked.Node] = link
	affected := 0
	for _, p := range a.paths {
		if p.node == asked.Node && !p.isClosed() {
			p.setLink(link)
			affected++
		}
	}
	return map[string]any{"paths": affected}, nil
}

// cut also fences a generation that was never opened: it can't be opened any more.
func (a *array) cut(asked request) (any, error) {
	if err := asked.needPath(); err != nil {
		return nil, err
	}
	if asked.AfterMs > 0 {
		time.AfterFunc(time.Duration(asked.AfterMs)*time.Millisecond, func() {
			if _, err := a.cutNow(asked.path(), asked.How, asked.Why); err != nil {
				fmt.Fprintf(os.Stderr, "forcedetach-array: not cut: %v\n", err)
			}
		})
		return map[string]any{"cut": false, "dueNs": monotonicNs() + uint64(asked.AfterMs)*1e6}, nil
	}
	p, err := a.cutNow(asked.path(), asked.How, asked.Why)
	if p == nil || err != nil {
		return map[string]any{"cut": true, "bytesWritten": 0}, err
	}
	return map[string]any{
		"cut": p.isCut(), "cutNs": p.cutNs.Load(), "device": devicePath(p.loop),
		"bytesWritten": p.bytesWritten.Load(),
	}, nil
}

// cutNow returns the path, or nil where it was never opened. The generation is fenced before its
// path is cut, so whoever opens it at this moment meets the one or the other.
func (a *array) cutNow(key pathKey, how, why string) (*path, error) {
	a.mu.Lock()
	p := a.paths[key]
	isOpen := p != nil && !p.isClosed()
	isOwn := (how == "" || how == ownCut || how == clientEnd) && !(isOpen && p.server == a.rbd)
	if _, before := a.fenced[key]; !before && (isOwn || !isOpen) {
		a.fenced[key] = why
	}
	a.mu.Unlock()
	if !a.hold(p) {
		return p, nil
	}
	defer a.release(p.volume)
	if !isOwn {
		return p, a.revoke(p, how, why)
	}
	p.volume.cut(p, why)
	return p, nil
}

func (r request) needPath() error {
	if !isName(r.Volume) || r.Generation == 0 {
		return failure("BAD_REQUEST", "%s needs a volume and its generation", r.Do)
	}
	return nil
}

func (r request) path() pathKey { return pathKey{r.Volume, r.Generation} }

// isName is true for a plain path segment: it can't leave the volumes' directory.
func isName(name string) bool {
	if name == "" || len(name) > 128 || name[0] == '.' {
		return false
	}
	return !slices.ContainsFunc([]byte(name), func(c byte) bool { return c == '/' || c == 0 })
}

// shutDown cuts nothing: held requests are answered EIO, devices go with their last user.
func (a *array) shutDown() {
	for _, p := range a.livePaths(func(*path) bool { return true }) {
		p.gate.shutForEver()
		_ = detachLoop(p.loop)
	}
	for _, v := range a.openVolumes() {
		v.log.close()
	}
}
