module github.com/stria-ml/stria

go 1.25.0
