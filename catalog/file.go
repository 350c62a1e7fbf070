package catalog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// A view's file is made so that a start reads its beginning only:
//
//	mcp-facade-catalog <format> <length of the head> <CRC-32 of the head> <length of the file>
//	<index: one line of JSON>
//	<opening><handshake><renderings>
//	<pages of the lists>
//
// The head is the index and the raw values in the line after it. Everything
// after the index is as it came, one value behind the other; the index has
// their lengths, and a CRC-32 for each list.

// formatVersion is the version of that format. A file of another one counts as
// not cached.
const formatVersion = 1

const magic = "mcp-facade-catalog "

// maxFirstLine is longer than any first line.
const maxFirstLine = 96

// firstRead is how much a start reads at once, in bytes: the whole head unless
// a surface has some hundred tools.
const firstRead = 64 << 10

// Why a file of ours is not used, as the end of a sentence about it.
var (
	errNoMagic   = errors.New("is not a catalog file")
	errDamaged   = errors.New("is damaged")
	errOtherView = errors.New("holds another view")
)

// A viewFile says what is in a view's file, and where.
type viewFile struct {
	head     Head
	sections []section
	bodyAt   int64 // where the first section begins
}

// A section is one list: its pages, one behind the other.
type section struct {
	method string
	offset int64 // from the beginning of the file
	size   int64
	crc    uint32
	pages  []int64 // the length of each
}

// find returns the section of the list, or nil.
func (f *viewFile) find(method string) *section {
	for i := range f.sections {
		if f.sections[i].method == method {
			return &f.sections[i]
		}
	}
	return nil
}

// writeView writes a whole file.
func writeView(w io.Writer, h Head, lists Lists) error {
	methods := slices.Sorted(maps.Keys(lists))
	sections := make([]section, len(methods))
	for i, method := range methods {
		sections[i] = describe(method, lists[method])
	}
	out := bufio.NewWriterSize(w, firstRead)
	out.Write(appendHead(nil, h, sections))
	for _, method := range methods {
		for _, page := range lists[method] {
			out.Write(page)
		}
	}
	return out.Flush()
}

func describe(method string, pages [][]byte) section {
	sec := section{method: method, pages: make([]int64, len(pages))}
	for i, page := range pages {
		sec.pages[i] = int64(len(page))
		sec.size += int64(len(page))
		sec.crc = crc32.Update(sec.crc, crc32.IEEETable, page)
	}
	return sec
}

// appendHead appends the file's beginning, up to the first section.
func appendHead(dst []byte, h Head, sections []section) []byte {
	head := appendIndex(nil, h, sections)
	head = append(append(head, h.Opening...), h.Handshake...)
	for _, r := range h.Renderings {
		head = append(head, r.JSON...)
	}
	var body int64
	for _, sec := range sections {
		body += sec.size
	}
	dst = appendFirstLine(dst, int64(len(head)), crc32.ChecksumIEEE(head), body)
	return append(dst, head...)
}

// appendFirstLine appends the first line of a file with a head of that size
// and sum and a body of that size. The file's size counts the line itself, so
// it is written with a fixed width.
func appendFirstLine(dst []byte, head int64, sum uint32, body int64) []byte {
	line := fmt.Appendf(nil, "%s%d %d %08x ", magic, formatVersion, head, sum)
	const width = len("0123456789abc\n")
	size := int64(len(line)+width) + head + body
	return append(dst, fmt.Appendf(line, "%0*d\n", width-1, size)...)
}

func appendIndex(dst []byte, h Head, sections []section) []byte {
	dst = appendString(append(dst, `{"era":`...), h.View.Era)
	dst = appendString(append(dst, `,"version":`...), h.View.Version)
	dst = appendArray(append(dst, `,"capabilities":`...), h.View.Capabilities, appendString)
	dst = strconv.AppendInt(append(dst, `,"listed":`...), nanos(h.Listed), 10)
	dst = strconv.AppendInt(append(dst, `,"ttl":`...), int64(h.TTL), 10)
	dst = strconv.AppendBool(append(dst, `,"revalidate":`...), h.Revalidate)
	dst = strconv.AppendInt(append(dst, `,"opening":`...), int64(len(h.Opening)), 10)
	dst = strconv.AppendInt(append(dst, `,"handshake":`...), int64(len(h.Handshake)), 10)
	dst = appendArray(append(dst, `,"renderings":`...), h.Renderings, appendRendering)
	dst = appendArray(append(dst, `,"lists":`...), sections, appendSection)
	return append(dst, "}\n"...)
}

