package catalog

import "github.com/tidwall/gjson"

// How much of a schema is read for the index. A few real ones are as long as a
// book: reading more of them than this found no tool better in the study's data,
// and takes its time.
const (
	maxParameterWords = 200  // of all parameters together
	maxNoteWords      = 30   // of what is said about one
	maxEnumWords      = 40   // of the values of all
	maxSchemaDepth    = 8    // schemas within schemas
	maxSubschemas     = 1000 // schemas, at any depth
)

// parameters reads the parameters of a schema, their names and what is said
// about them: the outer ones first, so that a deep one uses up nothing that
// tells more.
type parameters struct {
	count func(field int, text string, limit int) int // takes a text, returns its length in words
	left  int                                         // how many words may still be read
	enums int                                         // and how many of values
	queue []subschema                                 // what is still to be read
}

// A subschema is a schema within a schema.
type subschema struct {
	raw   string
	depth int // how many schemas it is in
}

func (p *parameters) read(schema []byte) {
	p.left, p.enums, p.queue = maxParameterWords, maxEnumWords, p.queue[:0]
	p.later(gjson.Parse(view(schema)), 0)
	for i := 0; i < len(p.queue) && p.left > 0; i++ {
		p.object(p.queue[i])
	}
}

// later puts a schema off until those before it are read.
func (p *parameters) later(v gjson.Result, depth int) {
	if v.IsObject() && depth <= maxSchemaDepth && len(p.queue) < maxSubschemas {
		p.queue = append(p.queue, subschema{v.Raw, depth})
	}
}

func (p *parameters) object(s subschema) {
	gjson.Parse(s.raw).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "description", "title":
			p.text(parameterTextField, v)
		case "properties":
			p.properties(v, s.depth+1)
		case "items":
			p.later(v, s.depth+1)
		case "anyOf", "oneOf", "allOf":
			p.alternatives(v, s.depth+1)
		case "enum":
			p.values(v)
		}
		return p.left > 0
	})
}

// values reads the values that a parameter may have.
func (p *parameters) values(v gjson.Result) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			p.enums -= p.count(enumField, v.Str, p.enums)
		}
		return p.enums > 0
	})
}

func (p *parameters) properties(v gjson.Result, depth int) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(name, v gjson.Result) bool {
		p.text(parameterField, name)
		p.later(v, depth)
		return p.left > 0
	})
}

func (p *parameters) alternatives(v gjson.Result, depth int) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, v gjson.Result) bool {
		p.later(v, depth)
		return true
	})
}

// text reads a string.
func (p *parameters) text(field int, v gjson.Result) {
	if p.left > 0 && v.Type == gjson.String {
		p.left -= p.count(field, v.Str, min(p.left, maxNoteWords))
	}
}
