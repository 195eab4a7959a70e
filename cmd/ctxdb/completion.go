package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ctxdb/cache"
)

// flagValues lists what a shell offers for flags that take one of a few values.
func flagValues(verb, flag string) (values []string) {
	switch verb + " --" + flag {
	case "export --format":
		return exportFormats
	case "window --format":
		return promptFormats
	case "window --policy", "replay --policies":
		for _, p := range cache.Policies() {
			values = append(values, string(p))
		}
	case "window --page-tokens", "replay --page-tokens":
		return []string{"1024", "whole"}
	case "append --role", "ls --role", "search --role":
		return []string{"user", "assistant", "tool_call", "tool_result", "system", "meta"}
	}
	return values
}

// fileFlags take the name of a file. A shell offers files for no others.
var fileFlags = []string{"output", "keep", "plot", "trace", "from-session"}

// completeFlags tells the shell what flags take.
func completeFlags(verb *cobra.Command) {
	verb.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" || slices.Contains(fileFlags, f.Name) {
			return
		}
		offer := offerOne
		if f.Value.Type() == "stringSlice" {
			offer = offerSome
		}
		values := flagValues(verb.Name(), f.Name)
		err := verb.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return offer(values, begun), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // a flag that is not there, or twice
		}
	})
}

func offerOne(values []string, begun string) (all []string) {
	for _, v := range values {
		if strings.HasPrefix(v, begun) {
			all = append(all, v)
		}
	}
	return all
}

// offerSome continues a list with commas by what is not in it yet.
func offerSome(values []string, begun string) (all []string) {
	i := strings.LastIndexByte(begun, ',') + 1
	there := strings.Split(begun[:i], ",")
	for _, v := range offerOne(values, begun[i:]) {
		if !slices.Contains(there, v) {
			all = append(all, begun[:i]+v)
		}
	}
	return all
}
