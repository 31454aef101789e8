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
			return fmt.Errorf("got %s; type: %s", count(len(args), "argument"), c.Parent().CommandPath()+" "+c.Use)
		}
		return nil
	}
}

// onlyVerbs is for a verb that has others below it: alone it explains itself,
// and a word that is none of them is refused.
func onlyVerbs(c *cobra.Command) {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := usagef("there is no verb %q", c.CommandPath()+" "+args[0])
		if like := c.SuggestionsFor(args[0]); len(like) > 0 {
			return withHint(err, "did you mean: %s %s", c.CommandPath(), strings.Join(like, ", "))
		}
		return err
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.DisableFlagsInUseLine = true
	c.SuggestionsMinimumDistance = 2
}

// phrase is a text that was typed with or without quotes.
func phrase(words []string) string { return strings.Join(words, " ") }
