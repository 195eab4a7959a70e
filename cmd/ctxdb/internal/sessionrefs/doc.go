// Package sessionrefs turns the records of coding agents into what replay.Extract
// wants to know: who wrote what in which step, and which files a call reads or
// changes.
//
// A Record is a turn of a transcript or of a ctxdb file: both keep the record that
// the agent wrote as Source, and that is what is looked at. Claude Code, Codex and
// pi are known; a turn without such a source goes by its role and content alone,
// and then there are quotes but no rereads and edits.
//
// Turns of a subagent inside another agent's file are left out: they were never in
// that agent's window.
package sessionrefs
