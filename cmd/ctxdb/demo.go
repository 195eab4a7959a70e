package main

import (
	"errors"

	"github.com/spf13/cobra"

	"ctxdb/cmd/ctxdb/internal/demo"
)

const demoLong = `Demo makes a session of its own, puts it into a file, and pages it through a window: what a
window with a fixed budget needs, against keeping everything, by each policy and beside what
could be reached knowing the future; what a fault costs; and that nothing is lost. It takes
some seconds, needs nothing else, and leaves nothing behind unless --keep names a file.`

func demoVerb() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what paging a window does, with figures",
		Long:  demoLong,
		Args:  arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd)
			defer stop()
			_, err := demo.Run(ctx, cmd.OutOrStdout(), o)
			if errors.Is(err, demo.ErrExists) {
				return errors.New(oneLine(err) + "; choose another name for --keep")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.Keep, "keep", "", "leave the file here, as `FILE`")
	cmd.Flags().Uint64Var(&o.Seed, "seed", demo.DefaultSeed, "the seed `N` of the session and of the references")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}
