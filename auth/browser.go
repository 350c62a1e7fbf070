package auth

import (
	"errors"
	"net/url"
	"os/exec"
	"runtime"
)

// OpenBrowser opens a URL in the person's browser, which goes on without us. No
// shell reads it, and only http and https are opened: other schemes start other
// programs.
func OpenBrowser(text string, environ []string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("is no URL for a browser")
	}
	argv := []string{"xdg-open", u.String()}
	switch runtime.GOOS {
	case "darwin":
		argv[0] = "/usr/bin/open"
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", u.String()}
	default:
		if variable(environ, "DISPLAY") == "" && variable(environ, "WAYLAND_DISPLAY") == "" {
			return errors.New("there is no screen") // xdg-open would take a browser of text, and our terminal
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environ
	if err := cmd.Start(); err != nil {
		return bare(err)
	}
	return cmd.Process.Release()
}
