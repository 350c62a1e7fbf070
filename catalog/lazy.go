package catalog

import "sync"

// A lazy is a value that is made when it is first asked for.
type lazy[T any] struct {
	once  sync.Once
	value T
}

// get returns the value, which made makes if this is the first time.
func (l *lazy[T]) get(made func() T) T {
	l.once.Do(func() { l.value = made() })
	return l.value
}
