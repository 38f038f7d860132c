package search

import "fmt"

// Any returns the filter that matches where an element of the collection meets
// the condition. variable is the name of the element in the condition, of the
// form of a field name:
//
//	search.Any("Tags", "tag", search.Eq("tag", "pool"))
//	search.Any("Rooms", "room", search.And(search.Lt("room/BaseRate", 200), search.IsTrue("room/View")))
//
// The condition sees nothing but the element: the service refuses other fields
// in it, IsMatch, and for collections of simple values some operators. Without
// a condition use NotEmpty. A condition that no element meets, such as In of no
// values, makes a filter that no document meets. For path see Eq.
func Any(path, variable string, condition Filter) Filter {
	return lambda(path, "any", variable, condition)
}

// All returns the filter that matches where all elements of the collection meet
// the condition, which they do if there are none. For its arguments see Any.
func All(path, variable string, condition Filter) Filter {
	return lambda(path, "all", variable, condition)
}

// NotEmpty returns the filter that matches where the collection has elements. For
// path see Eq.
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
		problems = append(problems, fmt.Errorf("the condition for %s of %s is no filter: to ask for any element at all use NotEmpty", quantifier, clip(path)))
		return invalid(problems...)
	}
	// An element meets a constant whatever it is.
	switch {
	case condition.expr != nowhere && condition.expr != everywhere:
	case len(problems) > 0:
		return invalid(problems...)
	case quantifier == "any" && condition.expr == nowhere, quantifier == "all" && condition.expr == everywhere:
		return condition
	case quantifier == "all":
		return Not(notEmpty(path)) // there is none that could fail to meet it
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
