package optim

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// NamedParam is a parameter and its name in the model.
type NamedParam struct {
	Name string
	*autograd.Param
}

// ParamsOf lists a model's parameters with their names, as nn.Params finds
// them: in exported fields.
func ParamsOf(model any) []NamedParam {
	var params []NamedParam
	for name, p := range nn.Params(model) {
		params = append(params, NamedParam{name, p})
	}
	return params
}

// wantParams refuses an optimizer of nothing.
func wantParams(op string, params []NamedParam) {
	if len(params) == 0 {
		panic(&tensor.Error{Op: op, Kind: tensor.InvalidArgument, Expected: 1,
			Message: "there are no parameters to change; nn.Params and ParamsOf find those in exported fields of structs, and in slices"})
	}
}
