// SPDX-License-Identifier: BSD-3-Clause

// Calls of several kinds, forever, on the process's first thread.
package main

import (
	"runtime"
	"sort"
)

type shape interface{ area(n uint64) uint64 }
type square struct{ side uint64 }

//go:noinline
func (s square) area(n uint64) uint64 {
	for i := uint64(0); i < 200; i++ {
		n = n*s.side + i
	}
	return n
}

//go:noinline
func nest(depth uint64, s shape) uint64 {
	if depth == 0 {
		return s.area(depth)
	}
	return nest(depth-1, s) ^ depth
}

func init() { runtime.LockOSThread() }

func main() {
	seen := map[uint64]uint64{}
	for n := uint64(1); ; n++ {
		sum := func(s shape) uint64 { return nest(n%9, s) }
		seen[n%50] += sum(square{n})
		list := make([]uint64, 100)
		for i := range list {
			list[i] = sum(square{uint64(i)})
		}
		sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	}
}
