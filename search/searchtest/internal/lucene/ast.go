package lucene

// Node is a query or a part of one, one of the types in this file. A Node is immutable after parsing and may be
// shared.
type Node interface{ node() }

// Operator joins adjacent clauses without an operator between them: the service's searchMode.
type Operator uint8

const (
	// Or makes clauses optional (searchMode any).
	Or Operator = iota
	// And makes clauses required (searchMode all).
	And
)

// Occur is the role of a clause in a Boolean.
type Occur uint8

const (
	// Should clauses add to the score. If there is no Must clause, at least one must match.
	Should Occur = iota
	// Must clauses must match, and add to the score.
	Must
	// MustNot clauses must not match, and do not score.
	MustNot
)

type (
	// MatchAll matches every document with score 1.
	MatchAll struct{}

	// Term is a word without its escapes. Analysis can turn it into no term, one or several.
	Term struct {
		Field string // path of a field; "" for the default fields of the query
		Text  string
	}

	// Phrase is quoted text without its escapes.
	Phrase struct {
		Field string
		Text  string
		Slop  int // maximum total distance by which words may be moved
	}

	// Prefix matches terms that begin with Text. It is not analyzed.
	Prefix struct {
		Field string
		Text  string
	}

	// Wildcard matches whole terms: * matches any text, ? one character, and a backslash makes the next character
	// literal. It is not analyzed.
	Wildcard struct {
		Field   string
		Pattern string
	}

	// Regexp matches whole terms with a regular expression in Lucene's dialect. It is not analyzed.
	Regexp struct {
		Field   string
		Pattern string
	}

	// Fuzzy matches terms at most Edits edits away from Text. An edit inserts, deletes or replaces a character, or
	// swaps two neighbouring ones. It is not analyzed.
	Fuzzy struct {
		Field string
		Text  string
		Edits int // 0 to 2
	}

	// Boolean combines clauses. With only MustNot clauses, or without clauses, it matches no document. Only a whole
	// query can be without clauses.
	Boolean struct {
		Clauses []Clause
	}

	// Boost multiplies the score of a node.
	Boost struct {
		Node   Node
		Factor float64 // greater than 0
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

// Walk calls visit for n and all nodes below it, parents first and clauses in order, until visit returns false. It
// is not recursive, because a query in simple syntax can be as deep as it is long.
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

// Clauses returns the number of clauses of n, including nested ones. The service limits this number.
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
