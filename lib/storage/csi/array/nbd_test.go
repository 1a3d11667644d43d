package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// nbdTestClient is a client of the paths; a second one would be another node's.
type nbdTestClient struct {
	t *testing.T
	*nbdClient
}

// offeredByNBD is the array of the paths, and their server.
func offeredByNBD(v *volume, paths []*path) (*array, *nbdServer) {
	a, s := arrayOf(v, paths), newNBDServer()
	for _, p := range paths {
		p.server, p.gate.isOpen, p.gone = s, true, make(chan struct{})
		s.open(p)
	}
	return a, s
}

func connectNBD(t *testing.T, s *nbdServer) nbdTestClient {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go serveNBD(listener, s.find)
	socket, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	c := nbdTestClient{t, &nbdClient{socket: socket, from: bufio.NewReader(socket)}}
	c.skip(18)
	_ = c.put(uint32(3))
	return c
}

func (c nbdTestClient) skip(n int64) {
	c.t.Helper()
	if _, err := io.CopyN(io.Discard, c.from, n); err != nil {
		c.t.Fatal(err)
	}
}

// option returns the kind of the first reply and its data.
func (c nbdTestClient) option(option uint32, data []byte) (kind uint32, answer []byte) {
	c.t.Helper()
	_ = c.put(uint64(nbdOption), option, uint32(len(data)), data)
	var head struct {
		Magic                uint64
		Option, Kind, Length uint32
	}
	if err := c.get(&head); err != nil || head.Magic != nbdOptionReply || head.Option != option {
		c.t.Fatalf("%+v, %v", head, err)
	}
	answer = make([]byte, head.Length)
	_, _ = io.ReadFull(c.from, answer)
	return head.Kind, answer
}

func (c nbdTestClient) choose(name string) (size uint64) {
	c.t.Helper()
	data := append(binary.BigEndian.AppendUint32(nil, uint32(len(name))), name...)
	kind, answer := c.option(nbdGo, append(data, 0, 0))
	if kind != nbdSays {
		return 0
	}
	c.skip(20) // the acknowledgement
	return binary.BigEndian.Uint64(answer[2:])
}

func (c nbdTestClient) ask(kind uint16, offset, length int, data []byte) uint32 {
	c.t.Helper()
	_ = c.put(nbdAsked{nbdRequest, 0, kind, 7, uint64(offset), uint32(length)}, data)
	var reply struct {
		Magic, Error uint32
		Cookie       uint64
	}
	if err := c.get(&reply); err != nil || reply.Magic != nbdReply || reply.Cookie != 7 {
		c.t.Fatalf("%+v, %v", reply, err)
	}
	return reply.Error
}

func TestNBDServesAPathAndLogsIt(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	_, s := offeredByNBD(v, paths)
	c := connectNBD(t, s)
	if kind, _ := c.option(8, nil); kind != nbdUnsupported {
		t.Errorf("structured replies: %d", kind)
	}
	if size := c.choose("forcedetach.v.2"); size != 0 {
		t.Errorf("a path that is not there has %d bytes", size)
	}
	if size := c.choose("forcedetach.v.1"); size != testBytes {
		t.Errorf("%d bytes", size)
	}
	written := filled('x', 4)
	for what, errno := range map[string]uint32{
		"write":  c.ask(nbdWrite, 0, len(written), written),
		"flush":  c.ask(nbdFlush, 0, 0, nil),
		"zeroes": c.ask(nbdWriteZeroes, sectorBytes, sectorBytes, nil),
		"read":   c.ask(nbdRead, 0, len(written), nil),
	} {
		if errno != 0 {
			t.Errorf("%s: %d", what, errno)
		}
	}
	read := make([]byte, len(written))
	_, _ = io.ReadFull(c.from, read)
	clear(written[sectorBytes : 2*sectorBytes])
	if !bytes.Equal(read, written) {
		t.Error("it reads something else")
	}
	if errno := c.ask(nbdWrite, testBytes, sectorBytes, filled('x', 1)); errno != uint32(unix.EINVAL) {
		t.Errorf("beyond the end: %d", errno)
	}
	checkReplay(t, v)
}

func TestNBDAnswersACutPathWithErrorsAndStaysConnected(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	_, s := offeredByNBD(v, paths)
	c := connectNBD(t, s)
	c.choose("forcedetach.v.1")
	v.cut(paths[0], "fence")
	for range 3 {
		for _, kind := range []uint16{nbdRead, nbdFlush, nbdTrim} {
			if errno := c.ask(kind, 0, sectorBytes, nil); errno != uint32(unix.EIO) {
				t.Errorf("%d: %d", kind, errno)
			}
		}
		if errno := c.ask(nbdWrite, 0, sectorBytes, filled('x', 1)); errno != uint32(unix.EIO) {
			t.Errorf("write: %d", errno)
		}
	}
}

