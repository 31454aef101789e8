package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// takes checks the number of a verb's arguments against its usage line, which
// says what they are: capital words, the optional ones in brackets. With more,
// the last one is a text that may come as several words.
func takes(more bool) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		least, most := 0, 0
		for _, word := range strings.Fields(c.Use)[1:] {
			most++
			if !strings.HasPrefix(word, "[") {
				least++
			}
		}
		if len(args) < least || len(args) > most && !more {
			return fmt.Errorf("got %s; type: %s", count(len(args), "argument"), c.Parent().Name()+" "+c.Use)
		}
		return nil
	}
}

// phrase is a text that was typed with or without quotes.
func phrase(words []string) string { return strings.Join(words, " ") }
