package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ctxdb/engine"
	"ctxdb/format"
)

// sectionNames name what a ctxdb file is made of, for its figures.
var sectionNames = map[format.SectionType]string{
	format.SectionContentBlocks: "content_pages", format.SectionSourceBlocks: "source_pages", format.SectionKeys: "keys",
	format.SectionDictionary: "dictionary", format.SectionHot: "hot", format.SectionTerms: "terms", format.SectionVectors: "vectors",
}

// putSections adds what each kind of section of a closed ctxdb file takes, all
// segments together. What is in a segment and in no section are its blocks.
func putSections(f figures, dir string) error {
	path := filepath.Join(dir, "turns.ctxdb")
	db, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	st := db.Stats()
	f["part_free_bytes"] = float64(st.FreeBytes)
	rest := st.FileBytes - st.FreeBytes
	for _, s := range st.Segments {
		sections, err := sectionsOf(file, s.Offset)
		if err != nil {
			return fmt.Errorf("segment %d: %w", s.Number, err)
		}
		blocks := s.Length
		for _, x := range sections {
			name, ok := sectionNames[x.Type]
			if !ok {
				name = "unknown"
			}
			f["part_"+name+"_bytes"] += float64(x.Length)
			blocks -= x.Length
		}
		f["part_blocks_bytes"] += float64(blocks)
		rest -= s.Length
	}
	f["part_around_bytes"] = float64(rest) // superblocks, catalog, key runs
	return nil
}

func sectionsOf(file io.ReaderAt, offset int64) ([]format.Section, error) {
	read := func(n int64, at int64) ([]byte, error) {
		b := make([]byte, n)
		_, err := file.ReadAt(b, at)
		return b, err
	}
	b, err := read(format.SegmentHeaderSize, offset)
	if err != nil {
		return nil, err
	}
	h, err := format.DecodeSegmentHeader(b, offset)
	if err != nil {
		return nil, err
	}
	at := offset + h.Length - format.FooterSize
	if b, err = read(format.FooterSize, at); err != nil {
		return nil, err
	}
	footer, err := format.DecodeFooter(b, &h, at)
	if err != nil {
		return nil, err
	}
	at = offset + footer.TableOffset
	if b, err = read(int64(footer.Sections)*format.SectionEntrySize, at); err != nil {
		return nil, err
	}
	return format.DecodeSections(b, &h, &footer, at)
}
