//go:build !purego

package parallel

// pause tells the core n times that this is a spin loop; n is at least 1.
//
//go:noescape
func pause(n int)
