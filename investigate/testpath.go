package investigate

import (
	"path"
	"strings"
)

// isTestPath tells by the conventions of each language whether a file holds tests.
func isTestPath(file string) bool {
	dir, name := path.Split(file)
	stem := strings.TrimSuffix(name, path.Ext(name))
	switch {
	case strings.HasSuffix(stem, "_test"), strings.HasPrefix(stem, "test_"),
		strings.HasSuffix(stem, ".test"), strings.HasSuffix(stem, ".spec"),
		strings.HasSuffix(stem, "_spec"), stem == "conftest":
		return true
	case path.Ext(name) == ".java" && (strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "IT")):
		return true
	case path.Ext(name) == ".go" && strings.HasSuffix(path.Base(dir), "test"): // httptest and its like
		return true
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		switch part {
		case "test", "tests", "__tests__", "spec", "testing":
			return true
		}
	}
	return false
}

// isSidePath names what is in the tree without being its subject: what others
// wrote, what programs wrote, and what tests feed on. It is investigated, and
// ranked last.
func isSidePath(file string) bool {
	if isMadeName(path.Base(file)) {
		return true
	}
	for part := range strings.SplitSeq(dirOf(file), "/") {
		switch part {
		case "vendor", "node_modules", "third_party", "thirdparty", "testdata", "fixtures":
			return true
		}
	}
	return false
}

// isMadeName names the lists of versions and the squeezed scripts that programs
// write: they mention everything and explain nothing.
func isMadeName(name string) bool {
	switch name {
	case "go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml":
		return true
	}
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".map") || strings.Contains(name, ".min.") || strings.Contains(name, "-min.")
}
