// Package personalities holds the briefs of the five default agents, in English
// and in Japanese, as they are compiled into the binary. A brief tells an agent
// its duty, whom it may address, how it delegates, and which marker ends every
// reply. A project that wants other words writes its own files; these are what
// it starts from, and what stands in where a file is missing.
package personalities

import (
	"embed"
	"path"
	"slices"
)

//go:embed en/*.txt ja/*.txt
var briefs embed.FS

// File is one brief as it is written into a project.
type File struct {
	Name string // the file's name, without a folder
	Text string
}

// Names lists the agents that have a brief, highest rank first.
func Names() []string {
	return []string{
		"grand_boss",
		"middle_manager",
		"coding_writing_specialist",
		"research_analysis_specialist",
		"testing_specialist",
	}
}

// Languages lists the languages every brief is written in.
func Languages() []string { return []string{"en", "ja"} }

// Brief returns the brief of the named agent, and false for an agent or a
// language that has none.
func Brief(name, lang string) (string, bool) {
	if !slices.Contains(Names(), name) || !slices.Contains(Languages(), lang) {
		return "", false
	}
	text, err := briefs.ReadFile(path.Join(lang, name+".txt"))
	return string(text), err == nil
}

// Files returns all briefs of a language, ready to be written into a folder,
// and nothing for a language that has none.
func Files(lang string) []File {
	var files []File
	for _, name := range Names() {
		if text, ok := Brief(name, lang); ok {
			files = append(files, File{Name: name + ".txt", Text: text})
		}
	}
	return files
}
