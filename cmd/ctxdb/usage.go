package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// What strconv says of a number, and in plain words.
var numberError = regexp.MustCompile(`strconv\.(Parse\w+): parsing ".*": (invalid syntax|value out of range)$`)

// plainFlagError is an error of a flag without words of the library that read it.
func plainFlagError(err error) string {
	text := err.Error()
	m := numberError.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	reader, what := text[m[2]:m[3]], text[m[4]:m[5]]
	plain := "a whole number is needed"
	switch {
	case strings.Contains(what, "range"):
		plain = "it is too large"
	case reader == "ParseUint":
		plain = "a whole number, 0 or above, is needed"
	case reader == "ParseFloat":
		plain = "a number is needed"
	case reader == "ParseBool":
		plain = "true or false is needed"
	}
	return text[:m[0]] + plain
}

// plainUsage is cobra's template in the words of this program: a command is a verb.
func plainUsage(template string) string {
	return strings.NewReplacer(
		"{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]{{end}}", "",
		"Available Commands:", "{{if .HasParent}}Shells:{{else}}Verbs:{{end}}",
		`"{{.CommandPath}} [command] --help" for more information about a command.`, "`{{.CommandPath}} {{if .HasParent}}SHELL{{else}}VERB{{end}} --help` for more about one.",
	).Replace(template)
}

// askForShell makes completion without a shell that it knows a mistake.
func askForShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil || cmd == root {
		return
	}
	cmd.Use, cmd.Args = "completion SHELL", cobra.ArbitraryArgs
	cmd.Short = "Print the completions for a shell"
	cmd.Long = "Completion prints a script that makes a shell complete verbs and flags. What to do with it\nstands in the help of each shell."
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var names []string
		for _, shell := range cmd.Commands() {
			names = append(names, shell.Name())
		}
		if len(args) > 0 {
			return usage(cmd, "unknown shell %q; there are %s", args[0], strings.Join(names, ", "))
		}
		return usage(cmd, "completion needs a shell; there are %s", strings.Join(names, ", "))
	}
}

// unknownVerb is the annotation with a verb that was to be explained and is none.
const unknownVerb = "unknown verb"

// refuseUnknownHelp remembers a verb that is none instead of printing the help of all:
// cobra's help can't fail.
func refuseUnknownHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			for _, arg := range args {
				if !strings.HasPrefix(arg, "-") {
					root.Annotations = map[string]string{unknownVerb: arg}
					return
				}
			}
		}
		usual(cmd, args)
	})
}
