//go:build !amd64 || purego

package parallel

import "runtime"

// pause gives up the thread once; the portable stand-in for a spin hint.
func pause(int) { runtime.Gosched() }
