package modeltest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Limited is what a model's server says to one who asks too often, and after
// how many seconds to ask again.
func Limited(seconds int) Turn {
	return Turn{
		Status: http.StatusTooManyRequests, Error: "Rate limit reached. Please slow down.",
		Header: http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}

// UsedUp is what each format's server says of a subscription that is used up
// until a moment. Formats without subscriptions have only Limited.
func UsedUp(format string, until time.Time) Turn {
	t := Turn{Status: http.StatusTooManyRequests}
	switch reset := until.Unix(); format {
	case "anthropic":
		t.Error = "This request would exceed your account's rate limit. Please try again later."
		t.Header = http.Header{
			"Anthropic-Ratelimit-Unified-Status": {"rejected"}, "Anthropic-Ratelimit-Unified-Reset": {strconv.FormatInt(reset, 10)},
			"Anthropic-Ratelimit-Unified-Representative-Claim": {"five_hour"}, "X-Should-Retry": {"false"},
		}
	case "responses":
		t.Body = obj{"error": obj{
			"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
			"resets_at": reset, "resets_in_seconds": int(time.Until(until).Seconds()),
		}}
	case "gemini":
		wait := fmt.Sprintf("%ds", int(time.Until(until).Seconds()))
		t.Body = obj{"error": obj{
			"code": t.Status, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded for model requests. Your quota will reset after " + wait + ".",
			"details": []any{
				obj{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "QUOTA_EXHAUSTED", "domain": "cloudcode-pa.googleapis.com"},
				obj{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait},
			},
		}}
	default:
		panic("modeltest: " + format + " knows no subscriptions")
	}
	return t
}

// DayUsedUp is what Gemini's server says of a free day that is used up.
func DayUsedUp() Turn {
	return Turn{Status: http.StatusTooManyRequests, Body: obj{"error": obj{
		"code": http.StatusTooManyRequests, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota, please check your plan and billing details.",
		"details": []any{obj{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{
			obj{"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"},
		}}},
	}}}
}
