package zdict_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ctxdb/segment/zdict"
)

// The reference implementation reads what comes out, where it is at hand.
func TestReferenceDecoder(t *testing.T) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("no zstd program here")
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	for _, kind := range []string{"text", "mixed", "numbers", "one byte", "all letters", "random"} {
		blocks := blocksOf(rng, kind, 40, 8000)
		e, err := zdict.Train(7, bytes.Join(blocks[:5], nil), blocks[5:30])
		if err != nil {
			t.Fatal(err)
		}
		var frames, want []byte
		for _, b := range blocks {
			frames = e.EncodeAll(b, frames)
			want = append(want, b...)
		}
		dir := t.TempDir()
		dictionary, in := filepath.Join(dir, "dictionary"), filepath.Join(dir, "frames.zst")
		for name, b := range map[string][]byte{dictionary: e.Dictionary(), in: frames} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var message bytes.Buffer
		cmd := exec.Command(program, "-d", "-c", "-D", dictionary, in)
		cmd.Stderr = &message
		got, err := cmd.Output()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, %v, %s", kind, len(got), len(want), err, message.String())
		}
	}
}
