package disk_test

import (
	"fmt"
	"log"

	"ctxdb/format/disk"
)

// A power cut takes what was written after the last sync, or leaves it.
func ExampleMem_Crash() {
	mem := disk.NewMem(1)
	if err := mem.Put("memory", []byte("synced ........")); err != nil {
		log.Fatal(err)
	}
	f, err := mem.Open("memory", true)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := disk.WriteFull(f, []byte("unsynced"), 7); err != nil {
		log.Fatal(err)
	}
	for _, mode := range []disk.Mode{disk.KeepNone, disk.KeepAll} {
		left := mem.Crash(disk.Variant{Mode: mode})
		fmt.Printf("%v: %s\n", mode, left.Bytes("memory"))
	}
	// Output:
	// keep-none: synced ........
	// keep-all: synced unsynced
}

// The second sync fails, once.
func ExampleInject() {
	mem := disk.NewMem(1)
	if err := mem.Put("memory", nil); err != nil {
		log.Fatal(err)
	}
	in := disk.NewInject(mem)
	in.Add(disk.Rule{Kinds: []disk.Kind{disk.OpSync}, N: 2, Err: fmt.Errorf("input/output error")})
	f, err := in.Open("memory", true)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for range 3 {
		fmt.Println(f.Sync())
	}
	// Output:
	// <nil>
	// sync memory: input/output error
	// <nil>
}
