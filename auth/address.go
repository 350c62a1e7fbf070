package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// CheckURL reads a URL that an upstream, or its authorization server, has given
// us. It must be https, and name no host of this machine or of a private network
// unless the upstream's own URL does: then http is allowed to such a host too.
// User, password and fragment are refused. The error names the host alone.
func CheckURL(text, upstream string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return nil, errors.New("what the server names is no URL with a host")
	}
	own, err := url.Parse(upstream)
	near := err == nil && isNear(own.Hostname())
	switch {
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("a URL at %s has a user or a fragment in it", u.Host)
	case isNear(u.Hostname()) && !near:
		return nil, fmt.Errorf("%s is a host of this machine or of a private network, and the server itself is not", u.Host)
	case u.Scheme == "https", u.Scheme == "http" && isNear(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("the URL at %s is not https", u.Host)
}

// nearNames end names of hosts that no public name server knows: RFC 6761, RFC
// 6762, RFC 8375, and what clouds call the host that gives out their keys.
const nearNames = "localhost localdomain local internal lan intranet home.arpa"

// isNear reports whether a host is this machine or one of a private network, as
// far as its name says. A name without a dot is.
func isNear(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return !isPublic(ip)
	}
	if isOddNumber(host) || !strings.Contains(host, ".") {
		return true
	}
	for _, end := range strings.Fields(nearNames) {
		if strings.HasSuffix(host, "."+end) {
			return true
		}
	}
	return false
}

// isOddNumber reports whether a name is what resolvers may read as an IPv4
// address: no top-level domain begins with a digit.
func isOddNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && last[0] >= '0' && last[0] <= '9'
}

// special are networks that net/netip has no word for: "this" network, shared
// address space (carriers, and clouds' metadata), protocol assignments,
// benchmarks, reserved; of IPv6 what translates to IPv4 and what is reserved.
// RFC 6890.
var special = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// isPublic reports whether an address is one of the internet.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, p := range special {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}
