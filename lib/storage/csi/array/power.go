package main

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// powerLosses are what may become of unflushed writes; the index is the flag of an opPowerLost.
var powerLosses = []string{"keeps", "drops", "reorders", "tears"}

type powerLost struct {
	Paths           int   `json:"paths"`
	UnflushedWrites int   `json:"unflushedWrites"`
	UnflushedBytes  int64 `json:"unflushedBytes"`
	Kept            int   `json:"kept"`
}

// losePower cuts the node's paths to the volume and decides what becomes of what it had written
// and not flushed.
func (a *array) losePower(asked request) (any, error) {
	kind := slices.Index(powerLosses, asked.Unflushed)
	if kind < 0 || !isName(asked.Volume) || asked.Node == "" {
		return nil, failure("BAD_REQUEST", "losePower needs a volume, a node and one of %v", powerLosses)
	}
	paths := a.livePaths(func(p *path) bool {
		return p.volume.name == asked.Volume && p.node == asked.Node && !p.volume.isReplaced()
	})
	if len(paths) == 0 || !a.hold(paths[0]) {
		return powerLost{}, nil
	}
	v := paths[0].volume
	defer a.release(v)
	for _, p := range paths {
		if _, err := a.cutNow(p.key(), clientEnd, "lost power"); err != nil {
			return nil, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.log.flush()
	lost := v.cache.of(paths)
	keeps := chooseKept(asked.Unflushed, lost, seeded(asked.Seed))
	for _, p := range paths {
		v.note(p, opPowerLost, uint8(kind))
	}
	if err := v.restore(keeps, paths[len(paths)-1]); err != nil {
		return nil, err
	}
	result := powerLost{Paths: len(paths), UnflushedWrites: len(lost)}
	for _, entry := range lost {
		result.UnflushedBytes += int64(entry.length)
		if keeps[entry] > 0 {
			result.Kept++
		}
	}
	v.cache.forget(paths, keeps)
	return result, nil
}

func seeded(seed string) *rand.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(seed))
	return rand.New(rand.NewPCG(hash.Sum64(), 0))
}

// chooseKept says for each unflushed write, oldest first, how many of its first bytes stay.
func chooseKept(kind string, lost []*cached, random *rand.Rand) map[*cached]int {
	keeps := make(map[*cached]int, len(lost))
	for _, entry := range lost {
		keeps[entry] = 0
	}
	switch kind {
	case "keeps":
		for _, entry := range lost {
			keeps[entry] = entry.length
		}
	case "reorders":
		for _, entry := range lost {
			keeps[entry] = entry.length * random.IntN(2)
		}
		// With two or more, a later one stays and an earlier one does not.
		if len(lost) > 1 {
			dropped := random.IntN(len(lost) - 1)
			kept := dropped + 1 + random.IntN(len(lost)-1-dropped)
			keeps[lost[dropped]], keeps[lost[kept]] = 0, lost[kept].length
		}
	case "tears":
		long := slices.DeleteFunc(slices.Clone(lost), func(entry *cached) bool {
			return entry.length < 2*sectorBytes
		})
		if len(long) > 0 {
			torn := long[random.IntN(len(long))]
			keeps[torn] = torn.length / sectorBytes / 2 * sectorBytes
		}
	}
	return keeps
}
