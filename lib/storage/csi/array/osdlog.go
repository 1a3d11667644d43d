package main

import (
	"strconv"
	"strings"
	"time"
)

// osdAnswer is what an osd answered to one request. Of a request the log of Ceph 20 has no operations
// ("undecoded"), of its answer it has them all.
type osdAnswer struct {
	wall   time.Time
	client string // address and nonce of one librbd
	tid    uint64 // of the client's request; a request that is sent again has the same
	object string
	ops    []string
	errno  int // 0: carried out
}

// parseAnswer reads a line that an osd logs at debug_ms 1:
// TIME THREAD 1 -- OSD --> CLIENT -- osd_op_reply(TID OBJECT [OP,OP] vA'B uvC ondisk = ERRNO ((N) TEXT)) -- …
func parseAnswer(line string) (answer osdAnswer, ok bool) {
	head, rest, isSent := strings.Cut(line, " --> ")
	client, rest, isAnswer := strings.Cut(rest, " -- osd_op_reply(")
	tid, rest, hasObject := strings.Cut(rest, " ")
	object, rest, hasOps := strings.Cut(rest, " [")
	ops, rest, hasVersion := strings.Cut(rest, "] v")
	_, errno, hasErrno := strings.Cut(rest, " = ")
	if !isSent || !isAnswer || !hasObject || !hasOps || !hasVersion || !hasErrno {
		return osdAnswer{}, false
	}
	stamp, _, _ := strings.Cut(head, " ")
	wall, err := time.Parse("2006-01-02T15:04:05.999999-0700", stamp)
	if err != nil {
		return osdAnswer{}, false
	}
	number, err := strconv.ParseUint(tid, 10, 64)
	if err != nil {
		return osdAnswer{}, false
	}
	code, err := strconv.Atoi(errno[:strings.IndexAny(errno+")", " )")])
	if err != nil {
		return osdAnswer{}, false
	}
	return osdAnswer{wall, client, number, object, strings.Split(ops, ","), -code}, true
}

// objectBytes is the size of the objects that an image consists of.
const objectBytes = 4 << 20

// changes are what the answer's operations do to an image, or would have done; `prefix` names its objects.
func (r osdAnswer) changes(prefix string) []record {
	index, isData := strings.CutPrefix(r.object, prefix+".")
	number, err := strconv.ParseUint(index, 16, 64)
	if !isData || err != nil {
		return nil
	}
	var found []record
	for _, each := range r.ops {
		words := strings.Fields(each)
		change, offset, length := op(0), uint64(0), uint64(objectBytes)
		switch words[0] {
		case "write", "writefull", "writesame":
			change = opWrite
		case "zero", "delete", "truncate":
			change = opZero
		default:
			continue
		}
		if len(words) > 1 {
			at, long, isExtent := strings.Cut(words[1], "~")
			offset, _ = strconv.ParseUint(at, 10, 64)
			length -= offset
			if isExtent {
				length, _ = strconv.ParseUint(long, 10, 64)
			}
		}
		found = append(found, record{op: change, offset: number*objectBytes + offset, length: uint32(length)})
	}
	return found
}
