// Command train trains small transformers, and uses what was trained.
//
//	train gqa                     # learns to add, in minutes
//	train gqa --data book.txt     # learns to write
//	train generate --ckpt RUN --prompt "47+85="
//	train vit                     # learns to tell figures apart
//	train classify --ckpt RUN picture.png
//
// Results go to stdout, progress and messages to stderr. It exits with 0 when
// done, 1 when it failed, 2 for a wrong usage (flags and all that is wrong with
// a --config file), and 130 or 143 when SIGINT or
// SIGTERM ended it and the state was saved.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
