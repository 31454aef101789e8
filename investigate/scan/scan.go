// Package scan reads one source file: what it declares, what it imports, which
// names it calls. It is pure (bytes in, facts out), holds nothing between calls,
// and never fails: code that does not parse gives fewer facts.
//
// Go is read by the standard parser. The other languages are read by a tokenizer
// that knows their comments and strings, and by a recogniser of declarations that
// follows braces or indentation; neither expands macros nor resolves names.
package scan

import (
	"path"
	"strings"
)

// Language is one of the languages whose declarations are known.
type Language string

// The languages. None is every other file, which can only be searched as text.
const (
	None       Language = ""
	Go         Language = "go"
	Python     Language = "python"
	TypeScript Language = "typescript"
	JavaScript Language = "javascript"
	Java       Language = "java"
	Rust       Language = "rust"
	C          Language = "c"
	CPP        Language = "c++"
)

// LanguageOf tells the language by the file's name.
func LanguageOf(name string) Language {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return Go
	case ".py", ".pyi", ".pyw":
		return Python
	case ".ts", ".tsx", ".mts", ".cts":
		return TypeScript
	case ".js", ".jsx", ".mjs", ".cjs":
		return JavaScript
	case ".java":
		return Java
	case ".rs":
		return Rust
	case ".c", ".h":
		return C
	case ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".c++", ".h++", ".inl", ".ipp":
		return CPP
	}
	return None
}

// Kind is what a declaration declares.
type Kind string

// The kinds of declarations. Languages use the words they know: a Rust trait is
// an interface, a C prototype is a function without a body.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Prototype Kind = "prototype"
	Class     Kind = "class"
	Struct    Kind = "struct"
	Union     Kind = "union"
	Interface Kind = "interface"
	Enum      Kind = "enum"
	Type      Kind = "type"
	Module    Kind = "module"
	Macro     Kind = "macro"
	Constant  Kind = "constant" // of a module, a package or a class; never a local one
	Variable  Kind = "variable"
)

// Decl is one declaration.
type Decl struct {
	Name      string `json:"name"`
	Kind      Kind   `json:"kind"`
	Line      int    `json:"line"`
	End       int    `json:"end"` // last line of the body
	Signature string `json:"signature"`
	Scope     string `json:"scope,omitempty"` // enclosing declarations, outermost first, joined by dots
}

// Import is one name that a file brings in from elsewhere, as it is written there.
type Import struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// Facts is what a file says about itself.
type Facts struct {
	Package string
	Decls   []Decl
	Imports []Import
}

// maxSignature cuts a signature that spans many lines to what fits one.
const maxSignature = 240

// File reads the facts of a source file in the given language.
func File(lang Language, src []byte) Facts {
	switch lang {
	case Go:
		return goFile(src)
	case Python:
		return pythonFile(src)
	case TypeScript, JavaScript:
		return scriptFile(src, lang)
	case Java:
		return javaFile(src)
	case Rust:
		return rustFile(src)
	case C, CPP:
		return cFile(src)
	}
	return Facts{}
}

// squeeze makes one line of a declaration's text.
func squeeze(text []byte) string {
	out := make([]byte, 0, min(len(text), maxSignature+4))
	space := false
	for _, c := range text {
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			space = len(out) > 0
			continue
		}
		if len(out) >= maxSignature {
			return strings.ToValidUTF8(string(out), "") + "…"
		}
		if space {
			out = append(out, ' ')
			space = false
		}
		out = append(out, c)
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}
