package searchtest

// planSemantic checks the parameters of semantic ranking, and refuses it: what
// the models of the service find relevant cannot be told by a rule.
func (p *searchPlan) planSemantic() *serviceError {
	a := p.args
	if debug := a.text("debug"); debug != "" && debug != "disabled" {
		return notEmulated("the parameter 'debug'")
	}
	if wait := a.whole("semanticMaxWaitInMilliseconds", 700); wait < 700 {
		return a.refuse("semanticMaxWaitInMilliseconds", "Value must be greater than or equal to 700.")
	}
	semantic := a.text("queryType") == "semantic" || a.text("semanticQuery") != ""
	for _, name := range []string{"answers", "captions", "semanticConfiguration", "semanticErrorHandling"} {
		if v := a.text(name); v != "" && v != "none" && !semantic {
			return a.refuse(name, "The parameter '"+name+"' can only be used in semantic queries: set 'queryType' to 'semantic', or 'semanticQuery'.")
		}
	}
	if !semantic {
		return nil
	}
	if a.version < version2023 {
		return a.refuse("queryType", "Requested value 'semantic' was not found.")
	}
	var configurations []*object
	name := a.text("semanticConfiguration")
	if def := p.sc.parsed.object.object("semantic"); def != nil {
		configurations = def.objects("configurations")
		if name == "" {
			name = def.str("defaultConfiguration")
		}
	}
	switch {
	case name == "":
		return a.refuse("semanticConfiguration", "The parameter 'semanticConfiguration' must be set when 'queryType' is 'semantic', unless the index has a default semantic configuration.")
	case named(configurations, name) == nil:
		return a.refuseCoded("UnknownSemanticConfiguration", "semanticConfiguration", "Unknown semantic configuration '"+name+"'.")
	}
	return notEmulated("semantic ranking")
}
