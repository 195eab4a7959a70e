package demo

// The invented program of the session is "ferrygate": it books places on the
// ferries between small islands, assigns berths, and sends notices when the
// weather changes the timetable. Nobody runs it; all text here was written for
// this demo.

// words are the lists that a placeholder <name> in a sentence or a code
// fragment is filled from. <name2> is another pick from the same list.
var words = map[string][]string{
	"pkg": {"berth", "manifest", "tariff", "crossing", "weather", "ticket", "ledger", "notice", "roster", "tide", "gangway", "customs"},
	"part": {"plan", "store", "check", "queue", "merge", "codec", "window", "retry", "limits", "index", "report", "audit", "lease",
		"import", "rules", "clock"},
	"type": {"Allocator", "Manifest", "Quote", "Crossing", "Forecast", "Voucher", "Posting", "Bulletin", "Shift", "TideTable", "Ramp",
		"Declaration", "Waitlist", "Sailing", "Boarding", "Refund", "Slot", "Lane", "Watch", "Departure"},
	"field": {"capacity", "draught", "deadline", "passengers", "vehicles", "surcharge", "harbour", "window", "attempts", "balance",
		"holders", "arrivals", "lanes", "reserved", "season", "priority", "checksum", "lastSeen", "origin", "operator", "waiting",
		"cutoff", "rebate", "weight", "height", "marker"},
	"verb": {"Allocate", "Release", "Merge", "Settle", "Confirm", "Expire", "Rebook", "Split", "Reserve", "Cancel", "Validate", "Publish",
		"Reconcile", "Escalate", "Resolve", "Collect", "Replan", "Announce", "Board", "Withdraw", "Transfer", "Estimate"},
	"object": {"Berth", "Booking", "Lane", "Fare", "Passenger", "Vehicle", "Notice", "Crew", "Sailing", "Tide", "Voucher", "Deposit",
		"Stowage", "Waitlist", "Ramp", "Season"},
	"local":   {"held", "next", "free", "due", "left", "seen", "best", "rest", "open", "prior", "total", "pending", "claimed", "late"},
	"harbour": {"Orlsund", "Kettleholm", "Brennivik", "Saltmarsh", "Port Ansel", "Hollowness", "Grindoy", "Tarrow Point", "Westerbay", "Nornasund"},
	"vessel":  {"Marigold", "Sea Thrift", "Old Bramble", "Kittiwake", "Lady Ansel", "Northern Wren", "Storm Petrel", "Guillemot", "Harebell"},
	"reason": {
		"the two clocks disagree by a few minutes after the summer change",
		"a vehicle longer than six metres takes two places in the same lane",
		"the operator may close a ramp while passengers are still boarding",
		"the timetable is read once at start and never again",
		"a refund can arrive before the payment it belongs to",
		"the harbour office sends the same message up to three times",
		"an empty waiting list and a missing one were treated alike",
		"the forecast covers six hours and the crossing may take seven",
		"two clerks can sell the last place within the same second",
		"the draught is stored in centimetres and compared with metres",
		"a cancelled sailing keeps its berth until the next morning",
		"nobody releases the lease when the request is abandoned",
		"the map is walked in whatever order it happens to have",
		"children under four travel free but still need a seat",
		"the retry starts at zero each time instead of backing off",
		"the cache key leaves out the season",
		"the error is logged here and then dropped by the caller",
		"a night crossing belongs to two calendar days",
		"the tide table ends at the last day of the month",
		"the lock is taken for the sum but not for the comparison",
	},
	"aim": {
		"a full sailing never sells one more place", "the morning report adds up to the cent", "a late arrival keeps its berth",
		"the notice goes out once and only once", "a second attempt gives the same answer", "the clerk sees which rule said no",
		"the waiting list moves up in the order of arrival", "nothing is lost when the process is stopped half way",
		"the test fails without the change and passes with it", "the old files can still be read", "a quote stays valid for twenty minutes",
		"the shift plan survives a change of crew", "the operator can undo the last step", "the harbour with the lowest draught is asked first",
	},
	"adverb": {"quietly", "twice", "too early", "only on Mondays", "after midnight", "under load", "for long vehicles", "in winter",
		"when the ramp is closed", "for group bookings", "on the return trip", "right after a restart"},
	"sep":    {":", ";", "=", "|"},
	"level":  {"INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"},
	"status": {"confirmed", "waiting", "held", "boarding", "departed", "cancelled", "refunded", "expired"},
	"event": {"berth assigned", "booking confirmed", "place released", "lease renewed", "quote expired", "notice sent", "forecast stale",
		"sailing full", "ramp closed by operator", "refund before payment", "retry scheduled", "shift swapped", "tide table loaded",
		"manifest sealed", "duplicate message dropped", "waiting list advanced", "payment settled", "clock step noticed"},
	"case": {"low_tide", "two_long_vehicles", "night_crossing", "empty_list", "last_place", "closed_ramp", "summer_change", "group_of_forty",
		"refund_first", "stale_forecast", "same_message_twice", "no_crew", "lease_expired", "zero_draught", "month_end", "return_trip"},
}

