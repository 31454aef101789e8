package investigate

import (
	"path"
	"strings"

	"orchestrator-cc/investigate/scan"
)

// resolveImport finds the file of the tree that an import means, or "".
func (r *Root) resolveImport(from *File, spec string) string {
	switch from.Language {
	case scan.Python:
		return r.resolvePython(from, spec)
	case scan.TypeScript, scan.JavaScript:
		if !strings.HasPrefix(spec, ".") {
			return ""
		}
		return r.firstFile(scriptCandidates(path.Join(path.Dir(from.Path), spec)))
	case scan.Java:
		return r.bySuffix(strings.ReplaceAll(spec, ".", "/") + ".java")
	case scan.Rust:
		return r.resolveRust(from, spec)
	case scan.C, scan.CPP:
		if near := path.Join(path.Dir(from.Path), spec); r.has(near) {
			return near
		}
		return r.bySuffix(spec)
	}
	return ""
}

func (r *Root) has(file string) bool {
	_, ok := r.fileIndex(file)
	return ok
}

func (r *Root) firstFile(candidates []string) string {
	for _, c := range candidates {
		if r.has(c) {
			return c
		}
	}
	return ""
}

// bySuffix finds the file whose path ends with the given one; of several the
// shortest, because copies lie deeper.
func (r *Root) bySuffix(suffix string) string {
	best := ""
	for i := range r.files {
		p := r.files[i].Path
		if (p == suffix || strings.HasSuffix(p, "/"+suffix)) && (best == "" || len(p) < len(best)) {
			best = p
		}
	}
	return best
}

// scriptCandidates are the files that an import without extension may mean; an
// import of .js may mean the .ts it is compiled from.
func scriptCandidates(base string) []string {
	stem := strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".jsx")
	var out []string
	for _, ext := range []string{"", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".d.ts"} {
		out = append(out, base+ext, stem+ext)
	}
	for _, ext := range []string{".ts", ".tsx", ".js", ".jsx"} {
		out = append(out, base+"/index"+ext)
	}
	return out
}

func (r *Root) resolvePython(from *File, spec string) string {
	rest := strings.TrimLeft(spec, ".")
	tail := strings.ReplaceAll(rest, ".", "/")
	if dots := len(spec) - len(rest); dots > 0 {
		dir := path.Dir(from.Path)
		for range dots - 1 {
			dir = path.Dir(dir)
		}
		base := path.Join(dir, tail)
		return r.firstFile([]string{base + ".py", base + "/__init__.py"})
	}
	if tail == "" {
		return ""
	}
	if near := path.Join(path.Dir(from.Path), tail) + ".py"; r.has(near) {
		return near
	}
	if found := r.bySuffix(tail + ".py"); found != "" {
		return found
	}
	return r.bySuffix(tail + "/__init__.py")
}

// resolveRust tries ever shorter parts of a use path, because its end names
// items and not files.
func (r *Root) resolveRust(from *File, spec string) string {
	spec, _, _ = strings.Cut(spec, "{")
	spec, _, _ = strings.Cut(spec, " as ")
	parts := strings.Split(strings.Trim(spec, ":"), "::")
	dir := path.Dir(from.Path)
	switch parts[0] {
	case "crate":
		for dir != "." && path.Base(dir) != "src" {
			dir = path.Dir(dir)
		}
		parts = parts[1:]
	case "super":
		if name := path.Base(from.Path); name == "mod.rs" {
			dir = path.Dir(dir)
		}
		parts = parts[1:]
	case "self":
		parts = parts[1:]
	}
	for n := len(parts); n > 0; n-- {
		base := path.Join(dir, strings.Join(parts[:n], "/"))
		if found := r.firstFile([]string{base + ".rs", base + "/mod.rs"}); found != "" && found != from.Path {
			return found
		}
	}
	return ""
}
