// Package replay answers "what if" about a window: which faults, and what bill,
// other budgets, policies, page sizes and watermarks would have given for the
// same references, and how far from the optimum that is.
//
// # The nouns
//
// A Trace is a sequence of references in steps. Two sorts exist. A plain trace
// (cache literature, the locality Model) has nothing but items and sizes: each
// reference is a step, and the first one to an item is a fault like any other.
// A session trace tells what an agent's turns did: items that were made, the
// recent tail that is always in view, and recalls, which are references to older
// turns. Only recalls are counted as references, and only recalls can fault; see
// Kind. Read reads both from CSV, Extract infers the second from a session.
//
// Simulate replays a Trace on a real cache.Cache, so its figures are those of
// the code that runs windows, not of a model of it. Belady and LowerBound say
// what could have been reached by somebody who knew the future. NewCurve does all
// of it over many budgets.
//
// # What bites
//
// References from sessions are inferred, not logged: compare policies by them, do
// not promise rates. Which part of a long turn a recall needs is known only for
// traces from Extract; without it one part is chosen by a hash of step and item.
// LowerBound holds for caches that, like this one, admit what they load.
//
// Everything is deterministic: the same trace and options give the same report.
package replay
