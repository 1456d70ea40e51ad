package archtest

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/stria-ml/stria"
	root   = "../.."
)

// goFile is a Go file and what it imports.
type goFile struct {
	path    string // relative to the module
	pkg     string // its folder
	test    bool
	imports []string
}

// TestImports checks every Go file of the module, whatever its build
// constraints, against the tables.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range readModule(t) {
		seen[file.pkg] = true
		rules, known := rulesOf(file.pkg)
		if !known {
			t.Errorf("%s: package %s has no row in the table of allowed imports", file.path, file.pkg)
			continue
		}
		for _, imported := range file.imports {
			checkImport(t, file, rules, imported)
		}
	}
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("the table has a row for %s, which does not exist", pkg)
		}
	}
}

// TestRulesHoldTogether checks that the tables name packages that exist, and
// that no row lets a package outside of internal be imported by one inside.
func TestRulesHoldTogether(t *testing.T) {
	for pkg, imports := range allowed {
		for _, imported := range imports {
			if _, known := allowed[imported]; !known {
				t.Errorf("%s may import %s, which has no row", pkg, imported)
			}
			if isInternal(pkg) && !isInternal(imported) {
				t.Errorf("%s may import %s, which is above it", pkg, imported)
			}
		}
	}
	for _, pkg := range public {
		if _, known := allowed[pkg]; !known || isInternal(pkg) {
			t.Errorf("%s is listed as public", pkg)
		}
	}
	for library, users := range libraries {
		for _, pkg := range users {
			if _, known := allowed[pkg]; !known {
				t.Errorf("%s may import %s, but has no row", pkg, library)
			}
		}
	}
}

func isInternal(pkg string) bool { return strings.HasPrefix(pkg, "internal/") }

// rulesOf returns what a package may import. Examples stand for programs
// outside of the module.
func rulesOf(pkg string) (imports []string, known bool) {
	if path.Dir(pkg) == "examples" {
		return public, true
	}
	imports, known = allowed[pkg]
	return imports, known
}

func checkImport(t *testing.T, file goFile, rules []string, imported string) {
	t.Helper()
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		if !file.test && !slices.Contains(rules, own) { // tests may use what stands above
			t.Errorf("%s: %s must not import %s", file.path, file.pkg, own)
		}
		return
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		if imported == "C" {
			t.Errorf("%s: cgo", file.path)
		}
		return // the standard library
	}
	if file.test && slices.ContainsFunc(testLibraries, func(library string) bool { return within(imported, library) }) {
		return
	}
	for library, users := range libraries {
		if within(imported, library) {
			if !slices.Contains(users, file.pkg) {
				t.Errorf("%s: %s must not import %s", file.path, file.pkg, imported)
			}
			return
		}
	}
	t.Errorf("%s: %s is of no library in the table", file.path, imported)
}

// within reports whether an import path is in a module.
func within(imported, library string) bool {
	return imported == library || strings.HasPrefix(imported, library+"/")
}

// readModule parses the import lines of all Go files but those of modules
// beneath and of folders that the go command passes over.
func readModule(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(name, entry.Name())
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := readFile(name)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// enter returns fs.SkipDir for a folder whose files are not the module's.
func enter(dir, base string) error {
	if dir == root {
		return nil
	}
	if base == "testdata" || base == "runs" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	switch _, err := os.Stat(filepath.Join(dir, "go.mod")); {
	case err == nil:
		return fs.SkipDir
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func readFile(name string) (goFile, error) {
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return goFile{}, err
	}
	file := goFile{path: filepath.ToSlash(relative), test: strings.HasSuffix(name, "_test.go")}
	file.pkg = path.Dir(file.path)
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		return file, err
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file, err
		}
		file.imports = append(file.imports, imported)
	}
	return file, nil
}
