package lucene

// Node is a query or a part of one. The implementations are the types of this
// file; a Node is never changed after it was parsed and may be shared.
type Node interface{ node() }

// Operator is what joins clauses that stand beside each other with no operator
// between them: the service's searchMode.
type Operator uint8

const (
	// Or makes clauses optional (searchMode any).
	Or Operator = iota
	// And makes clauses required (searchMode all).
	And
)

// Occur says what a clause asks of a document.
type Occur uint8

const (
	// Should clauses add to the score; where there is no Must clause, one of
	// them has to match.
	Should Occur = iota
	// Must clauses have to match, and add to the score.
	Must
	// MustNot clauses must not match. They do not score.
	MustNot
)

type (
	// MatchAll matches every document with the score 1.
	MatchAll struct{}

	// Term is a word as it was written, without its escapes. Analysis can make
	// of it no term, one or several.
	Term struct {
		Field string // path of a field; empty for those the query searches by default
		Text  string
	}

	// Phrase is quoted text, without its escapes.
	Phrase struct {
		Field string
		Text  string
		Slop  int // how many places the words may be moved in all
	}

	// Prefix matches the terms that start with Text. It is not analyzed.
	Prefix struct {
		Field string
		Text  string
	}

	// Wildcard matches whole terms: * stands for any text, ? for one character, a
	// backslash takes the meaning from what follows. It is not analyzed.
	Wildcard struct {
		Field   string
		Pattern string
	}

	// Regexp matches whole terms with a regular expression in Lucene's dialect.
	// It is not analyzed.
	Regexp struct {
		Field   string
		Pattern string
	}

	// Fuzzy matches terms at most Edits insertions, deletions, replacements and
	// swaps of neighbours away from Text. It is not analyzed.
	Fuzzy struct {
		Field string
		Text  string
		Edits int // 0 to 2
	}

	// Boolean combines clauses. One with nothing but MustNot clauses matches no
	// document; neither does one without clauses, which is only ever a whole query.
	Boolean struct {
		Clauses []Clause
	}

	// Boost multiplies the score of a node.
	Boost struct {
		Node   Node
		Factor float64 // more than 0
	}
)

// Clause is a member of a Boolean.
type Clause struct {
	Occur Occur
	Node  Node
}

func (MatchAll) node() {}
func (Term) node()     {}
func (Phrase) node()   {}
func (Prefix) node()   {}
func (Wildcard) node() {}
func (Regexp) node()   {}
func (Fuzzy) node()    {}
func (Boolean) node()  {}
func (Boost) node()    {}

// Walk calls visit for n and everything below it, parents first and clauses in
// order, until visit returns false. It does not recurse: a query of the simple
// syntax can be as deep as it is long.
func Walk(n Node, visit func(Node) bool) {
	todo := []Node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !visit(n) {
			return
		}
		switch n := n.(type) {
		case Boolean:
			for i := len(n.Clauses) - 1; i >= 0; i-- {
				todo = append(todo, n.Clauses[i].Node)
			}
		case Boost:
			todo = append(todo, n.Node)
		}
	}
}

// Clauses is the number of clauses of n, those in nested queries included. It
// is what the service limits.
func Clauses(n Node) int {
	count := 0
	Walk(n, func(n Node) bool {
		if b, ok := n.(Boolean); ok {
			count += len(b.Clauses)
		}
		return true
	})
	return count
}
