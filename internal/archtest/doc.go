// Package archtest holds the test of the import graph: which package may import
// which, and where each library from outside may be used.
package archtest