// asks are what the user writes.
var asks = []string{
	"<verb><object> in <path> goes wrong <adverb>. I think it is because <reason>, but I have not proved it.",
	"Please look at the <pkg> package first. What I want is that <aim>.",
	"The people in <harbour> reported that the <vessel> left with <num> vehicles although only <num2> were booked.",
	"Don't change the public names of <type>; two other programs import it.",
	"Add a test for it before you touch the code, and tell me what it printed before and after.",
	"Last week we said that <aim>. That is still the rule, even where it makes the code longer.",
	"I would rather have a plain error than a guess: <reason>.",
	"If you find that <reason>, say so and stop there, I want to decide that myself.",
	"The same thing may happen in <pkg>/<part>.go, because it was copied from <pkg2>/<part2>.go in spring.",
	"Keep the change small. A reviewer has twenty minutes for it, and the harbour office is waiting.",
	"One more thing: <type>.<verb> takes <num> ms now, and it used to take a third of that.",
	"Can you check whether <type2> has the same trouble? It was written in the same week.",
	"We don't need to support the old timetable format any more, <harbour> switched over yesterday.",
	"Run the whole suite at the end, not only the <pkg> tests.",
	"I tried to set <field> to <num> by hand and it made no difference at all.",
}

// thoughts are what the assistant writes between its calls.
var thoughts = []string{
	"I read <path> and the callers of <type>.<verb>. The cause is that <reason>.",
	"The order matters here: <verb><object> has to run before <verb2><object2>, otherwise <reason>.",
	"My first guess was wrong. The <field> is right; what is stale is the <field2> that <type> copied when it was made.",
	"There are two ways to do this. Either <type> keeps the <field> itself, or the caller passes it in; the second is easier to test.",
	"So the plan is: write the failing test, make <verb><object> return an error, and then remove the fallback in <pkg>/<part>.go.",
	"I checked <type2> as well. It is not affected, because it never keeps a <field> across two calls.",
	"The test named <case> fails as expected with <num> where <num2> was wanted, which is what you saw in <harbour>.",
	"That explains the log: the <vessel> was asked for <num> places while <reason>.",
	"With the change in place, <aim>. The other <num> tests of the package still pass.",
	"I left <pkg2>/<part2>.go as it is. It looks alike, but there it is harmless since the <field> is checked by the caller.",
	"What remains open: <reason>. I did not touch that, as you asked.",
	"The invariant I relied on is that <field> is never above <field2> while the lock is held; I wrote it down next to the struct.",
	"It only happens <adverb>, because then the loop in <verb><object> sees the same <field> a second time.",
	"Before this, each call of <type>.<verb> took a copy of the whole <field>. Now it takes one of the <num> entries it needs.",
	"I would not merge <type> and <type2>: they share <field> today, but the rules of <harbour> for it are about to change.",
	"The error now names the <object> and the <field>, so that the clerk sees which rule said no.",
	"Next I will look at how <pkg> handles the same case, since <reason>.",
	"Reading the history, the check was removed when <type2> got its own <field>; nobody noticed, because <reason>.",
}

// remarks are the comments in the source files of the invented program.
var remarks = []string{
	"<verb> is called with the lock held, because <reason>.",
	"The <field> comes first: <reason>.",
	"A <field> of zero means that the harbour never told us.",
	"Callers rely on it that <aim>.",
	"This looks redundant, but <reason>.",
	"Asked for by <harbour>: <aim>.",
	"No allocation here; it runs for each of the <num> places of a sailing.",
	"The <field2> may be older than the <field>, never newer.",
	"Sorted, so that two runs give the same plan.",
	"Fails <adverb> without this line.",
}
