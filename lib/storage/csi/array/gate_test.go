package main

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// holding waits until the gate holds that many requests.
func holding(t *testing.T, g *gate, n int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, _, held := g.status(); held == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the gate never held %d requests", n)
		}
	}
}

func TestStalledRequestsAreServedInTheirOrder(t *testing.T) {
	g := newGate()
	g.set(linkStall, 0, 1)
	var mu sync.Mutex
	var served []int
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			held, passes := g.enter(nil)
			defer g.leave(held)
			if !passes {
				t.Error("refused")
			}
			mu.Lock()
			served = append(served, n)
			mu.Unlock()
		})
		holding(t, g, n+1)
	}
	g.set(linkPass, 0, 0)
	all.Wait()
	if !slices.IsSorted(served) || len(served) != 20 {
		t.Errorf("served %v", served)
	}
	if _, passes := g.enter(nil); !passes {
		t.Error("refused after the stall")
	}
}

func TestACutRefusesWhatIsHeldAndWhatComes(t *testing.T) {
	for name, refuse := range map[string]func(*gate){
		"cut":  func(g *gate) { g.shutForEver() },
		"fail": func(g *gate) { g.set(linkFail, 0, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			g.set(linkStall, 0, 1)
			answered := make(chan bool)
			go func() {
				_, passes := g.enter(nil)
				answered <- passes
			}()
			holding(t, g, 1)
			refuse(g)
			if <-answered {
				t.Error("the held request passed")
			}
			if _, passes := g.enter(nil); passes {
				t.Error("a later request passed")
			}
		})
	}
}

func TestAHangHoldsWhatComesWhateverTheLinkDoes(t *testing.T) {
	g := newGate()
	inside, _ := g.enter(nil)
	hung := make(chan struct{})
	go func() {
		g.hang()
		close(hung)
	}()
	select {
	case <-hung:
		t.Error("a request was under way when it returned")
	case <-time.After(20 * time.Millisecond):
	}
	g.leave(inside)
	<-hung
	answered := make(chan bool)
	go func() {
		held, passes := g.enter(nil)
		g.leave(held)
		answered <- passes
	}()
	holding(t, g, 1)
	g.set(linkStall, 0, 1)
	g.set(linkPass, 0, 0)
	holding(t, g, 1)
	g.set(linkStall, 0, 1)
	g.letGo()
	holding(t, g, 1) // by the link
	g.set(linkPass, 0, 0)
	if !<-answered {
		t.Error("refused")
	}
}

func TestACutEndsAHang(t *testing.T) {
	g := newGate()
	g.hang()
	answered := make(chan bool)
	go func() {
		_, passes := g.enter(nil)
		answered <- passes
	}()
	holding(t, g, 1)
	g.shutForEver()
	if <-answered {
		t.Error("the held request passed")
	}
	g.letGo()
	if _, passes := g.enter(nil); passes {
		t.Error("a later request passed")
	}
}

func TestNoLinkUndoesACut(t *testing.T) {
	g := newGate()
	g.shutForEver()
	g.set(linkPass, 0, 0)
	if _, passes := g.enter(nil); passes {
		t.Error("a cut path passed")
	}
}

func TestDelay(t *testing.T) {
	g := newGate()
	g.set(linkPass, 30*time.Millisecond, 0)
	begun := time.Now()
	if _, passes := g.enter(nil); !passes || time.Since(begun) < 30*time.Millisecond {
		t.Errorf("passes %v after %v", passes, time.Since(begun))
	}
}

func TestARequestWhoseKernelIsGoneHoldsUpNobody(t *testing.T) {
	g := newGate()
	g.set(linkStall, 0, 1)
	gone := make(chan struct{})
	left := make(chan struct{})
	go func() {
		held, _ := g.enter(gone)
		g.leave(held)
		close(left)
	}()
	holding(t, g, 1)
	close(gone)
	<-left
	g.set(linkPass, 0, 0)
	if _, passes := g.enter(nil); !passes {
		t.Error("refused")
	}
}

func TestALinkThatIsBrokenElsewhereLetsThrough(t *testing.T) {
	g := newGate()
	g.isOpen = true
	g.set(linkStall, 0, 1)
	if held, passes := g.enter(nil); held != passing || !passes {
		t.Error("held or refused")
	}
	if link, sinceNs, _ := g.status(); link != linkStall || sinceNs != 1 {
		t.Errorf("it shows %v since %d", link, sinceNs)
	}
}