func TestNBDLeavesWithThePath(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	_, s := offeredByNBD(v, paths)
	c := connectNBD(t, s)
	c.choose("forcedetach.v.1")
	s.withdraw(paths[0])
	if _, err := c.from.ReadByte(); err != io.EOF {
		t.Errorf("the connection: %v", err)
	}
}

// hungUp is true where the server has left: then nothing of this client is under way.
func (c nbdTestClient) hungUp() bool {
	_, err := c.from.ReadByte()
	return err == io.EOF
}

func TestNBDConnectionRevokedLeavesAWayThatIsInTheLog(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	a, s := offeredByNBD(v, paths)
	c := connectNBD(t, s)
	c.choose("forcedetach.v.1")
	answer, err := a.cut(request{Volume: "v", Generation: 1, How: "connection"})
	if err != nil || !c.hungUp() {
		t.Fatal(err)
	}
	if answer.(map[string]any)["cut"] != false || paths[0].isCut() {
		t.Error("it claims a cut")
	}
	again := connectNBD(t, s)
	if again.choose("forcedetach.v.1") == 0 || again.ask(nbdWrite, 0, sectorBytes, filled('x', 1)) != 0 {
		t.Error("the client does not come back")
	}
	if got := ops(logged(t, v)); !slices.Equal(got, []op{opRevoked, opWrite}) {
		t.Error(got)
	}
}

func TestNBDExportRevokedIsACutUntilItIsGivenBack(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	a, s := offeredByNBD(v, paths)
	c := connectNBD(t, s)
	c.choose("forcedetach.v.1")
	c.ask(nbdWrite, 0, sectorBytes, filled('x', 1))
	gone := request{Volume: "v", Generation: 1, How: "export", Why: "fence"}
	if _, err := a.cut(gone); err != nil || !c.hungUp() {
		t.Fatal(err)
	}
	if !paths[0].isCut() || connectNBD(t, s).choose("forcedetach.v.1") != 0 {
		t.Error("the node has a way left")
	}
	if _, err := a.openedAlready(gone); err == nil {
		t.Error("it can be opened again")
	}
	if _, err := a.giveBack(gone); err != nil || paths[0].isCut() {
		t.Error(err)
	}
	again := connectNBD(t, s)
	again.choose("forcedetach.v.1")
	again.ask(nbdWrite, 0, sectorBytes, filled('y', 1))
	if got := ops(logged(t, v)); !slices.Equal(got, []op{opWrite, opCut, opGivenBack, opWrite}) {
		t.Error(got)
	}
}

func TestAHangOfAnOwnDeviceEndsWhereItIsGivenBack(t *testing.T) {
	v, paths := newTestVolume(t, "a", "b")
	a, p := arrayOf(v, paths), paths[0]
	asked := request{Volume: "v", Generation: 1, How: ownHang, Why: "fence"}
	if _, err := a.cut(asked); err != nil || !p.isCut() || p.isRefused() {
		t.Fatal(err)
	}
	if _, err := a.openedAlready(asked); err == nil {
		t.Error("it can be opened again")
	}
	written := make(chan error)
	go func() { written <- p.write(nil, 0, filled('y', 1)) }()
	holding(t, p.gate, 1)
	if err := paths[1].write(nil, 0, filled('z', 1)); err != nil {
		t.Error(err)
	}
	if _, err := a.giveBack(asked); err != nil || p.isCut() {
		t.Error(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if got := ops(logged(t, v)); !slices.Equal(got, []op{opCut, opWrite, opGivenBack, opWrite}) {
		t.Error(got)
	}
}

func TestWhatTheArrayCutIsNeverGivenBack(t *testing.T) {
	v, paths := newTestVolume(t, "a")
	a, _ := offeredByNBD(v, paths)
	asked := request{Volume: "v", Generation: 1, How: "export"}
	if _, err := a.cut(request{Volume: "v", Generation: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.giveBack(asked); err == nil || !paths[0].isCut() {
		t.Error("it was given back")
	}
	paths[0].server = nil
	if _, err := a.giveBack(request{Volume: "v", Generation: 1, How: ownHang}); err == nil {
		t.Error("it was let go")
	}
	if _, err := a.cut(asked); err == nil {
		t.Error("a path that no server has was revoked by one")
	}
}
