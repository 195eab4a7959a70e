package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ctxdb/engine"
)

const rootLong = `ctxdb keeps the memory of AI agents: every turn of their work, intact, in one file.

  ctxdb import agent.ctxdb session.jsonl   takes a transcript in
  ctxdb ls agent.ctxdb                     lists the turns
  ctxdb get agent.ctxdb 42                 prints one, in the bytes that came
  ctxdb export agent.ctxdb                 gives the transcript back, byte for byte

Exit codes: 0 fine; 1 damage, not found, or something failed or was left out;
2 the command was not understood.`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:                   "ctxdb VERB FILE",
		DisableFlagsInUseLine: true,
		Short:                 "The memory of AI agents in one file",
		Long:                  rootLong,
		Args:                  cobra.ArbitraryArgs,
		SilenceUsage:          true,
		SilenceErrors:         true,
		RunE:                  noVerb,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(cmd, "%s", plainFlagError(err))
	})
	root.SuggestionsMinimumDistance = 1 // letter
	root.Version = "-"                  // what --version prints is not made of it
	root.SetVersionTemplate(programVersion().String() + "\n")
	root.SetUsageTemplate(plainUsage(root.UsageTemplate()))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.SetHelpCommand(helpCommand(root))
	for _, verb := range verbs() {
		completeFlags(verb)
		root.AddCommand(verb)
	}
	askForShell(root)
	refuseUnknownHelp(root)
	return root
}

// verbs in the order of their names, as cobra lists them.
func verbs() []*cobra.Command {
	return []*cobra.Command{
		appendVerb(), demoVerb(), embedVerb(), exportVerb(), getVerb(), importVerb(), inspectVerb(),
		lsVerb(), replayVerb(), salvageVerb(), searchVerb(), verifyVerb(), versionVerb(), windowVerb(),
	}
}

func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		cmd.SetOut(cmd.ErrOrStderr())
		_ = cmd.Help() // to stderr, where there is nowhere to report a failure
		return usage(cmd, "a verb is missing")
	}
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return usage(cmd, "unknown verb %q, did you mean %s", args[0], strings.Join(like, " or "))
	}
	return usage(cmd, "unknown verb %q", args[0])
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Print the help of a verb",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, verb := range root.Commands() {
				if len(args) == 0 && verb.IsAvailableCommand() {
					names = append(names, verb.Name())
				}
			}
			return offerOne(names, begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage(root, "unknown verb %q", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, root *cobra.Command) int {
	out := &watchedWriter{Writer: root.OutOrStdout()}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if verb := root.Annotations[unknownVerb]; err == nil && verb != "" {
		err = noVerb(root, []string{verb})
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(root.ErrOrStderr(), "ctxdb:", oneLine(err)+advice(err))
	}
	var u *usageError
	if errors.As(err, &u) {
		return 2
	}
	return 1
}

// advice is what to do about errors that may come from any verb.
func advice(err error) string {
	if errors.Is(err, engine.ErrBroken) {
		return "; what was committed before is safe: run the command again, which recovers the file"
	}
	return ""
}

// errReported ends a verb with exit code 1 whose complaint is printed already.
var errReported = errors.New("reported")

// usageError is a command line that was not understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{fmt.Errorf(format+"; see `%s --help`", append(args, cmd.CommandPath())...)}
}

// arguments checks how many there are; what names them in order.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(cmd, "%s needs %s", cmd.Name(), what)
		case most == 0 && len(args) > 0:
			return usage(cmd, "%s takes no arguments; %q is too much", cmd.Name(), args[0])
		case len(args) > 0 && args[0] == "":
			return usage(cmd, "the name of the file is empty")
		case most >= 0 && len(args) > most:
			return usage(cmd, "%s takes %s and no more; %q is too much", cmd.Name(), what, args[most])
		}
		return nil
	}
}

// oneLine is an error's text on one line, with nothing that a terminal obeys.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' })
	text := strings.Join(lines, "; ")
	if rest, ok := strings.CutPrefix(text, "open: "); ok && strings.HasPrefix(rest, "open ") {
		text = rest // both the engine and the system say what was done
	}
	return escape(text)
}