func appendRendering(dst []byte, r Rendering) []byte {
	dst = appendString(append(dst, `{"fingerprint":`...), r.Fingerprint)
	dst = strconv.AppendInt(append(dst, `,"size":`...), int64(len(r.JSON)), 10)
	return append(dst, '}')
}

func appendSection(dst []byte, sec section) []byte {
	dst = appendString(append(dst, `{"method":`...), sec.method)
	dst = strconv.AppendUint(append(dst, `,"crc":`...), uint64(sec.crc), 10)
	dst = appendArray(append(dst, `,"pages":`...), sec.pages, appendSize)
	return append(dst, '}')
}

func appendSize(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func appendArray[T any](dst []byte, values []T, appendValue func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, v)
	}
	return append(dst, ']')
}

// appendString appends s as a JSON string that reads back byte for byte, also
// where it is no valid UTF-8.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// nanos is the time in Unix nanoseconds, 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// What a file may say of itself is bounded, so that one that lies costs no
// memory: its head, and one list, in bytes.
const (
	maxHead    = 64 << 20
	maxSection = 512 << 20
)

// readView reads the beginning of a file of that size. The error is the end
// of a sentence about the file. The values of the head are ranges of what was
// read.
func readView(r io.ReaderAt, size int64) (*viewFile, error) {
	buf := make([]byte, min(size, firstRead))
	if err := readFull(r, buf, 0); err != nil {
		return nil, err
	}
	line, _, found := bytes.Cut(buf[:min(len(buf), maxFirstLine)], []byte{'\n'})
	if !found {
		return nil, errNoMagic
	}
	first, err := parseFirstLine(line, size)
	if err == nil && first.head > maxHead {
		err = fmt.Errorf("has a head of %d bytes", first.head)
	}
	if err != nil {
		return nil, err
	}
	start := int64(len(line) + 1)
	head, err := readHead(r, buf[start:], start, first.head)
	if err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(head) != first.sum {
		return nil, errDamaged
	}
	return parseHead(head, start+first.head, size)
}

// readHead is the head, size bytes that begin at offset; begun holds as many
// of them as were read already.
func readHead(r io.ReaderAt, begun []byte, offset, size int64) ([]byte, error) {
	if int64(len(begun)) >= size {
		return begun[:size], nil
	}
	head := make([]byte, size)
	n := copy(head, begun)
	return head, readFull(r, head[n:], offset+int64(n))
}

