package replay

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadPlain(t *testing.T) {
	want := []Ref{
		{Step: 1, Item: 0, Size: 5, Parent: 0}, {Step: 2, Item: 1, Size: 0, Parent: 1},
		{Step: 3, Item: 0, Size: 6, Parent: 0}, // a size may change
	}
	for _, text := range []string{
		"a,5\nb b,0\na,6\n",
		"id,size\na,5\nb b,0\na,6",
		"\ufeffid,size\r\na,5\r\n\r\nb b,0\r\na, 6\r\n",
	} {
		tr, err := Read("x", strings.NewReader(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !tr.IsPlain || tr.Items != 2 || !reflect.DeepEqual(tr.Refs, want) {
			t.Errorf("%q: %+v", text, tr)
		}
	}
}

func TestReadSession(t *testing.T) {
	tr, err := Read("x", strings.NewReader("step,item,size,kind,group,itemkind,parent\n2,7,65,new,0,out,7\n3,7,65,tail,0,out,7\n9,7,65,quote,4,read,7\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Ref{
		{Step: 2, Size: 65, Kind: New, ItemKind: "out"}, {Step: 3, Size: 65, Kind: Tail, ItemKind: "out"},
		{Step: 9, Size: 65, Kind: Quote, Group: 4, ItemKind: "read"},
	}
	if tr.IsPlain || tr.Items != 1 || !reflect.DeepEqual(tr.Refs, want) {
		t.Errorf("%+v", tr)
	}
}

// Errors name the line.
func TestReadErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "no reference"},
		{"id,size\n", "no reference"},
		{"a,5\nb\n", "line 2: 1 fields"},
		{"a,5\nb,x\n", `line 2: column size: "x"`},
		{"a,5\n\nb,-1\n", `line 3: column size: "-1"`},
		{"a,5\nb,99999999999999999999\n", "line 2: column size"},
		{"1,2,3\n", "line 1: 3 fields"},
		{"2,7,65,new,0,out,7\n1,7,65,tail,0,out,7\n", "line 2: step 1 comes after step 2"},
		{"2,7,65,new,0,out,7\n3,7,66,tail,0,out,7\n", "line 2: item 7 has size 66 here and 65 before"},
		{"2,7,65,made,0,out,7\n", `line 1: no kind "made"`},
		{"2,7,65,ref,0,out,7\n", `line 1: no kind "ref"`},
		{"2,7,65,new,0,out,8\n", `line 1: parent "8" is not known yet`},
		{"2,7,65,new,0,out,7,5,66\n", "line 1: from 5 to 66 is no part"},
		{"a,5\n" + strings.Repeat("b", MaxLineBytes+1) + ",1\n", "line 2: longer than"},
	} {
		_, err := Read("x", strings.NewReader(tc.text))
		if !errors.Is(err, ErrTrace) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40q: %v, want %s", tc.text, err, tc.want)
		}
	}
	broken := errors.New("broken")
	_, err := Read("x", iotest.ErrReader(broken))
	if !errors.Is(err, broken) || errors.Is(err, ErrTrace) {
		t.Errorf("a source that fails: %v", err)
	}
}

// What WriteCSV writes, Read reads back.
func TestWriteReadBack(t *testing.T) {
	seeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		for _, tr := range []*Trace{randomSession(rng, 30, 50, true), renumbered(randomPlain(rng, 9, 30, 50))} {
			if len(tr.Refs) == 0 {
				continue
			}
			var out bytes.Buffer
			if err := tr.WriteCSV(&out); err != nil {
				t.Fatal(err)
			}
			back, err := Read(tr.Name, &out)
			if err != nil || !reflect.DeepEqual(back, tr) {
				t.Errorf("%v: %+v, want %+v", err, back, tr)
			}
		}
	})
}

// renumbered numbers items as they appear, as Read does.
func renumbered(t *Trace) *Trace {
	seen := map[Item]Item{}
	for i := range t.Refs {
		r := &t.Refs[i]
		if _, ok := seen[r.Item]; !ok {
			seen[r.Item] = Item(len(seen))
		}
		r.Item = seen[r.Item]
		r.Parent = r.Item
	}
	t.Items = len(seen)
	return t
}

func FuzzRead(f *testing.F) {
	f.Add("a,5\nb,0\na,6\n")
	f.Add("step,item,size,kind,group,itemkind,parent\n2,7,65,new,0,out,7\n3,7,65,tail,0,out,7\n9,7,65,quote,4,read,7\n")
	f.Add("2,7,65,new,0,out,7,0,0\n9,7,65,edit,0,out,7,3,8\n")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := Read("x", strings.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := tr.WriteCSV(&out); err != nil {
			t.Fatal(err)
		}
		back, err := Read("x", &out)
		if err != nil || len(back.Refs) != len(tr.Refs) || back.Items != tr.Items {
			t.Fatalf("%v: %d references of %d items read, %d and %d written", err, len(back.Refs), back.Items, len(tr.Refs), tr.Items)
		}
		pages := int64(0)
		for _, r := range tr.Refs {
			pages += min(r.Size, 1<<40) >> 10
		}
		if pages > 20_000 {
			return // a second and more of work, for nothing new
		}
		o := WindowOptions(1000)
		b, err := LowerBound(t.Context(), tr, o)
		if errors.Is(err, ErrOptions) {
			return // an item of too many pages
		}
		if run := simulate(t, tr, o); run.Peak > 1000 {
			t.Fatalf("peak %d of a budget of 1000", run.Peak)
		}
		if run := belady(t, tr, o); float64(run.Faults) < b.Faults-1e-6 {
			t.Fatalf("%d faults, bound %g", run.Faults, b.Faults)
		}
	})
}
