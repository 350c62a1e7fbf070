package upstream

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// On Windows a name without an extension stands for the first file with one of
// PATHEXT, and many a launcher (npx, yarn) is a batch file. What is here knows
// the rules and no system, so that it is tested everywhere.

// startable are the extensions of the files that CreateProcess starts. PATHEXT
// may name more, which only a shell opens.
var startable = []string{".com", ".exe", ".bat", ".cmd"}

// candidates are the files that a command may mean, in order: itself if it has
// an extension, then with each that is startable of pathext.
func candidates(command, pathext string) []string {
	var all []string
	if path.Ext(strings.ReplaceAll(command, `\`, "/")) != "" {
		all = append(all, command)
	}
	for _, ext := range extensions(pathext) {
		all = append(all, command+ext)
	}
	return all
}

// extensions are those of pathext that are startable; all, if there are none.
func extensions(pathext string) []string {
	var all []string
	for ext := range strings.SplitSeq(strings.ToLower(pathext), ";") {
		ext = "." + strings.TrimPrefix(strings.TrimSpace(ext), ".")
		if slices.Contains(startable, ext) {
			all = append(all, ext)
		}
	}
	if all == nil {
		return startable
	}
	return all
}

// isBatch reports whether a file is run by cmd.exe. Windows does not look at
// dots and spaces at the end of a name.
func isBatch(file string) bool {
	ext := path.Ext(strings.ToLower(strings.TrimRight(file, ". ")))
	return ext == ".bat" || ext == ".cmd"
}

// batchLine is the command line by which cmd.exe runs a batch file with args as
// they are: CreateProcess would have it read them as commands. The registry's
// AutoRun is not run (/d); extensions are on (/e), which quoteBatch needs, and
// delayed expansion is off (/v), which would read exclamation marks. The error
// says which argument no batch file can be given.
func batchLine(file string, args []string) (string, error) {
	b := []byte(`cmd.exe /d /e:on /v:off /c "`) // cut off again with the last, as these are not the only quotes
	b = quoteBatch(b, file)
	for i, arg := range args {
		if strings.ContainsAny(arg, "\r\n") {
			return "", fmt.Errorf("it is a batch file, and its argument %d holds a line end, which none can be given", i+1)
		}
		if b = append(b, ' '); isPlainBatch(arg) {
			b = append(b, arg...)
		} else {
			b = quoteBatch(b, arg)
		}
	}
	return string(append(b, '"')), nil
}

// quoteBatch appends an argument in quotes, between which cmd.exe has two
// special characters. A quote is doubled: cmd.exe stays, in effect, between
// quotes, and the program that the batch file starts reads one. A percent sign
// is followed by the empty substring of a variable that is always there, so
// that it begins the name of none. Backslashes before a quote are doubled, as
// programs read them.
func quoteBatch(dst []byte, arg string) []byte {
	dst = append(dst, '"')
	slashes := 0 // that stand before arg[i]
	for i := range len(arg) {
		switch arg[i] {
		case '\\':
			dst = append(dst, '\\')
			slashes++
			continue
		case '"':
			dst = append(append(dst, strings.Repeat(`\`, slashes)...), `""`...)
		case '%':
			dst = append(dst, `%%cd:~,%`...)
		default:
			dst = append(dst, arg[i])
		}
		slashes = 0
	}
	return append(append(dst, strings.Repeat(`\`, slashes)...), '"')
}

// isPlainBatch reports whether an argument needs no quotes; one that a batch
// file may put into quotes of its own ("%~1") must not end in a backslash.
func isPlainBatch(arg string) bool {
	for i := range len(arg) {
		c := arg[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !('0' <= c && c <= '9') && strings.IndexByte(`#$*+-./:?@\_`, c) < 0 {
			return false
		}
	}
	return arg != "" && !strings.HasSuffix(arg, `\`)
}
