package investigate

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed report.html
var reportPage string

// refGroup is a titled list in the page.
type refGroup struct {
	Title string
	Refs  []Ref
}

// HTML is the report as one page that needs nothing else: no script, no other
// file. Its drawing shows what the found code depends on and what depends on it.
func (r Report) HTML() ([]byte, error) {
	page, err := template.New("report").Funcs(template.FuncMap{
		// Claims are written in Markdown, whose code marks mean nothing here.
		"plain":   func(text string) string { return strings.ReplaceAll(text, "`", "") },
		"heading": r.heading,
		"list":    func(title string, refs []Ref) refGroup { return refGroup{title, refs} },
	}).Parse(reportPage)
	if err != nil {
		return nil, fmt.Errorf("write report as HTML: %w", err)
	}
	var out bytes.Buffer
	err = page.Execute(&out, map[string]any{
		"Report": r, "L": r.label(), "Heading": oneLine(r.Question, 200), "Graph": drawGraph(r.Subjects),
	})
	if err != nil {
		return nil, fmt.Errorf("write report as HTML: %w", err)
	}
	return out.Bytes(), nil
}
