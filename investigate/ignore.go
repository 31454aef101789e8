package investigate

import (
	"bufio"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxIgnoreFile bounds a .gitignore; the largest in use are a tenth of it.
const maxIgnoreFile = 1 << 20

// ignoreRules are the patterns in force in one folder: those of the folders
// around it, then its own. A nil value ignores nothing.
type ignoreRules struct{ patterns []ignorePattern }

// ignorePattern is one line of a .gitignore file.
type ignorePattern struct {
	domain   string   // the folder of the file, "" or with a slash at its end
	parts    []string // the pattern, split at its slashes
	anchored bool     // it has a slash, so it counts from its folder
	negated  bool
	dirOnly  bool
}

// outerIgnoreRules reads the rules of the repository around root, and returns
// root's own path inside that repository.
func outerIgnoreRules(root string) (rules *ignoreRules, prefix string) {
	top := root
	for {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(top)
		if parent == top {
			return nil, ""
		}
		top = parent
	}
	rules = rules.withFile(filepath.Join(top, ".git", "info", "exclude"), "")
	rel, err := filepath.Rel(top, root)
	if err != nil || rel == "." {
		return rules, ""
	}
	domain := ""
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		rules = rules.withFile(filepath.Join(top, filepath.FromSlash(domain), ".gitignore"), domain)
		domain += part + "/"
	}
	return rules, domain
}

// withFile adds the patterns of one file that lies in the folder domain. A file
// that cannot be read adds nothing, as in git.
func (r *ignoreRules) withFile(file, domain string) *ignoreRules {
	f, err := os.Open(file)
	if err != nil {
		return r
	}
	defer f.Close()
	added := &ignoreRules{}
	if r != nil {
		added.patterns = append(added.patterns, r.patterns...)
	}
	lines := bufio.NewScanner(io.LimitReader(f, maxIgnoreFile))
	for lines.Scan() {
		if p, ok := parseIgnore(lines.Text(), domain); ok {
			added.patterns = append(added.patterns, p)
		}
	}
	return added
}

func parseIgnore(line, domain string) (ignorePattern, bool) {
	line = strings.TrimSuffix(line, "\r")
	if trimmed := strings.TrimRight(line, " "); !strings.HasSuffix(trimmed, `\`) {
		line = trimmed
	}
	if line == "" || line[0] == '#' {
		return ignorePattern{}, false
	}
	p := ignorePattern{domain: domain}
	if line[0] == '!' {
		p.negated = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly = true
		line = strings.TrimSuffix(line, "/")
	}
	p.anchored = strings.Contains(line, "/")
	for part := range strings.SplitSeq(strings.TrimPrefix(line, "/"), "/") {
		if part == "**" && len(p.parts) > 0 && p.parts[len(p.parts)-1] == "**" {
			continue
		}
		// Git writes a negated class [!a], package path writes it [^a].
		p.parts = append(p.parts, strings.ReplaceAll(part, "[!", "[^"))
	}
	return p, line != ""
}

// ignored decides about a path whose folders are not ignored themselves: the
// last pattern that matches wins.
func (r *ignoreRules) ignored(name string, isDir bool) bool {
	if r == nil {
		return false
	}
	for i := len(r.patterns) - 1; i >= 0; i-- {
		if r.patterns[i].matches(name, isDir) {
			return !r.patterns[i].negated
		}
	}
	return false
}

func (p *ignorePattern) matches(name string, isDir bool) bool {
	if p.dirOnly && !isDir || !strings.HasPrefix(name, p.domain) {
		return false
	}
	name = name[len(p.domain):]
	if !p.anchored {
		ok, err := path.Match(p.parts[0], name[strings.LastIndexByte(name, '/')+1:])
		return ok && err == nil
	}
	return matchParts(p.parts, strings.Split(name, "/"))
}

func matchParts(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(name) > 0
			}
			for i := range name {
				if matchParts(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
