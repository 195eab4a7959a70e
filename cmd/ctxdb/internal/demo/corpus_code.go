package demo

// declarations are what the source files of the invented program are made of.
// <type>, <verb>, <field> and the others are filled in; see words.
var declarations = []string{
	`// <verb><object> takes the <field> of <type> into account.
// <remark>
func (x *<type>) <verb><object>(ctx context.Context, id <object>ID) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	<local>, ok := x.<field>[id]
	if !ok {
		return 0, fmt.Errorf("<pkg>: <verb> %d: %w", id, ErrUnknown<object>)
	}
	if <local>.<field2> > x.<field3> {
		return 0, &LimitError{Name: "<field3>", Have: <local>.<field2>, Max: x.<field3>}
	}
	// <remark2>
	x.<field3> -= <local>.<field2>
	return x.<field3>, ctx.Err()
}
`,
	`// <object>State says how far a <object> has come.
type <object>State uint8

const (
	<object>Open <object>State = iota
	<object>Held    // <remark>
	<object>Settled
	<object>Gone
)

func (s <object>State) String() string {
	switch s {
	case <object>Open:
		return "open"
	case <object>Held:
		return "held"
	case <object>Settled:
		return "settled"
	}
	return "<object>State(" + strconv.Itoa(int(s)) + ")"
}
`,
	`// <type> keeps the <field> of one harbour.
//
// <remark>
type <type> struct {
	mu       sync.Mutex
	<field>  map[<object>ID]*<object2>
	<field2> int           // in <harbour>: at most <num>
	<field3> time.Duration // <remark2>
	log      *slog.Logger
}

// New<type> returns a <type> without any <field>.
func New<type>(<field2> int, log *slog.Logger) *<type> {
	return &<type>{
		<field>:  make(map[<object>ID]*<object2>, <num2>),
		<field2>: <field2>,
		<field3>: <num3> * time.Minute,
		log:      log.With("part", "<pkg>"),
	}
}
`,
	`func (x *<type>) <verb>All(<local> []<object>) error {
	var errs []error
	for i, o := range <local> {
		if o.<field> == 0 { // <remark>
			continue
		}
		if err := x.<verb>(o.ID, o.<field2>); err != nil {
			errs = append(errs, fmt.Errorf("<object> %d of %d: %w", i+1, len(<local>), err))
		}
	}
	return errors.Join(errs...)
}
`,
	`// by<object> orders by <field>, then by <field2>.
func by<object>(a, b *<object>) int {
	if c := cmp.Compare(a.<field>, b.<field>); c != 0 {
		return c
	}
	return b.<field2>.Compare(a.<field2>)
}
`,
	`func Test<type>_<verb><object>(t *testing.T) {
	tests := []struct {
		name string
		<field> int
		want int
		err  error
	}{
		{"<case>", <num>, <num2>, nil},
		{"<case2>", <num3>, 0, ErrUnknown<object>},
		{"<case3>", 0, <num4>, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := New<type>(<num5>, slogt.New(t))
			got, err := x.<verb><object>(t.Context(), <object>ID(tt.<field>))
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if got != tt.want {
				t.Errorf("<field2> %d, want %d", got, tt.want)
			}
		})
	}
}
`,
	`// <verb><object> undoes what <verb2><object> did, and nothing else.
func <verb><object>(tx *sql.Tx, <local> <object>) error {
	const q = ` + "`UPDATE <object> SET <field> = <field> - ?, <field2> = ? WHERE harbour = ? AND <field> >= ?`" + `
	res, err := tx.Exec(q, <local>.<field>, <local>.<field2>, <local>.Harbour, <local>.<field>)
	if err != nil {
		return fmt.Errorf("<verb> <object> in %s: %w", <local>.Harbour, err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		// <remark>
		return cmp.Or(err, ErrConflict)
	}
	return nil
}
`,
	`func (s *Server) handle<verb><object>(w http.ResponseWriter, r *http.Request) {
	var in struct {
		<object> string ` + "`json:\"<field>\"`" + `
		Count    int    ` + "`json:\"<field2>\"`" + `
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, <num><<10)).Decode(&in); err != nil {
		s.fail(w, r, http.StatusBadRequest, err)
		return
	}
	// <remark>
	out, err := s.<pkg>.<verb>(r.Context(), in.<object>, in.Count)
	switch {
	case errors.Is(err, <pkg>.ErrFull):
		s.fail(w, r, http.StatusConflict, err)
	case err != nil:
		s.fail(w, r, http.StatusInternalServerError, err)
	default:
		s.reply(w, out)
	}
}
`,
	`// wait<object> waits until <field> falls below <field2>, or ctx ends.
func (x *<type>) wait<object>(ctx context.Context) error {
	tick := time.NewTicker(<num> * time.Millisecond)
	defer tick.Stop()
	for <local> := x.<field>; <local> >= x.<field2>; <local> = x.<field> {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.<verb>d: // <remark>
		case <-tick.C:
		}
	}
	return nil
}
`,
	`// Errors of <type>.
var (
	ErrUnknown<object> = errors.New("<pkg>: no such <object>")
	ErrNo<object2>     = errors.New("<pkg>: <field> used up") // <remark>
)
`,
	`func (x *<type>) sum<object>() (<local> int) {
	for _, o := range x.<field> {
		switch {
		case o.<field2> < 0:
			panic("<pkg>: negative <field2>")
		case o.Length > <num>: // <remark>
			<local> += 2 * o.<field2>
		default:
			<local> += o.<field2>
		}
	}
	return <local>
}
`,
	`func parse<object>(line string) (<object>, error) {
	name, rest, ok := strings.Cut(line, "<sep>")
	if !ok {
		return <object>{}, fmt.Errorf("<pkg>: no <field> in %q", line)
	}
	<local>, err := strconv.Atoi(strings.TrimSpace(rest))
	if err != nil || <local> > <num> {
		return <object>{}, fmt.Errorf("<pkg>: <field> of %s: %q is no number up to <num>", name, rest)
	}
	return <object>{Name: name, <field>: <local>}, nil // <remark>
}
`,
	`// <verb> moves the <field> forward by one step.
func (x *<type>) <verb>() bool {
	<local> := slices.IndexFunc(x.<field>, func(o *<object>) bool { return o.<field2> >= x.<field3> })
	if <local> < 0 {
		x.log.Debug("nothing to do", "<field2>", x.<field3>)
		return false
	}
	x.<field> = slices.Delete(x.<field>, <local>, <local>+1)
	x.<field3>++ // <remark>
	return true
}
`,
}

// changes are pairs of lines, before and after, that diffs and edits show.
var changes = [][2]string{
	{"	if x.<field> > x.<field2> {", "	if x.<field> >= x.<field2> { // <remark>"},
	{"	return nil", "	return fmt.Errorf(\"<pkg>: <verb> <object>: %w\", err)"},
	{"	<local>, _ := x.<verb>(ctx, id)", "	<local>, err := x.<verb>(ctx, id)\n	if err != nil {\n		return <num>, err\n	}"},
	{"	for id, <local> := range x.<field> {", "	for _, id := range slices.Sorted(maps.Keys(x.<field>)) {\n		<local> := x.<field>[id]"},
	{"	time.Sleep(<num> * time.Millisecond)", "	if err := x.wait<object>(ctx); err != nil {\n		return err\n	}"},
	{"	x.<field> = <num>", "	x.<field> = min(x.<field2>, <num>) // <remark>"},
	{"	key := <local>.Harbour", "	key := <local>.Harbour + \"/\" + <local>.<field>"},
	{"	// TODO: <remark>", "	// <remark2>\n	defer x.<verb>(<local>)"},
}
