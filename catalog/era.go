package catalog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mcp-facade/files"
)

// Era is the era that the upstream is known to speak: "legacy", "modern" or
// "both", or "" if that is not known.
func (s *Store) Era() string {
	f, _, err := files.Open(filepath.Join(s.dir, eraName))
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, len(eraLine(legacy))+1)
	n, _ := f.ReadAt(buf, 0)
	for _, era := range []string{legacy, modern, both} {
		if string(buf[:n]) == eraLine(era) {
			return era
		}
	}
	return ""
}

// SetEra stores what [Store.Era] returns.
func (s *Store) SetEra(era string) error {
	if era == s.Era() {
		return nil
	}
	if err := s.setEra(era); err != nil {
		return fmt.Errorf("save the era: %w; it is found out again at the next start", err)
	}
	return nil
}

func (s *Store) setEra(era string) error {
	path := filepath.Join(s.dir, eraName)
	switch era {
	case "":
		return os.Remove(path)
	case legacy, modern, both:
	default:
		return fmt.Errorf("no era is called %q", era)
	}
	if err := files.MakeDir(s.dir); err != nil {
		return err
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, eraLine(era)); return err }
	return files.Replace(path, write, nil)
}

// eraName is the file in a store's folder that holds the upstream's era.
const eraName = "era"

// eraLine is the whole content of the era's file.
func eraLine(era string) string { return "mcp-facade-era 1 " + era + "\n" }
