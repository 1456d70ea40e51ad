//go:build !purego

package rowvec

//go:generate sh -c "cd ../_asm && go run . -set softmax -out ../rowvec/softmax_amd64.s"
//go:generate sh -c "cd ../_asm && go run . -set softmax512 -out ../rowvec/softmax512_amd64.s"

//go:noescape
func softmaxRowsAVX2(dst, x *float32, rows, n int)

//go:noescape
func softmaxGradRowsAVX2(dx, y, dy *float32, rows, n int)

//go:noescape
func softmaxRowsAVX512(dst, x *float32, rows, n int)

//go:noescape
func softmaxGradRowsAVX512(dx, y, dy *float32, rows, n int)