func readFull(r io.ReaderAt, buf []byte, offset int64) error {
	n, err := r.ReadAt(buf, offset)
	switch {
	case n == len(buf):
		return nil
	case err == io.EOF:
		return errDamaged // it has shrunk since it was opened
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// A firstLine is what the first line says of the head.
type firstLine struct {
	head int64
	sum  uint32
}

// parseFirstLine reads the first line, without its end, of a file of that
// size.
func parseFirstLine(line []byte, size int64) (firstLine, error) {
	rest, ok := bytes.CutPrefix(line, []byte(magic))
	if !ok {
		return firstLine{}, errNoMagic
	}
	version, rest, _ := bytes.Cut(rest, []byte{' '})
	if string(version) != strconv.Itoa(formatVersion) {
		return firstLine{}, fmt.Errorf("has format %s, and this program reads %d", quote(string(version)), formatVersion)
	}
	head, rest, _ := bytes.Cut(rest, []byte{' '})
	sum, total, _ := bytes.Cut(rest, []byte{' '})
	first, said, err := firstLineOf(string(head), string(sum), string(total))
	body := said - int64(len(line)+1) - first.head
	switch {
	case err != nil || body < 0:
		return first, errDamaged
	case said != size:
		return first, fmt.Errorf("is %d bytes long instead of %d", size, said)
	case !bytes.Equal(appendFirstLine(nil, first.head, first.sum, body), append(line[:len(line):len(line)], '\n')):
		return first, errDamaged
	}
	return first, nil
}

func firstLineOf(head, sum, total string) (first firstLine, size int64, err error) {
	n, err1 := strconv.ParseInt(head, 10, 62)
	crc, err2 := strconv.ParseUint(sum, 16, 32)
	size, err3 := strconv.ParseInt(total, 10, 62)
	if n < 0 {
		err1 = errDamaged
	}
	return firstLine{n, uint32(crc)}, size, errors.Join(err1, err2, err3)
}

// parseHead reads a head after which the sections of a file of that size
// begin, at bodyAt.
func parseHead(head []byte, bodyAt, size int64) (*viewFile, error) {
	line, values, found := bytes.Cut(head, []byte{'\n'})
	if !found || !gjson.ValidBytes(line) {
		return nil, errDamaged
	}
	index := parseIndex(gjson.ParseBytes(line))
	f := &viewFile{head: index.head, sections: index.sections, bodyAt: bodyAt}
	ok := index.values(&f.head, values) && f.place(size)
	if !ok {
		return nil, errDamaged
	}
	return f, nil
}

// An index is the head's line of JSON.
type index struct {
	head               Head // without what follows the line
	opening, handshake int64
	renderings         []int64
	sections           []section // without their offsets
}

func parseIndex(line gjson.Result) (x index) {
	line.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "era":
			x.head.View.Era = v.Str
		case "version":
			x.head.View.Version = v.Str
		case "capabilities":
			x.head.View.Capabilities = parseArray(v, func(v gjson.Result) string { return v.Str })
		case "listed":
			x.head.Listed = timeOf(v.Int())
		case "ttl":
			x.head.TTL = time.Duration(v.Int())
		case "revalidate":
			x.head.Revalidate = v.Bool()
		case "opening":
			x.opening = v.Int()
		case "handshake":
			x.handshake = v.Int()
		case "renderings":
			x.head.Renderings = parseArray(v, func(v gjson.Result) Rendering {
				return Rendering{Fingerprint: v.Get("fingerprint").Str}
			})
			x.renderings = parseArray(v, func(v gjson.Result) int64 { return v.Get("size").Int() })
		case "lists":
			x.sections = parseArray(v, parseSection)
		}
		return true
	})
	return x
}

func parseSection(v gjson.Result) section {
	return section{
		method: v.Get("method").Str,
		crc:    uint32(v.Get("crc").Uint()),
		pages:  parseArray(v.Get("pages"), gjson.Result.Int),
	}
}

// parseArray is nil for an array without values.
func parseArray[T any](array gjson.Result, value func(gjson.Result) T) (values []T) {
	if !array.IsArray() {
		return nil
	}
	array.ForEach(func(_, v gjson.Result) bool {
		values = append(values, value(v))
		return true
	})
	return values
}

// values cuts what follows the line into the values of h. It returns false
// unless they fill it exactly.
func (x *index) values(h *Head, rest []byte) bool {
	ok := true
	next := func(size int64) (value []byte) {
		if size < 0 || size > int64(len(rest)) {
			ok = false
			return nil
		}
		value, rest = rest[:size:size], rest[size:]
		if size == 0 {
			return nil
		}
		return value
	}
	h.Opening = next(x.opening)
	h.Handshake = next(x.handshake)
	for i, size := range x.renderings {
		h.Renderings[i].JSON = next(size)
	}
	return ok && len(rest) == 0
}

// place finds out where the sections are. It returns false unless they fill
// the rest of the file exactly.
func (f *viewFile) place(fileSize int64) bool {
	at := f.bodyAt
	for i := range f.sections {
		sec := &f.sections[i]
		sec.offset = at
		for _, n := range sec.pages {
			if n < 0 || n > fileSize-at {
				return false
			}
			at += n
		}
		sec.size = at - sec.offset
	}
	return at == fileSize
}

// read reads the section's pages.
func (sec *section) read(r io.ReaderAt) ([][]byte, error) {
	if sec.size > maxSection {
		return nil, fmt.Errorf("has a list of %d bytes", sec.size)
	}
	buf := make([]byte, sec.size)
	if err := readFull(r, buf, sec.offset); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(buf) != sec.crc {
		return nil, errDamaged
	}
	pages := make([][]byte, len(sec.pages))
	for i, n := range sec.pages {
		pages[i], buf = buf[:n:n], buf[n:]
	}
	return pages, nil
}
