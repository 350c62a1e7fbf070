package facade

import (
	"slices"

	"github.com/tidwall/gjson"
)

// kinds are types of JSON values.
type kinds uint8

const (
	aString kinds = 1 << iota
	aNumber
	aBoolean
	aNull
	anObject
	anArray
	anything = 1<<iota - 1
)

// String is a type in words, of one type only.
func (k kinds) String() string {
	switch k {
	case aString:
		return "a string"
	case aNumber:
		return "a number"
	case aBoolean:
		return "a boolean"
	case aNull:
		return "null"
	case anArray:
		return "an array"
	}
	return "an object"
}

// kindNamed is what the keyword type names.
func kindNamed(name gjson.Result) kinds {
	switch name.Str {
	case "string":
		return aString
	case "number", "integer":
		return aNumber
	case "boolean":
		return aBoolean
	case "null":
		return aNull
	case "object":
		return anObject
	case "array":
		return anArray
	}
	return anything
}

// kindOf is the type of a value.
func kindOf(v gjson.Result) kinds {
	switch v.Type {
	case gjson.String:
		return aString
	case gjson.Number:
		return aNumber
	case gjson.True, gjson.False:
		return aBoolean
	case gjson.Null:
		return aNull
	}
	if v.IsArray() {
		return anArray
	}
	return anObject
}

// kinds are the types that the schema v may take: it certainly takes no others.
func (s *shape) kinds(v gjson.Result) kinds { return s.kindsWithin(v, s.budget()) }

func (s *shape) kindsWithin(v gjson.Result, b *budget) kinds {
	all := kinds(anything)
	if !b.allows(v) {
		return all
	}
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "type":
			all &= union(value, kindNamed)
		case "const":
			all &= kindOf(value)
		case "enum":
			all &= union(value, kindOf)
		case "$ref":
			all &= s.kindsWithin(s.target(value.Str), b)
		case "anyOf", "oneOf":
			all &= union(value, func(part gjson.Result) kinds { return s.kindsWithin(part, b) })
		case "allOf":
			value.ForEach(func(_, part gjson.Result) bool { all &= s.kindsWithin(part, b); return true })
		}
		return true
	})
	return all
}

// union is what each of some values gives, or a value that is none of several.
func union(values gjson.Result, of func(gjson.Result) kinds) (all kinds) {
	if !values.IsArray() {
		return of(values)
	}
	values.ForEach(func(_, v gjson.Result) bool { all |= of(v); return true })
	return all
}

// suits reports whether a value may be that of a parameter, by its type and its
// enum.
func (s *shape) suits(name string, v gjson.Result) bool {
	schema := s.schemas[name]
	if s.kinds(schema)&kindOf(v) == 0 {
		return false
	}
	enum := s.plain(schema).Get("enum").Array()
	return len(enum) == 0 || v.Type == gjson.JSON ||
		slices.ContainsFunc(enum, func(e gjson.Result) bool { return e.Type != gjson.JSON && e.Value() == v.Value() })
}
