package catalog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-facade/files"
)

// A Book keeps the lessons of one upstream in a file. Its methods may be called
// concurrently, and several processes may share the file. A nil Book has no
// lessons and takes none.
type Book struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	mu      sync.Mutex
	lessons *Lessons // guarded by mu
	read    bool     // the file has been read; guarded by mu
}

// OpenBook is the book in that file, which is made with the first lesson, for
// us alone, in a folder of its own. A nil log is silent.
func OpenBook(path string, log *slog.Logger) *Book {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Book{path: path, log: log, now: time.Now}
}

// Lessons are those of the file when it was last looked at: at the first call,
// and with each lesson of this process. A file that is damaged, or that others
// could have written, has none.
func (b *Book) Lessons() *Lessons {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.read {
		b.lessons, b.read = b.load(), true
	}
	return b.lessons
}

// Learn writes down that a tool was called after a search for these words, as
// [Catalog.Teaching] has given them. Another process that writes is waited for,
// one second at most, unless ctx ends.
func (b *Book) Learn(ctx context.Context, words []string, tool string) error {
	if b == nil || len(words) == 0 {
		return nil
	}
	err := b.learn(ctx.Done(), words, tool)
	if errors.Is(err, errStopped) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("keep what a search has led to: %w", err)
	}
	return nil
}

func (b *Book) learn(done <-chan struct{}, words []string, tool string) error {
	dir := filepath.Dir(b.path)
	if err := files.MakeDir(dir); err != nil {
		return err
	}
	unlock, err := lockDir(dir, done)
	if err != nil {
		return err
	}
	defer unlock()
	lessons := b.load().with(words, tool, b.today())
	b.mu.Lock()
	b.lessons, b.read = lessons, true
	b.mu.Unlock()
	return files.Replace(b.path, lessons.write, nil)
}

// today is the day, from 1970 on.
func (b *Book) today() int { return int(b.now().Unix() / (24 * 60 * 60)) }

// load reads the file. What cannot be read is no lesson.
func (b *Book) load() *Lessons {
	lessons, err := b.readFile()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Debug("what searches have led to is not known", "err", err)
	}
	return lessons.alive(b.today())
}

func (b *Book) readFile() (*Lessons, error) {
	if err := files.CheckDir(filepath.Dir(b.path)); err != nil {
		return nil, err
	}
	f, _, err := files.Open(b.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBook+1))
	if err != nil {
		return nil, err
	}
	lessons, err := parseLessons(data)
	if err != nil {
		return nil, fmt.Errorf("%s %w", b.path, err)
	}
	return lessons, nil
}

// A book's file begins with bookHead and ends with bookEnd. Each line between
// them is a lesson: the day, how often, the word, the tool.
const (
	bookHead = "mcp-facade lessons 1"
	bookEnd  = "end"
	maxBook  = maxLessons * (maxLessonWord + maxLessonTool + 16)
)

var errNoBook = errors.New("holds no lessons that this version reads")

func parseLessons(data []byte) (*Lessons, error) {
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	last := len(lines) - 1
	if len(data) > maxBook || last < 1 || last > maxLessons+1 || lines[0] != bookHead || lines[last] != bookEnd {
		return nil, errNoBook
	}
	l := &Lessons{byWord: map[string][]lesson{}}
	for _, line := range lines[1:last] {
		t, ok := parseTaught(line)
		if !ok {
			return nil, errNoBook
		}
		l.add(t.word, t.lesson)
	}
	return l, nil
}

func parseTaught(line string) (t taught, ok bool) {
	part := strings.SplitN(line, " ", 4)
	if len(part) != 4 || !teaches(part[2]) || !teachable(part[3]) {
		return t, false
	}
	day, err := strconv.ParseUint(part[0], 10, 31)
	times, err2 := strconv.ParseUint(part[1], 10, 8)
	return taught{part[2], lesson{part[3], uint8(times), int(day)}}, err == nil && err2 == nil && times > 0
}

// write writes the lessons as they are stored.
func (l *Lessons) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, bookHead)
	for _, t := range l.list() {
		fmt.Fprintf(out, "%d %d %s %s\n", t.day, t.times, t.word, t.tool)
	}
	fmt.Fprintln(out, bookEnd)
	return out.Flush()
}
