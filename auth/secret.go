package auth

import (
	"fmt"
	"log/slog"
)

// A Secret is a credential. However it is printed, logged or encoded, it is
// "[redacted]"; string(s) gives its value. It is no key of a map: JSON shows those.
type Secret string

const redacted = "[redacted]"

// String implements fmt.Stringer.
func (Secret) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return redacted }

// Format implements fmt.Formatter, for the verbs that ask no String.
func (Secret) Format(f fmt.State, _ rune) { f.Write([]byte(redacted)) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler; JSON asks it.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
