package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// printSummary writes what several results say together: the ratios of each group
// of cases, and what threads bring.
func (r *report) printSummary(w io.Writer) {
	if rows := r.groupRows(); len(rows) > 1 {
		fmt.Fprintln(w, "\nratios of groups")
		fmt.Fprintln(w)
		writeTable(w, rows)
	}
	if rows := r.threadRows(); len(rows) > 1 {
		fmt.Fprintln(w, "\nfewest threads to most, and both sides at their best number")
		fmt.Fprintln(w)
		writeTable(w, rows)
	}
}

// groupRows has a row for each group of more than one case with PyTorch, for each
// number of threads.
func (r *report) groupRows() [][]string {
	rows := [][]string{{"group", "threads", "cases", "median ratio", "least ratio"}}
	for _, threads := range r.threads() {
		ratios := map[string][]float64{}
		var groups []string
		for _, result := range r.Results {
			if result.Threads != threads || result.Ratio == 0 {
				continue
			}
			group, _, _ := strings.Cut(result.Case, "/")
			if ratios[group] == nil {
				groups = append(groups, group)
			}
			ratios[group] = append(ratios[group], result.Ratio)
		}
		for _, group := range groups {
			if all := ratios[group]; len(all) > 1 {
				rows = append(rows, []string{group, fmt.Sprint(threads), fmt.Sprint(len(all)),
					number("%.2f", median(all)), number("%.2f", slices.Min(all))})
			}
		}
	}
	return rows
}

// threadRows has a row for each case that ran with several numbers of threads.
func (r *report) threadRows() [][]string {
	rows := [][]string{{"case", "ours faster by", "torch faster by", "best to best"}}
	byCase := map[string][]*result{}
	var names []string
	for _, result := range r.Results {
		if byCase[result.Case] == nil {
			names = append(names, result.Case)
		}
		byCase[result.Case] = append(byCase[result.Case], result)
	}
	for _, name := range names {
		runs := slices.SortedFunc(slices.Values(byCase[name]), func(a, b *result) int { return a.Threads - b.Threads })
		first, last := runs[0], runs[len(runs)-1]
		if first.Threads == last.Threads {
			continue
		}
		ours := bestOf(runs, func(r *result) float64 { return r.Ours })
		torch := bestOf(runs, func(r *result) float64 { return r.Torch })
		rows = append(rows, []string{name, number("%.2f", quotient(first.Ours, last.Ours)),
			number("%.2f", quotient(first.Torch, last.Torch)), number("%.2f", quotient(torch, ours))})
	}
	return rows
}

// bestOf is the least time that is known, or 0.
func bestOf(runs []*result, seconds func(*result) float64) float64 {
	best := 0.0
	for _, run := range runs {
		if s := seconds(run); s > 0 && (best == 0 || s < best) {
			best = s
		}
	}
	return best
}

// quotient is a/b, or 0 where one is unknown.
func quotient(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a / b
}
