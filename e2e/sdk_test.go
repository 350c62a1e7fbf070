package e2e
func serveSDK() int { return 1 }
