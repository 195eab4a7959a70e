package disk

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOSCreateTempMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	f, tmp, err := OS.CreateTemp(path)
	must(t, err)
	defer f.Close()
	fi, err := os.Stat(tmp)
	must(t, err)
	if runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	long := filepath.Join(filepath.Dir(path), strings.Repeat("n", 250))
	g, tmp, err := OS.CreateTemp(long)
	must(t, err)
	must(t, g.Close())
	must(t, OS.Link(tmp, long))
}

func TestOSPermission(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("modes do not bind this user")
	}
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, nil, 0o400))
	_, err := OS.Open(path, true)
	mustBe(t, err, fs.ErrPermission)
}

// TestOSRelativePath changes the directory under an open handle.
func TestOSRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("f", []byte("x"), 0o600))
	f, err := OS.Open("f", true)
	must(t, err)
	defer f.Close()
	t.Chdir(t.TempDir())
	must(t, f.Check())
	_, err = OS.Open("f", true)
	mustBe(t, err, fs.ErrNotExist)
	_, err = OS.Open("", true)
	mustBe(t, err, fs.ErrNotExist)
}

func TestOSResolveThroughDirectories(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o700))
	must(t, os.Symlink(filepath.Join("real", "sub"), filepath.Join(dir, "short")))
	// short/.. is real, not dir: a path must not be cleaned before it is followed.
	must(t, os.Symlink(filepath.Join("..", "new"), filepath.Join(dir, "real", "sub", "up")))
	for path, want := range map[string]string{
		dir + "/short/new":    "real/sub/new",
		dir + "/short/../new": "real/new",
		dir + "/short/up":     "real/new",
	} {
		got, err := OS.Resolve(path)
		if got != filepath.Join(dir, filepath.FromSlash(want)) || err != nil {
			t.Errorf("%s resolves to %s, %v", path, got, err)
		}
	}
	_, err = OS.Resolve(filepath.Join(dir, "absent", "new"))
	mustBe(t, err, fs.ErrNotExist)
}

// TestRenameNoReplace tests the fallback of Link, which needs a file system
// without hard links to be reached.
func TestRenameNoReplace(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	must(t, os.WriteFile(a, []byte("a"), 0o600))
	must(t, os.WriteFile(b, []byte("b"), 0o600))
	err := renameNoReplace(a, b)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no such rename here")
	}
	mustBe(t, err, fs.ErrExist)
	if got, err := os.ReadFile(b); string(got) != "b" || err != nil {
		t.Fatalf("replaced: %q, %v", got, err)
	}
	must(t, os.Remove(b))
	must(t, renameNoReplace(a, b))
	if got, err := os.ReadFile(b); string(got) != "a" || err != nil {
		t.Fatalf("renamed: %q, %v", got, err)
	}
}

const lockHelperEnv = "DISK_TEST_LOCK"

// TestOSLockHelper is the other process of TestOSLockAcrossProcesses.
func TestOSLockHelper(t *testing.T) {
	path := os.Getenv(lockHelperEnv)
	if path == "" {
		t.Skip("only run as the other process")
	}
	f, err := OS.Open(path, true)
	must(t, err)
	defer f.Close()
	other, err := f.LockedByOther()
	must(t, err)
	switch err := f.TryLock(); {
	case err == nil && !other:
		t.Log("outcome: free")
	case errors.Is(err, ErrWouldBlock) && other:
		t.Log("outcome: held")
	default:
		t.Fatalf("TryLock %v, LockedByOther %v", err, other)
	}
}

func TestOSLockAcrossProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	exe, err := os.Executable()
	must(t, err)
	expect := func(want string) {
		t.Helper()
		cmd := exec.Command(exe, "-test.run=^TestOSLockHelper$", "-test.v")
		cmd.Env = append(os.Environ(), lockHelperEnv+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "outcome: "+want) {
			t.Fatalf("want %s: %v\n%s", want, err, out)
		}
	}
	f, err := OS.Open(path, true)
	must(t, err)
	expect("free")
	must(t, f.TryLock())
	expect("held")
	must(t, f.Unlock())
	expect("free")
	must(t, f.TryLock())
	must(t, f.Close())
	expect("free")
}
