// Package bench holds the benchmarks of the whole framework, through its public
// API: operations of fixed sizes, training steps and generation. README.md says how
// to run and read them.
//
// The cases are in bench/cases, the program that runs them in turn with PyTorch's
// in bench/compare, and PyTorch's side in bench/torch.
package bench
