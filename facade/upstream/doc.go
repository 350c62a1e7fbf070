// Package upstream connects to one MCP server and carries frames to and from
// it. How the server is reached ends in Dial; what is dialled looks the same.
//
// # A process and what it leaves
//
// A stdio upstream runs in a process group of its own (on Windows in a Job
// Object). It is over when its first process, the leader, exits, when it
// closes its output, or when it takes no more input. Whatever the reason, the
// whole group is then taken down in steps: stdin is closed and given 2 s, since
// some launchers (docker run -i) end by nothing else; the group is terminated
// and given 2 s more; what is left is killed. Once Target.Hurry is closed a step
// lasts 300 ms. Close does the same to an upstream that is well, and returns
// when nothing of the group is left.
//
// A process that leaves the group on purpose (setsid) is out of reach on Unix.
// It cannot hold us up either: its copies of the pipes are read for 300 ms
// after the leader's exit and no longer.
//
// # If we are killed outright
//
// Nobody takes the steps then. The kernel closes our end of the pipes, so every
// upstream sees the end of its stdin. On Linux the leader is sent SIGTERM
// besides, which launchers pass on to what they launched; SIGKILL would take the
// launcher and leave its child. On Windows the job closes with us and kills all
// that is in it. Left behind are, on Linux, processes that heed neither the end
// of stdin nor SIGTERM and children of leaders that do not pass it on; on other
// Unix systems, all that ignore the end of stdin.
package upstream
