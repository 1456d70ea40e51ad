package autograd_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// TestVarsOfferWhatTensorsDo fails when tensor has an operation that Vars lack.
func TestVarsOfferWhatTensorsDo(t *testing.T) {
	without := map[string]string{
		"for Bool, which has no gradient; use Value": "And Or Xor Not All AllKeepDim Any AnyKeepDim",
		"no gradient; use Value":                     "IsNaN ArgMaxKeepDim ArgMinKeepDim",
		"writes":                                     "CopyFrom Fill Zero",
		"about storage and layout; use Value": "Borrow CanView Format GivenBack HasInternalOverlap IsContiguous MarkRead UnmarkRead " +
			"Offset Same SharesStorage Storage StorageOffset Stride Strides Version",
		"a graph has one device": "ToDevice",
	}
	exempt := map[string]bool{}
	for _, names := range without {
		for _, name := range strings.Fields(names) {
			exempt[name] = true
		}
	}
	vars, tensors := reflect.TypeFor[*autograd.Var](), reflect.TypeFor[*tensor.Tensor]()
	for i := range tensors.NumMethod() {
		name := tensors.Method(i).Name
		_, has := vars.MethodByName(name)
		switch {
		case has && exempt[name]:
			t.Errorf("Vars do have %s", name)
		case !has && !exempt[name] && !strings.HasSuffix(name, "InPlace"):
			t.Errorf("tensors have %s and Vars do not", name)
		}
	}
}
