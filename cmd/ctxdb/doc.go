// Command ctxdb keeps, reads and checks the memory files of AI agents.
//
//	ctxdb <verb> FILE ...
//
// Each verb has a file of its own here: it parses flags, asks package engine, and
// prints a report. A report is one struct with a text form; --json prints the
// struct itself. Data goes to stdout, everything else to stderr.
//
// Exit codes: 0 fine; 1 damage, not found, or something failed or was left out;
// 2 the command was not understood, and nothing was done.
//
// invariant: reading verbs open the file read-only and change no byte of it.
package main
