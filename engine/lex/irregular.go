package lex

import "strings"

// irregular brings English forms back to their base where a stemmer, which
// only cuts endings, can't. Each line: the base, then its forms.
var irregular = formsOf(`
arise arose arisen
awake awoke awoken
beat beaten
become became
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
cling clung
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone goes
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
leap leapt
learn learnt
leave left
lend lent
lie lain
lose lost
make made
mean meant
meet met
mistake mistook mistaken
overcome overcame
pay paid
prove proven
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
speed sped
spend spent
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
strike struck stricken
strive strove striven
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
undertake undertook undertaken
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
withdraw withdrew withdrawn
write wrote written
child children kid kids
man men
woman women
person people
foot feet
tooth teeth
mouse mice
goose geese
wife wives
life lives
knife knives
leaf leaves
half halves
shelf shelves
wolf wolves
good better best
bad worse worst
index indices
matrix matrices
vertex vertices
analysis analyses
crisis crises
criterion criteria
mom mum mommy mother
dad daddy father
photo photograph
bike bicycle
`)

func formsOf(lines string) map[string]string {
	forms := make(map[string]string)
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for i, form := range words {
			if i > 0 {
				forms[form] = words[0]
			}
		}
	}
	return forms
}
