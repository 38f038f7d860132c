package odata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFiltersAreRefusedInTheWordsOfTheService(t *testing.T) {
	rows := []struct{ filter, message string }{
		// Recorded.
		{"This is not a valid filter.", "Syntax error at position 7 in 'This is not a valid filter.'."},
		{"ThisFieldDoesNotExist eq 1", "Could not find a property named 'ThisFieldDoesNotExist' on type 'search.document'."},
		{"not Rating gt 5", "A unary operator with an incompatible type was detected. Found operand type 'Edm.Int32' for operator kind 'Not'."},
		// Reported by users of the service.
		{"Tags/any(k: k eq 'a' and search.ismatch('x', 'Tags'))", "The function 'search.ismatch' has no parameters bound to the range variable 'k'. Only bound field references are supported inside lambda expressions ('any' or 'all'). Please change your filter so that the 'search.ismatch' function is outside the lambda expression and try again."},
		{"Scores/any(t: t eq 123) eq true", notOneLiteral},
		{"HotelName eq 'United Kingdom' {x} Category eq 'a'", "Syntax error at position 33 in 'HotelName eq 'United Kingdom' {x} Category eq 'a''."},

		// Syntax errors.
		{"", "Expression expected at position 0 in ''."},
		{"Rating gt", "Expression expected at position 9 in 'Rating gt'."},
		{"Rating + 1", "Syntax error: character '+' is not valid at position 7 in 'Rating + 1'."},
		{"Rating eq 5 #", "Syntax error: character '#' is not valid at position 12 in 'Rating eq 5 #'."},
		{"= #", "Syntax error: character '#' is not valid at position 2 in '= #'."}, // read ahead
		{"HotelName eq 'a", "There is an unterminated string literal at position 15 in 'HotelName eq 'a'."},
		{"HotelName eq 'a''", "There is an unterminated string literal at position 17 in 'HotelName eq 'a'''."},
		{"geo.distance(Location, geography'POINT(1 2)", "There is an unterminated literal at position 43 in 'geo.distance(Location, geography'POINT(1 2)'."},
		{"Price gt 1.", "A digit was expected at position 11 in 'Price gt 1.'."},
		{"Price gt 1e+", "A digit was expected at position 12 in 'Price gt 1e+'."},
		{"Price gt 1e400", "Numeric string '1e400' is not a valid Int32/Int64/Double/Decimal."},
		{"(Rating gt 1", "')' or operator expected at position 12 in '(Rating gt 1'."},
		{"search.in(HotelName, 'a'", "')' or ',' expected at position 24 in 'search.in(HotelName, 'a''."},
		{"Tags/any", "'(' expected at position 8 in 'Tags/any'."},
		{"Tags/any(t: t eq 'a'", "')' or ',' expected at position 20 in 'Tags/any(t: t eq 'a''."},
		{"Tags/any(t t eq 'a')", "Syntax error at position 12 in 'Tags/any(t t eq 'a')'."},
		{"Tags/any('t': t eq 'a')", "An identifier was expected at position 9."},
		{"Rooms/any(r: r/Tags/any(r: r eq 'a'))", "The range variable 'r' has already been declared."},
		{"Address/5 eq 1", "Syntax error at position 9 in 'Address/5 eq 1'."},
		{"HotelName in ('a', 'b')", "Syntax error at position 12 in 'HotelName in ('a', 'b')'."},
		{"Renovated gt 2010-01-01T00:00:00", "Syntax error at position 20 in 'Renovated gt 2010-01-01T00:00:00'."},
		{"HotelName eq 'ü\U0001f600' x", "Syntax error at position 20 in 'HotelName eq 'ü\U0001f600' x'."},
		{"geo.distance(Location, geography'POINT(1)') lt 5", "Unrecognized 'Edm.Geography' literal 'geography'POINT(1)'' at '23' in 'geo.distance(Location, geography'POINT(1)') lt 5' with reason 'A point must have a longitude and a latitude.'."},
		{"geo.distance(Location, geography'POINT(1 91)') lt 5", "Unrecognized 'Edm.Geography' literal 'geography'POINT(1 91)'' at '23' in 'geo.distance(Location, geography'POINT(1 91)') lt 5' with reason 'Latitude must be between -90 and 90 degrees.'."},
		{"Rating eq @p", "Expression expected at position 10 in 'Rating eq @p'."},
		{"Rating eq {1", "Found an unbalanced bracket expression."},

		// Names and types.
		{"rating eq 1", "Could not find a property named 'rating' on type 'search.document'."},
		{"Address/Street eq 'x'", "Could not find a property named 'Street' on type 'search.complex.Address'."},
		{"Address/Country/Name eq 'x'", "Could not find a property named 'Name' on type 'search.complex.Address.Country'."},
		{"Rooms/any(r: r/Name eq 'x')", "Could not find a property named 'Name' on type 'search.complex.Rooms'."},
		{"Rating/X eq 1", "Could not find a property named 'X' on type 'Edm.Int32'."},
		{"Rooms/Type eq 'x'", "The parent value for a property access of a property 'Type' is not a single value. Property access can only be applied to a single value."},
		{"Rooms/$count gt 1", "The parent value for a property access of a property '$count' is not a single value. Property access can only be applied to a single value."},
		{"Tags eq 'x'", "The operand for a binary operator 'Equal' is not a single value. Binary operators require both operands to be single values."},
		{"not Tags", "The operand for a unary operator 'Not' is not a single value. Unary operators require the operand to be a single value."},
		{"Tags and Parking", "The operand for a binary operator 'And' is not a single value. Binary operators require both operands to be single values."},
		{"Rating eq 'x'", "A binary operator with incompatible types was detected. Found operand types 'Edm.Int32' and 'Edm.String' for operator kind 'Equal'."},
		{"HotelName eq 5", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.Int32' for operator kind 'Equal'."},
		{"2.5 lt HotelName", "A binary operator with incompatible types was detected. Found operand types 'Edm.Single' and 'Edm.String' for operator kind 'LessThan'."},
		{"HotelName gt 3.14159265358979", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.Double' for operator kind 'GreaterThan'."},
		{"HotelName ge 3.14159265358979323846", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.Decimal' for operator kind 'GreaterThanOrEqual'."},
		{"HotelName le 5000000000", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.Int64' for operator kind 'LessThanOrEqual'."},
		{"Renovated ge 2010-01-01", "A binary operator with incompatible types was detected. Found operand types 'Edm.DateTimeOffset' and 'Edm.Date' for operator kind 'GreaterThanOrEqual'."},
		{"HotelId eq 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.Guid' for operator kind 'Equal'."},
		{"HotelId eq a3f504e0-4f89-11d3-9a0c-0305e82c3301", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.Guid' for operator kind 'Equal'."},
		{"HotelId ne 12:30:00", "A binary operator with incompatible types was detected. Found operand types 'Edm.String' and 'Edm.TimeOfDay' for operator kind 'NotEqual'."},
		{"Rating gt null", "A binary operator with incompatible types was detected. Found operand types 'Edm.Int32' and '<null>' for operator kind 'GreaterThan'."},
		{"Parking gt false", "A binary operator with incompatible types was detected. Found operand types 'Edm.Boolean' and 'Edm.Boolean' for operator kind 'GreaterThan'."},
		{"Location eq geography'POINT(1 2)'", "A binary operator with incompatible types was detected. Found operand types 'Edm.GeographyPoint' and 'Edm.GeographyPoint' for operator kind 'Equal'."},
		{"Address eq null", "A binary operator with incompatible types was detected. Found operand types 'search.complex.Address' and '<null>' for operator kind 'Equal'."},
		{"Rating and Parking", "A binary operator with incompatible types was detected. Found operand types 'Edm.Int32' and 'Edm.Boolean' for operator kind 'And'."},
		{"Parking and Parking and Rating", "A binary operator with incompatible types was detected. Found operand types 'Edm.Boolean' and 'Edm.Int32' for operator kind 'And'."},
		{"Parking or null", "A binary operator with incompatible types was detected. Found operand types 'Edm.Boolean' and '<null>' for operator kind 'Or'."},
		{"Rating", notBoolean},
		{"5", notBoolean},
		{"Tags", notBoolean},
		{"geo.distance(Location, geography'POINT(1 2)')", notBoolean},
		{"Rating eq Visits", notOneLiteral},
		{"1 eq 1", notOneLiteral},
		{"null eq null", notOneLiteral},
		{"Rating eq 1 eq true", notOneLiteral},
		{"(Rating eq 1) eq true", notOneLiteral},
		{"Rating eq NaN", "Comparing a value of type 'Edm.Int32' with NaN, INF or -INF is not supported."},
		{"Visits lt -INF", "Comparing a value of type 'Edm.Int64' with NaN, INF or -INF is not supported."},
		{"Description eq 'x'", "'Description' is not a filterable field. Only filterable fields can be used in filter expressions."},
		{"Rooms/any(r: r/Notes eq 'x')", "'Rooms/Notes' is not a filterable field. Only filterable fields can be used in filter expressions."},
		{"Rooms/any(r: r/View/Secret eq 'x')", "'Rooms/View/Secret' is not a filterable field. Only filterable fields can be used in filter expressions."},
		{"Vector/any()", "'Vector' is not a filterable field. Only filterable fields can be used in filter expressions."},

		// Features of the OData library that the service lacks.
		{"Rating add 1 gt 5", "The operator 'add' is not supported."},
		{"Rating has 1", "The operator 'has' is not supported."},
		{"-Rating gt 5", "The unary operator '-' is not supported."},
		{"* eq 5", "The wildcard '*' is not supported in this expression."},
		{"startswith(HotelName, 'a')", "The function 'startswith' is not supported."},
		{"foo(HotelName)", "An unknown function with name 'foo' was found. This may also be a function import or a key lookup on a navigation property, which is not allowed."},
		{"Address/foo()", "Found a Uri function 'foo' with a parent token. Uri functions cannot have parent tokens."},

		// Functions.
		{"search.in(Rating, '1,2')", "No function signature for the function with name 'search.in' matches the specified arguments. The function signatures considered are: search.in(Edm.String Nullable=true, Edm.String Nullable=true); search.in(Edm.String Nullable=true, Edm.String Nullable=true, Edm.String Nullable=true)."},
		{"search.in(Tags, 'a')", "The argument for an invocation of a function with name 'search.in' is not a single value. All arguments for this function must be single values."},
		{"search.in('a', 'a')", "The first argument of the function 'search.in' must be a field or a range variable."},
		{"search.in(HotelName, Category)", "The function 'search.in' only supports string constants for all arguments but the field to search in."},
		{"search.in(Description, 'a')", "'Description' is not a filterable field. Only filterable fields can be used in filter expressions."},
		{"search.ismatch()", "No function signature for the function with name 'search.ismatch' matches the specified arguments. The function signatures considered are: search.ismatch(Edm.String Nullable=true); search.ismatch(Edm.String Nullable=true, Edm.String Nullable=true); search.ismatch(Edm.String Nullable=true, Edm.String Nullable=true, Edm.String Nullable=true, Edm.String Nullable=true)."},
		{"search.ismatch('a', 'Nothing')", "Unknown field 'Nothing' in the search field list."},
		{"search.ismatch('a', 'HotelName,Rating')", "Only searchable fields can be used in the search field list. Field 'Rating' is not marked as 'searchable'."},
		{"search.ismatch('a', 'HotelName', 'fuzzy', 'any')", "'fuzzy' is not a valid query type for the function 'search.ismatch'. Use 'simple' or 'full'."},
		{"search.ismatch('a', 'HotelName', 'full', 'some')", "'some' is not a valid search mode for the function 'search.ismatch'. Use 'any' or 'all'."},
		{"search.score() gt 1", "The function 'search.score' is only supported in $orderby."},
		{"geo.distance(Location, geography'POINT(1 2)') eq 5", "The function 'geo.distance' can only be compared with a number, by one of the operators 'lt', 'le', 'gt' and 'ge'."},
		{"geo.distance(Rating, geography'POINT(1 2)') lt 5", "No function signature for the function with name 'geo.distance' matches the specified arguments. The function signatures considered are: geo.distance(Edm.GeographyPoint Nullable=true, Edm.GeographyPoint Nullable=true)."},
		{"search.ismatch('a') eq null", notOneLiteral},

		// Lambda expressions.
		{"Rating/any(r: r eq 1)", "Any/All may only be used following a collection."},
		{"Tags/any(t: t/any())", "Any/All may only be used following a collection."},
		{"Tags/any()/any()", "Any/All may only be used following a collection."},
		{"Tags/any(t: t)", "The Any/All query expression must evaluate to a single boolean value."},
		{"Tags/all()", "The operator 'all' requires a lambda expression. Only 'any' can be used without one."},
		{"Rooms/any(r: Rating gt 3)", "The field reference 'Rating' is not bound to the range variable 'r'. Only bound field references are supported inside lambda expressions ('any' or 'all'). Please change your filter so that it is outside the lambda expression and try again."},
		{"Rooms/any(r: r/Tags/any(t: t eq 'a' and r/Beds gt 2))", "The field reference 'r/Beds' is not bound to the range variable 't'. Only bound field references are supported inside lambda expressions ('any' or 'all'). Please change your filter so that it is outside the lambda expression and try again."},
		{"Tags/any(t: Rooms/any())", "The field reference 'Rooms' is not bound to the range variable 't'. Only bound field references are supported inside lambda expressions ('any' or 'all'). Please change your filter so that it is outside the lambda expression and try again."},
	}
	for _, row := range rows {
		_, err := CompileFilter(row.filter, hotel)
		var refusal *Error
		if assert.ErrorAs(t, err, &refusal, row.filter) {
			assert.Equal(t, row.message, refusal.Message, row.filter)
		}
	}
}

// The examples of the service's documentation, and some of its rules without an example.
func TestLambdaExpressionsFollowTheRulesOfTheirElements(t *testing.T) {
	const area = "geography'POLYGON((0 0, 1 0, 1 1, 0 0))'"
	allowed := []string{
		"Tags/any(t: t eq 'books')",
		"Tags/any(t: search.in(t, 'books, games, toys'))",
		"Tags/all(t: t ne 'books')",
		"Tags/all(t: not (t eq 'books'))",
		"Tags/all(t: not search.in(t, 'books, games, toys'))",
		"Tags/any(t: t eq 'books' or t eq 'games')",
		"Tags/any(t: not (t ne 'books' and t ne 'games'))",
		"Tags/all(t: t ne 'books' and not (t eq 'games'))",
		"Tags/any(t: search.in(t, 'a') eq true)",
		"Flags/any(f: f)",
		"Flags/all(f: f)",
		"Flags/any(f: f eq true)",
		"Flags/any(f: f ne true)",
		"Flags/all(f: not f)",
		"Flags/all(f: not (f eq true))",
		"Scores/any(r: r ne 5)",
		"Dates/any(d: d gt 2017-08-24T00:00:00Z)",
		"not Prices/all(m: m eq 3.5)",
		"Scores/any(r: r ne 5 or r gt 7)",
		"Scores/any(r: r gt 2 and r le 5)",
		"Scores/any(r: r le 5 or r gt 7)",
		"Scores/any(r: (r gt 2 and r le 5) or (r gt 7 and r lt 10))",
		"Scores/any(r: not (r le 2 or r gt 5))",
		"Scores/all(r: r eq 5)",
		"Scores/all(r: r eq 5 and r le 7)",
		"Scores/all(r: r gt 2 and r le 5)",
		"Scores/all(r: r le 5 or r gt 7)",
		"Scores/all(r: (r le 2 or r gt 5) and (r lt 7 or r ge 10))",
		"Scores/all(r: r gt 9223372036854775807 or r lt 1)",
		"Places/any(l: geo.distance(l, geography'POINT(-122 49)') lt 10)",
		"Places/any(l: not (geo.distance(l, geography'POINT(-122 49)') ge 10) or geo.intersects(l, " + area + "))",
		"Places/all(l: geo.distance(l, geography'POINT(-122 49)') ge 10 and not geo.intersects(l, " + area + "))",
		"Rooms/any(r: r/Type eq 'a' and r/Rate lt 100 or not r/Smoking)",
		"Rooms/all(r: r/Tags/any(a: a eq 'tv') and r/Rate lt 100.0)",
		"Rooms/any(r: r/View/Side eq 'sea')",
		"Rooms/any(r: r/Tags/any()) and Tags/any()",
	}
	for _, filter := range allowed {
		_, err := CompileFilter(filter, hotel)
		assert.NoError(t, err, filter)
	}

	oneJoinOf := func(name string) string { return strings.ReplaceAll(oneJoin, "%s", name) }
	refused := []struct{ filter, message string }{
		{"Tags/any(t: t ne 'books')", oppositeExpected},
		{"Tags/any(t: not search.in(t, 'books, games, toys'))", oppositeExpected},
		{"Tags/all(t: t eq 'books')", oppositeExpected},
		{"Tags/all(t: search.in(t, 'books, games, toys'))", oppositeExpected},
		{"Tags/any(t: t ne null)", oppositeExpected},
		{"Tags/any(t: t eq 'books' and t ne 'games')", oneJoinOf("Edm.String")},
		{"Tags/all(t: t ne 'books' or not (t eq 'games'))", oneJoinOf("Edm.String")},
		{"Tags/any(t: not (t ne 'books' or t ne 'games'))", oneJoinOf("Edm.String")},
		{"Tags/any(t: t gt 'a')", onlyEquality},
		{"Flags/any(f: f or not f)", noJoin},
		{"Flags/any(f: f or f)", noJoin},
		{"Flags/all(f: f and not f)", noJoin},
		{"Flags/all(f: f and f eq true)", noJoin},
		{"Scores/any(r: r ne 5 and r gt 2)", normalForm},
		{"Scores/any(r: not (r eq 5) and r gt 2)", normalForm},
		{"Scores/all(r: r eq 5 or r le 2)", normalForm},
		{"Scores/any(r: (r gt 1 or r lt 0) and r ne 7)", normalForm},
		{"Scores/any(r: (r gt 1 or r lt 0) and r lt 7)", normalForm},
		{"Scores/all(r: r gt 1 and r lt 3 or r lt 0)", normalForm},
		{"Prices/any(r: r ne 5 and r gt 2)", normalForm},
		{"Scores/any(r: r ne null and r gt 2)", normalForm},
		{"Places/any(l: not geo.intersects(l, " + area + "))", unsupportedGeo},
		{"Places/all(l: geo.intersects(l, " + area + "))", unsupportedGeo},
		{"Places/any(l: geo.distance(l, geography'POINT(-122 49)') gt 10)", unsupportedGeo},
		{"Places/all(l: geo.distance(l, geography'POINT(-122 49)') lt 10)", unsupportedGeo},
		{"Places/any(l: geo.distance(l, geography'POINT(-122 49)') lt 10 and geo.intersects(l, " + area + "))", oneJoinOf("Edm.GeographyPoint")},
		{"Places/all(l: geo.distance(l, geography'POINT(-122 49)') le 10 or not geo.intersects(l, " + area + "))", oneJoinOf("Edm.GeographyPoint")},
		{"Tags/any(t: true)", "Invalid lambda expression. The constants 'true' and 'false' have no parameters bound to the range variable."},
	}
	for _, row := range refused {
		_, err := CompileFilter(row.filter, hotel)
		assert.EqualError(t, err, row.message, row.filter)
	}
}

func TestNestingAndLengthAreLimited(t *testing.T) {
	for _, open := range []string{"(", "not ", "not(", "- ", "search.in("} {
		_, err := CompileFilter(strings.Repeat(open, 100_000)+"true", hotel)
		require.EqualError(t, err, tooDeep, open)
	}
	var lambdas strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lambdas, "Rooms/any(r%d:", i)
	}
	_, err := CompileFilter(lambdas.String(), hotel)
	require.EqualError(t, err, tooDeep)
	_, err = CompileFilter(strings.Repeat("(", maxDepth-1)+"true"+strings.Repeat(")", maxDepth-1), hotel)
	require.NoError(t, err)

	clauses := func(n int) string { return strings.TrimSuffix(strings.Repeat("Rating eq 1 or ", n), " or ") }
	_, err = CompileFilter(clauses(maxClauses), hotel)
	require.NoError(t, err)
	_, err = CompileFilter(clauses(maxClauses+1), hotel)
	require.ErrorContains(t, err, "too many clauses")

	// Long but flat input is parsed without recursion.
	_, err = CompileFilter(strings.Repeat("a/", 100_000)+"a", hotel)
	require.ErrorContains(t, err, "Could not find a property named 'a'")
	_, err = CompileFilter("Rating"+strings.Repeat(" eq 1", 100_000), hotel)
	require.EqualError(t, err, notOneLiteral)
	_, err = CompileFilter("Tags"+strings.Repeat("/any()", 100_000), hotel)
	require.Error(t, err)
	_, err = CompileFilter(strings.TrimSuffix(strings.Repeat("true and ", 100_000), " and "), hotel)
	require.NoError(t, err)
}

func TestFullTextIsRefusedWhereItIsNotSupported(t *testing.T) {
	o := *hotel
	o.NoFullText = true
	_, err := CompileFilter("search.ismatch('a')", &o)
	require.EqualError(t, err, "The function 'search.ismatch' is not supported in this API. It can only be used in the filters of search requests.")
	_, err = CompileFilter("search.ismatchscoring('a')", &o)
	require.ErrorContains(t, err, "search.ismatchscoring")
}
