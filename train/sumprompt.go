package train

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/datasets"
	"github.com/stria-ml/stria/tokenizer"
)

// A model that learned addition knows sums in one form alone: summands of two
// characters, and so on. It answers any other just as surely, but wrong.
var (
	sum     = regexp.MustCompile(`^ *(\d{1,2}) *\+ *(\d{1,2}) *=?[ \n]*$`)
	trained = [...]string{" 123456789", "0123456789", "+", " 123456789", "0123456789", "="} // characters, by position
)

// sumNote returns what to say of a prompt for a model whose tokens are those of
// addition, or "" where it is the beginning of what that was trained on.
func sumNote(tok tokenizer.Tokenizer, prompt string) string {
	a, err := datasets.NewAddition(datasets.AdditionConfig{})
	if err != nil || sameTokenizer(tok, a.Tokenizer()) != nil || isTrainedSum(prompt) {
		return ""
	}
	advice := fmt.Sprintf("such as %q", a.Prompt(6, 31))
	if m := sum.FindStringSubmatch(prompt); m != nil {
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		advice = fmt.Sprintf("here %q", a.Prompt(x, y))
	}
	return fmt.Sprintf("the model was trained on sums of another form than %q, and may well be wrong: write both summands two characters wide, %s",
		prompt, advice)
}

// isTrainedSum reports whether the prompt begins as sums do in training.
func isTrainedSum(prompt string) bool {
	for i := range min(len(prompt), len(trained)) {
		if !strings.Contains(trained[i], prompt[i:i+1]) {
			return false
		}
	}
	return true
}
