// Package cache keeps a set of resident items under a strict budget. It is
// what a window stands on: the items are pages, the budget is what the model
// can see.
//
// # What it promises
//
// An item has a Cost in two dimensions, tokens and bytes, known before it is
// loaded. A cache has a budget in one or both. The charge is the cost of
// everything resident, pinned or not, and of every load under way; it is at
// most the budget at every instant, because a fault first reserves its cost
// (evicting what must leave), then loads, then publishes. A fault that cannot
// fit beside what is pinned is ErrOverBudget and changes nothing. One that
// could fit as soon as loads under way have ended waits for them, first come,
// first served.
//
// Concurrent faults of one key load once and share the outcome. The same
// references give the same residents on every machine: nothing is sampled,
// no map is iterated for a decision, and the few floating-point results are
// those that IEEE 754 rounds exactly.
//
// # Who leaves first
//
// Items have a Class. When room is needed the Doomed leave first, then the
// Normal ones, both in one batch down to the low watermark; the Guarded leave
// last and only as far as the budget itself asks for it. Pinned items and
// loads under way never leave. Within a class the Policy decides, and it
// decides as if the items of the other classes and the pinned ones were not
// there: it passes over them and changes nothing about them.
//
// # What bites
//
// One lock orders everything, hits included: that is what makes residents a
// function of the references. A load function must not call the cache that
// runs it. OnEvict runs outside the lock, after the fact.
//
// # Invariants
//
//	charged = cost of residents + reserved, at most the budget, in both dimensions
//	pinned  = cost of residents with pins > 0
//	a key is resident, or in flight, or neither; never both
//	the policy's order holds each resident exactly once
//	loose[class] = number of residents of the class without pins
//
// With the build tag ctxdbcheck they are checked after each change.
package cache
