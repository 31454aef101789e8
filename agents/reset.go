package agents

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The ways in which programs tell when a quota or a rate limit ends.
var (
	epochReset = regexp.MustCompile(`(?:^|\D)(1[6-9]\d{8}|[2-9]\d{9})(\d{3})?(?:\D|$)`) // seconds, or thousandths of them
	stampReset = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d|UTC)?`)
	spanReset  = regexp.MustCompile(`(?i)\b(?:in|after)\b[:\s]+((?:(?:and\s+)?\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|[smhd])\b[\s,]*)+)`)
	afterReset = regexp.MustCompile(`(?i)\bretry[- ]after["']?\s*[:=]?\s*"?(\d+)\b`)
	spanPart   = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(ms|milli|s|m|h|d)`)
	zonedReset = regexp.MustCompile(`\(([A-Za-z_]+(?:/[A-Za-z_+-]+)*)\)`)
	dayReset   = regexp.MustCompile(`(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?`)
	clockReset = regexp.MustCompile(`(?i)(?:\b(?:at|until|resets?|after|in)\b|,|\d{4})\s*(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b`)
	hoursReset = regexp.MustCompile(`(?i)(?:\b(?:at|until|resets?|after)\b|,)\s*(\d{1,2}):(\d\d)\b`)
)

// mostReset bounds what is believed: quotas are by the hour, the day, the week
// or the month.
const mostReset = 32 * 24 * time.Hour

// resetOf reads from a program's own words when its wall ends, as seen at now
// and in now's time zone where the words name none. The zero time says that
// they do not tell.
func resetOf(text string, now time.Time) time.Time {
	for _, read := range []func(string, time.Time) time.Time{readEpoch, readStamp, readSpan, readClock} {
		if at := read(text, now); at.After(now) && at.Sub(now) < mostReset {
			return at
		}
	}
	return time.Time{}
}

func readEpoch(text string, now time.Time) time.Time {
	m := epochReset.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).In(now.Location())
}

func readStamp(text string, now time.Time) time.Time {
	found := strings.Replace(strings.Replace(stampReset.FindString(text), "UTC", "Z", 1), " ", "T", 1)
	found = strings.ReplaceAll(found, " ", "")
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, found, now.Location()); err == nil {
			return at
		}
	}
	return time.Time{}
}

// readSpan reads "in 2h 15m", "after 13h28m5s" and "retry-after: 30".
func readSpan(text string, now time.Time) time.Time {
	m := spanReset.FindStringSubmatch(splitSpans(text))
	if m == nil {
		m = afterReset.FindStringSubmatch(text)
		if m == nil {
			return time.Time{}
		}
		m[1] += "s"
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "milli": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	total := time.Duration(0)
	for _, part := range spanPart.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return time.Time{}
		}
		total += time.Duration(n * float64(units[strings.ToLower(part[2])]))
	}
	return now.Add(total)
}

var gluedSpan = regexp.MustCompile(`(\d[smhd])(\d)`)

// splitSpans puts blanks into what is written without them, as 13h28m5s.
func splitSpans(text string) string {
	for range 3 { // a match covers the digit that the next one begins with
		text = gluedSpan.ReplaceAllString(text, "$1 $2")
	}
	return text
}

// readClock reads "resets 3pm (Europe/Berlin)", "resets Oct 9 at 5pm" and "at
// 17:30": the next time that the clock shows so.
func readClock(text string, now time.Time) time.Time {
	if m := zonedReset.FindStringSubmatch(text); m != nil {
		// An unknown zone is most likely this machine's own, by a name that it
		// has no table for.
		if zone, err := time.LoadLocation(m[1]); err == nil {
			now = now.In(zone)
		}
	}
	hour, minute, ok := clockOf(text)
	day := dayReset.FindStringSubmatch(text)
	if !ok && day == nil {
		return time.Time{}
	}
	if day == nil {
		at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location())
		if soon, ok := justNow(at, now); ok {
			return soon
		}
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, now.Location())
		}
		return at
	}
	month, err := time.Parse("Jan", strings.ToUpper(day[1][:1])+strings.ToLower(day[1][1:3]))
	date, _ := strconv.Atoi(day[2]) // the pattern has digits only
	if err != nil {
		return time.Time{}
	}
	year := now.Year()
	if day[3] != "" {
		year, _ = strconv.Atoi(day[3])
	}
	at := time.Date(year, month.Month(), date, hour, minute, 0, 0, now.Location())
	if soon, ok := justNow(at, now); ok {
		return soon
	}
	if day[3] == "" && !at.After(now) {
		at = time.Date(year+1, month.Month(), date, hour, minute, 0, 0, now.Location())
	}
	return at
}

// justNow tells a minute that has begun, or has passed a moment ago, from the
// same one of tomorrow: programs leave the seconds out.
func justNow(at, now time.Time) (soon time.Time, ok bool) {
	const passed = 5 * time.Minute
	if at.After(now) || now.Sub(at) > passed {
		return time.Time{}, false
	}
	if end := at.Add(time.Minute); end.After(now) {
		return end, true
	}
	return now.Add(time.Minute), true
}

func clockOf(text string) (hour, minute int, ok bool) {
	m := clockReset.FindStringSubmatch(text)
	half := m != nil
	if m == nil {
		m = hoursReset.FindStringSubmatch(text)
	}
	if m == nil {
		return 0, 0, false
	}
	hour, _ = strconv.Atoi(m[1]) // the patterns have digits only
	minute, _ = strconv.Atoi("0" + m[2])
	if half {
		hour %= 12
		if strings.EqualFold(m[3], "p") {
			hour += 12
		}
	}
	return hour, minute, hour < 24 && minute < 60
}
