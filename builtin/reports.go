package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orchestrator-cc/investigate"
)

const (
	keptReports = 20 // that many are enough to plan by, and to look back at
	// keptSpills is more than one investigation writes, so that what the newest
	// report names is there.
	keptSpills = 20
)

// reportFile is a report as it is kept, together with the messages that made it.
type reportFile struct {
	Report   investigate.Report     `json:"report"`
	Messages []investigate.Envelope `json:"messages"`
}

func reportPattern(dir string) string { return filepath.Join(dir, "report-*.json") }

// loadReports reads the earlier reports on this code, newest first. One that
// cannot be read is left out: it is a help, not a need.
func loadReports(dir string) (reports []investigate.Report) {
	names, _ := filepath.Glob(reportPattern(dir))
	slices.Sort(names)
	slices.Reverse(names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		var f reportFile
		if err == nil && json.Unmarshal(data, &f) == nil {
			reports = append(reports, f.Report)
		}
	}
	return reports
}

// keepReport writes a report beside the earlier ones and drops the oldest.
func keepReport(dir string, r investigate.Report, messages []investigate.Envelope) error {
	data, err := json.MarshalIndent(reportFile{r, messages}, "", " ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	name := fmt.Sprintf("report-%s.json", time.Now().UTC().Format("20060102-150405.000000"))
	if err := replaceFile(filepath.Join(dir, name), data); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	names, _ := filepath.Glob(reportPattern(dir))
	slices.Sort(names)
	var errs []error
	for _, old := range names[:max(0, len(names)-keptReports)] {
		errs = append(errs, os.Remove(old))
	}
	return errors.Join(errs...)
}

// pruneSpills drops all but the newest of the files that hold what did not fit
// a prompt. Several specialists may do so at once.
func pruneSpills(dir string) error {
	names, _ := filepath.Glob(filepath.Join(dir, "*-*.jsonl"))
	written := make(map[string]time.Time, len(names))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			written[name] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return written[a].Compare(written[b]) })
	var errs []error
	for _, old := range names[:max(0, len(names)-keptSpills)] {
		if err := os.Remove(old); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// replaceFile writes a file as a whole: a reader never sees half of it.
func replaceFile(path string, data []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
