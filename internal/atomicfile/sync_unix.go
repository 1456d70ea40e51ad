//go:build unix

package atomicfile

// syncDir makes renames in dir durable.
func syncDir(dir string) error { return syncFile(dir) }
