//go:build !unix

package atomicfile

// syncDir does nothing: folders cannot be synced everywhere.
func syncDir(string) error { return nil }
