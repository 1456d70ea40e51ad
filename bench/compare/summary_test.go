package main

import (
	"strings"
	"testing"

	"github.com/stria-ml/stria/bench/cases"
)

const summary = `
ratios of groups

| group  | threads | cases | median ratio | least ratio |
| ------ | ------- | ----- | ------------ | ----------- |
| MatMul |       1 |     3 |         1.50 |        0.50 |

fewest threads to most, and both sides at their best number

| case     | ours faster by | torch faster by | best to best |
| -------- | -------------- | --------------- | ------------ |
| MatMul/b |           2.00 |            0.50 |         1.00 |
| Step/x   |           1.50 |               - |            - |
`

func TestSummary(t *testing.T) {
	r := &report{Rounds: 1}
	for _, row := range []struct {
		name        string
		threads     int
		ours, torch float64
	}{
		{"MatMul/a", 1, 2, 4}, {"MatMul/b", 2, 2, 4}, {"MatMul/b", 1, 4, 2}, {"MatMul/c", 1, 2, 3}, {"Step/x", 1, 3, 0}, {"Step/x", 2, 2, 0},
	} {
		result := newResult(cases.Case{Name: row.name}, row.threads)
		result.add(oursName, sample{Seconds: row.ours})
		if row.torch > 0 {
			result.add("torch", sample{Seconds: row.torch})
		}
		r.Results = append(r.Results, result)
	}
	var out strings.Builder
	r.printSummary(&out)
	if out.String() != summary {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), summary)
	}
}
