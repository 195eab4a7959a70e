package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// outFlags say where data goes: to stdout, or to a file that is complete or absent.
type outFlags struct {
	path  string
	force bool
}

func (o *outFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.path, "output", "o", "", "write to this `FILE`, which must not exist; - is stdout")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the output file if it exists")
}

// write hands f where the data goes. source is the file it comes from, which is never
// replaced. An output file appears under its name when it is complete.
func (o *outFlags) write(stdout io.Writer, source string, f func(w io.Writer) error) error {
	if o.path == "" || o.path == "-" {
		return writeBuffered(stdout, f)
	}
	if err := o.check(source); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*")
	if err != nil {
		return o.failed(err)
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	w := bufio.NewWriterSize(tmp, 64<<10)
	werr := f(w)
	err = w.Flush()
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return o.failed(err)
	}
	if werr != nil && !errors.Is(werr, errReported) {
		return werr
	}
	return errors.Join(o.publish(tmp.Name()), werr)
}

// writeBuffered says once what went wrong, though a buffer says it at each step.
func writeBuffered(stdout io.Writer, f func(w io.Writer) error) error {
	w := bufio.NewWriterSize(stdout, 64<<10)
	err := f(w)
	if err == nil || errors.Is(err, errReported) {
		if ferr := w.Flush(); ferr != nil {
			return ferr
		}
	}
	return err
}

// failed is an error of the temporary file, said of the output file.
func (o *outFlags) failed(err error) error {
	if place := placeError(o.path, err); place != nil {
		return place
	}
	return fmt.Errorf("%s: can't be written: %w", o.path, bare(err))
}

// checkName refuses an output without a name.
func (o *outFlags) checkName(cmd *cobra.Command) error {
	if o.path == "" && cmd.Flags().Changed("output") {
		return usage(cmd, "-o needs the name of a file, or - for stdout")
	}
	return nil
}

// check refuses what must not be replaced.
func (o *outFlags) check(source string) error {
	fi, err := os.Stat(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.path, err)
	}
	switch src, err := os.Stat(source); {
	case err == nil && os.SameFile(fi, src):
		return fmt.Errorf("%s: is the file that is being read; choose another output", o.path)
	case !fi.Mode().IsRegular():
		return fmt.Errorf("%s: is no regular file; leave -o out and redirect stdout", o.path)
	case !o.force:
		return fmt.Errorf("%s: exists; --force replaces it", o.path)
	}
	return nil
}

// publish gives a finished file its name.
func (o *outFlags) publish(tmp string) error {
	if !o.force {
		err := os.Link(tmp, o.path)
		if err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: exists; --force replaces it", o.path)
		} // else the file system has no links
	}
	if err := os.Rename(tmp, o.path); err != nil {
		return o.failed(err)
	}
	return nil
}
