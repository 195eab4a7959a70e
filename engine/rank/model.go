package rank

// Model is how a question and a turn are compared. The zero value finds
// nothing: start from [Default].
type Model struct {
	K1, B     float64 // of BM25
	Sharpness float64 // power of the inverse document frequency

	Reach       int     // turns each way that lend their words
	Near, Decay float64 // what a neighbour's word counts, and how that falls with each further turn
	Tool        float64 // factor for what is lent by, or to, a turn of a tool
	Answer      float64 // factor for what a turn that asks lends to the next one
	Stump       float64 // weight of the beginning of a word
	Joined      float64 // weight of two neighbouring words of the question written as one

	Named    float64 // factor for the turns of a speaker whom the question names
	NameOnly float64 // what the name itself weighs at most, as a share of the heaviest other word; 0: no bound
	Question float64 // factor for turns that ask
	Time     float64 // factor for turns that mention a time, where the question asks for one
	Name     float64 // the same for names ...
	Number   float64 // ... numbers ...
	Reason   float64 // ... and reasons
	Date     float64 // share added at most to turns near a date that the question names

	// ThreadShare is the part of the inverse document frequency that comes from
	// the thread alone, where a search is limited to one.
	ThreadShare float64
}

// Default was chosen on three of the LoCoMo conversations; see bench/recall.
var Default = Model{
	K1: 1.2, B: 0.75, Sharpness: 1.15,
	Reach: 6, Near: 0.5, Decay: 0.7, Tool: 0.2, Answer: 1.7, Stump: 0.2, Joined: 0.4,
	Named: 1.75, NameOnly: 0.5, Question: 0.95, Time: 1.3, Name: 1.15, Number: 1.05, Reason: 1.05, Date: 2,
	ThreadShare: 0.5,
}

// Plain is BM25 on the turns' own words and nothing more.
var Plain = Model{K1: 1.2, B: 0.75, Sharpness: 1, Tool: 1, Answer: 1, Named: 1, Question: 1, Time: 1, Name: 1, Number: 1, Reason: 1}
