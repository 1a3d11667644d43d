package main

import (
	"sync"
	"time"
)

// linkState is how a node's link to the array behaves.
type linkState uint8

const (
	linkPass  linkState = iota
	linkStall           // requests wait without an answer
	linkFail            // requests are answered EIO at once
)

var linkNames = []string{"pass", "stall", "fail"}

// gate lets the requests of one path through, holds them or refuses them.
type gate struct {
	// isOpen is of paths whose link is broken elsewhere: what comes passes, and the link is only logged.
	isOpen bool

	mu      sync.Mutex
	link    linkState
	delay   time.Duration
	sinceNs uint64 // since when the link does not pass; 0 where it does
	// closed is closed once the path is cut or the array ends: nothing passes any more.
	closed   chan struct{}
	shut     bool
	isHung   bool // requests wait, whatever the link does, until it is let go
	held     []*ticket
	draining bool

	inside sync.RWMutex // held for reading by each request that passed
}

// ticket is a held request, or `passing`: one that was not held.
type ticket struct {
	answer chan bool     // true: go on
	done   chan struct{} // closed when the request has been served
}

var passing = &ticket{}

func newGate() *gate { return &gate{closed: make(chan struct{})} }

// enter waits until the request may go on, or returns false where it is refused. `gone` ends the
// wait, too. The caller calls leave with the ticket when it has served the request.
func (g *gate) enter(gone <-chan struct{}) (*ticket, bool) {
	g.mu.Lock()
	if g.shut || g.holds() == linkFail {
		g.mu.Unlock()
		return nil, false
	}
	if g.holds() == linkStall || g.draining {
		held := &ticket{answer: make(chan bool, 1), done: make(chan struct{})}
		g.held = append(g.held, held)
		g.mu.Unlock()
		select {
		case passes := <-held.answer:
			return held, passes
		case <-gone:
			return held, false
		}
	}
	delay := g.delay
	g.inside.RLock()
	g.mu.Unlock()
	if delay == 0 {
		return passing, true
	}
	select {
	case <-time.After(delay):
		return passing, true
	case <-g.closed:
		return passing, false
	}
}

// holds is what the gate itself does to a request.
func (g *gate) holds() linkState {
	if g.isOpen {
		return linkPass
	}
	if g.isHung && g.link == linkPass {
		return linkStall
	}
	return g.link
}

func (g *gate) leave(by *ticket) {
	switch by {
	case nil:
	case passing:
		g.inside.RUnlock()
	default:
		close(by.done)
	}
}

// hang holds what comes from now on. Nothing is under way any more when it returns.
func (g *gate) hang() {
	g.mu.Lock()
	g.isHung = true
	g.mu.Unlock()
	g.inside.Lock()
	g.inside.Unlock() // Those that passed have left.
}

// letGo undoes that: what was held is served in its order.
func (g *gate) letGo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isHung = false
	g.serveHeld()
}

// set changes the link. Held requests are served in their order when it passes again, and refused
// when it fails.
func (g *gate) set(link linkState, delay time.Duration, sinceNs uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.link, g.delay, g.sinceNs = link, delay, sinceNs
	if link == linkFail {
		g.refuseHeld()
	}
	g.serveHeld()
}

func (g *gate) serveHeld() {
	if g.holds() == linkPass && len(g.held) > 0 && !g.draining {
		g.draining = true
		go g.drain()
	}
}

// shutForEver ends it: held requests are refused, later ones too.
func (g *gate) shutForEver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.shut = true
		close(g.closed)
	}
	g.refuseHeld()
}

func (g *gate) refuseHeld() {
	for _, held := range g.held {
		held.answer <- false
	}
	g.held = nil
}

// drain serves the held requests one after the other; what comes meanwhile waits behind them.
func (g *gate) drain() {
	for {
		g.mu.Lock()
		if g.holds() != linkPass || len(g.held) == 0 {
			g.draining = false
			g.mu.Unlock()
			return
		}
		next := g.held[0]
		g.held = g.held[1:]
		g.inside.RLock()
		g.mu.Unlock()
		next.answer <- true
		<-next.done
		g.inside.RUnlock()
	}
}

func (g *gate) status() (link linkState, sinceNs uint64, held int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.link, g.sinceNs, len(g.held)
}
