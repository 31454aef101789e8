// Package investigate answers questions about a code tree without a model.
package investigate
