package search

import "fmt"

// Any returns a filter that matches if at least one element of the collection meets the condition. variable names the
// element within the condition, and has the form of a field name:
//
//	search.Any("Tags", "tag", search.Eq("tag", "pool"))
//	search.Any("Rooms", "room", search.And(search.Lt("room/BaseRate", 200), search.IsTrue("room/View")))
//
// The condition may refer to the element only: the service refuses other fields and IsMatch in it, and for
// collections of simple values some operators. To match every non-empty collection use NotEmpty. If no element can
// meet the condition, as with In of no values, the filter matches no document. For path see Eq.
func Any(path, variable string, condition Filter) Filter {
	return lambda(path, "any", variable, condition)
}

// All returns a filter that matches if all elements of the collection meet the condition. An empty collection
// matches. For the arguments see Any.
func All(path, variable string, condition Filter) Filter {
	return lambda(path, "all", variable, condition)
}

// NotEmpty returns a filter that matches if the collection has elements. For path see Eq.
func NotEmpty(path string) Filter {
	if err := checkPath(path); err != nil {
		return invalid(err)
	}
	return notEmpty(path)
}

func notEmpty(path string) Filter {
	return Filter{&expression{kind: primaryExpression, text: path + "/any()"}}
}

func lambda(path, quantifier, variable string, condition Filter) Filter {
	var problems []error
	if err := checkPath(path); err != nil {
		problems = append(problems, err)
	}
	if !identifier(variable) || reserved(variable) {
		problems = append(problems, fmt.Errorf("the range variable %s of %s is not a name of letters, digits and underscores that the service reads as such", clip(variable), clip(path)))
	}
	if condition.expr == nil {
		problems = append(problems, fmt.Errorf("the condition for %s of %s is the zero Filter: to match any element use NotEmpty", quantifier, clip(path)))
		return invalid(problems...)
	}
	// For a constant condition the elements do not matter.
	switch {
	case condition.expr != nowhere && condition.expr != everywhere:
	case len(problems) > 0:
		return invalid(problems...)
	case quantifier == "any" && condition.expr == nowhere, quantifier == "all" && condition.expr == everywhere:
		return condition
	case quantifier == "all":
		return Not(notEmpty(path)) // if the collection is empty, no element fails the condition
	default:
		return notEmpty(path)
	}
	return Filter{&expression{
		kind:     primaryExpression,
		text:     fmt.Sprintf("%s/%s(%s: ", path, quantifier, variable),
		operands: []*expression{condition.expr},
		problems: append(problems, condition.expr.problems...),
	}}
}
