package protocol

import "strings"

// Nearest finds the name that was probably meant by a word that is none of
// them: one that begins or ends with it, or is a slip or two away, the more the
// longer the word. It is empty where nothing is near.
func Nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", 2+min(3, (len(word)-1)/4)
	for _, name := range names {
		d := distance(word, name)
		if len(word) > 3 && (strings.HasPrefix(name, word) || strings.HasSuffix(name, word)) {
			d = 0
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters to insert, drop or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
