package backend

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

var registry = struct {
	sync.RWMutex
	open map[string]func(name string) (Device, error) // by the name before the colon
}{open: map[string]func(string) (Device, error){}}

// Register makes a kind of device known: "cpu", "cuda". open gets the full
// name, such as "cuda:0". A kind can be registered once.
func Register(kind string, open func(name string) (Device, error)) {
	registry.Lock()
	defer registry.Unlock()
	if _, twice := registry.open[kind]; twice {
		panic(fmt.Sprintf("backend: device kind %q registered twice", kind))
	}
	registry.open[kind] = open
}

// Open returns the device of that name.
func Open(name string) (Device, error) {
	kind, _, _ := strings.Cut(name, ":")
	registry.RLock()
	open, known := registry.open[kind]
	registry.RUnlock()
	if !known {
		return nil, fmt.Errorf("device %q: this build knows %s", name, strings.Join(Kinds(), ", "))
	}
	return open(name)
}

// Kinds returns the registered kinds in alphabetical order.
func Kinds() []string {
	registry.RLock()
	defer registry.RUnlock()
	kinds := make([]string, 0, len(registry.open))
	for kind := range registry.open {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	return kinds
}
