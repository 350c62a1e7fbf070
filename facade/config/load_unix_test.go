//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLoadTrust(t *testing.T) {
	tests := []struct {
		name         string
		mode         os.FileMode
		err, warning string
	}{
		{"takes a file that others may read", 0o644, "", ""},
		{"takes a file of one's own that nobody may write", 0o400, "", ""},
		{"warns of a file that the group may write", 0o660, "", "its group may write it (mode 0660)"},
		{"refuses a file that everybody may write", 0o602, "everybody may write it (mode 0602)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Load(write(t, tt.mode, `{}`))
			got, warning := "", ""
			if err != nil {
				got = err.Error()
			} else {
				warning = strings.Join(f.Warnings, "\n")
			}
			if !strings.Contains(got, tt.err) || (got == "") != (tt.err == "") {
				t.Errorf("error: got %q, want %q", got, tt.err)
			}
			if !strings.Contains(warning, tt.warning) || (warning == "") != (tt.warning == "") {
				t.Errorf("warnings: got %q, want %q", warning, tt.warning)
			}
		})
	}
}

func TestLoadForeign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := write(t, 0o600, `{}`)
	if err := os.Chown(path, 4242, 4242); err != nil {
		t.Skip(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "belongs to user 4242") {
		t.Errorf("another user's file: got %v", err)
	}
}

func TestLoadPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Load(path); err == nil || !strings.HasSuffix(err.Error(), "is a pipe, a device or a socket, want a file") {
		t.Errorf("a pipe: got %v", err)
	}
	if _, err := Load("/dev/null"); err == nil || !strings.HasSuffix(err.Error(), "want a file") {
		t.Errorf("a device: got %v", err)
	}
}
