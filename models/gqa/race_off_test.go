//go:build !race

package gqa_test

const raceEnabled = false
