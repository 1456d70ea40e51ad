module github.com/stria-ml/stria

go 1.25.0

require (
	golang.org/x/sys v0.44.0
	pgregory.net/rapid v1.3.0 // indirect
)
