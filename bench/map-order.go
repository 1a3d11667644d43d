// How often does one of two nodes come before the other in the attach-detach controller's map?
//
//	go run bench/map-order.go
//
// The map has the types of Kubernetes 1.37's desired_state_of_world.go. Nodes are inserted by name.
package main

import (
	"fmt"
	"runtime"
)

type (
	nodeName       string
	volumeName     string
	volumeToAttach struct{ volumeName volumeName }
	nodeManaged    struct {
		nodeName        nodeName
		volumesToAttach map[volumeName]volumeToAttach
	}
)

const (
	maps          = 1000
	rangesEachMap = 1000
)

func nameOf(node int) nodeName { return nodeName(fmt.Sprintf("node-%03d", node)) }

func nodesManaged(count int) map[nodeName]nodeManaged {
	nodes := make(map[nodeName]nodeManaged)
	for node := range count {
		name := nameOf(node)
		nodes[name] = nodeManaged{name, map[volumeName]volumeToAttach{}}
	}
	return nodes
}

func comesFirst(nodes map[nodeName]nodeManaged, one, other nodeName) bool {
	for name := range nodes {
		if name == one || name == other {
			return name == one
		}
	}
	return false
}

func percentFirst(count, one, other int) float64 {
	first := 0
	for range maps {
		nodes := nodesManaged(count)
		for range rangesEachMap {
			if comesFirst(nodes, nameOf(one), nameOf(other)) {
				first++
			}
		}
	}
	return 100 * float64(first) / (maps * rangesEachMap)
}

func main() {
	fmt.Printf("%s, %d ranges over each of %d maps\n", runtime.Version(), rangesEachMap, maps)
	for _, count := range []int{2, 3, 8, 9, 16, 100} {
		fmt.Printf("%3d nodes: the first before the second in %.1f %%, before the last in %.1f %%\n",
			count, percentFirst(count, 0, 1), percentFirst(count, 0, count-1))
	}
}
