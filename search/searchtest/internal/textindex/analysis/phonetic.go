package analysis

import (
	"fmt"
	"slices"
	"strings"
)

type phoneticFilter struct {
	Encoder string `json:"encoder"`
	Replace bool   `json:"replace"`
}

// encoders compute codes of the sound of a word as Apache Commons Codec does. For a nil function only the service
// has the encoder.
var encoders = map[string]func(string) string{
	"metaphone": metaphone, "soundex": soundex, "refinedSoundex": refinedSoundex,
	"doubleMetaphone": nil, "caverphone1": nil, "caverphone2": nil, "cologne": nil, "nysiis": nil, "koelnerPhonetik": nil,
	"haasePhonetik": nil, "beiderMorse": nil,
}

func (p *phoneticFilter) filters() ([]filter, error) {
	encode, ok := encoders[p.Encoder]
	if !ok {
		return nil, fmt.Errorf("there is no encoder '%s'", p.Encoder)
	}
	if encode == nil {
		return nil, unsupportedPart("the encoder " + p.Encoder + " is not available")
	}
	return []filter{phonetic{encode, !p.Replace}}, nil
}

// phonetic replaces a word by its code, or adds the code. A word without a code stays.
type phonetic struct {
	encode func(string) string
	beside bool
}

func (f phonetic) filter(s *stream) {
	out := make([]token, 0, len(s.tokens))
	for _, t := range s.tokens {
		code := f.encode(t.text)
		if code == "" || code == t.text {
			out = append(out, t)
			continue
		}
		if f.beside {
			out = append(out, t)
		}
		t.text = code
		out = append(out, t)
	}
	s.tokens = out
}

// asciiUpper returns the alphabetic ASCII characters of text as capitals. ok is false if text has a non-ASCII byte,
// which these codes do not support.
func asciiUpper(text string) (letters string, ok bool) {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z':
			b = append(b, c-'a'+'A')
		case c >= 'A' && c <= 'Z':
			b = append(b, c)
		case c >= 0x80:
			return "", false
		}
	}
	return string(b), true
}

const (
	soundexCodes        = "01230120022455012623010202"
	refinedSoundexCodes = "01360240043788015936020505"
)

// soundex returns the first character and three digits for the following consonants. Equal digits in a row count
// once, even with H or W between them, but not with a vowel between them.
func soundex(text string) string {
	letters, ok := asciiUpper(text)
	if !ok || letters == "" {
		return ""
	}
	code := []byte{letters[0], '0', '0', '0'}
	n, last := 1, soundexCodes[letters[0]-'A']
	for i := 1; i < len(letters) && n < len(code); i++ {
		if letters[i] == 'H' || letters[i] == 'W' {
			continue
		}
		digit := soundexCodes[letters[i]-'A']
		if digit != '0' && digit != last {
			code[n] = digit
			n++
		}
		last = digit
	}
	return string(code)
}

// refinedSoundex returns the first character and a digit for each character, without repetitions.
func refinedSoundex(text string) string {
	letters, ok := asciiUpper(text)
	if !ok || letters == "" {
		return ""
	}
	code := []byte{letters[0]}
	last := byte('*')
	for i := range len(letters) {
		if digit := refinedSoundexCodes[letters[i]-'A']; digit != last {
			code = append(code, digit)
			last = digit
		}
	}
	return string(code)
}

const metaphoneLength = 4

// metaphone returns Lawrence Philips' code of at most four characters.
func metaphone(text string) string {
	letters, ok := asciiUpper(text)
	if !ok || letters == "" {
		return ""
	}
	if len(letters) == 1 {
		return letters
	}
	m := metaphoner{word: metaphoneStart(letters)}
	for m.at < len(m.word) && len(m.code) < metaphoneLength {
		m.step()
	}
	return string(m.code)
}

// metaphoneStart removes or replaces silent characters at the start.
func metaphoneStart(w string) string {
	switch {
	case w[0] == 'K' && w[1] == 'N', w[0] == 'G' && w[1] == 'N', w[0] == 'P' && w[1] == 'N', w[0] == 'A' && w[1] == 'E', w[0] == 'W' && w[1] == 'R':
		return w[1:]
	case w[0] == 'W' && w[1] == 'H':
		return "W" + w[2:]
	case w[0] == 'X':
		return "S" + w[1:]
	}
	return w
}

type metaphoner struct {
	word string
	at   int
	code []byte
}

// is reports whether the character at distance d is in set; false outside the word.
func (m *metaphoner) is(d int, set string) bool {
	i := m.at + d
	return i >= 0 && i < len(m.word) && strings.IndexByte(set, m.word[i]) >= 0
}

func (m *metaphoner) follows(text string) bool { return strings.HasPrefix(m.word[m.at:], text) }

func (m *metaphoner) last() bool { return m.at == len(m.word)-1 }

func (m *metaphoner) put(c ...byte) { m.code = append(m.code, c...) }

const (
	vowels     = "AEIOU"
	frontVowel = "EIY"
	varson     = "CSPTG"
)

// step encodes one character, sometimes with the following ones.
func (m *metaphoner) step() {
	c := m.word[m.at]
	if c != 'C' && m.is(-1, string(c)) { // the second of a doubled character
		m.at++
		return
	}
	switch c {
	case 'A', 'E', 'I', 'O', 'U':
		if m.at == 0 {
			m.put(c)
		}
	case 'B':
		if !m.is(-1, "M") || !m.last() {
			m.put('B')
		}
	case 'C':
		m.stepC()
	case 'D':
		if !m.last() && m.follows("DG") && m.is(2, frontVowel) {
			m.put('J')
			m.at += 2
		} else {
			m.put('T')
		}
	case 'G':
		m.stepG()
	case 'H':
		if !m.last() && !m.is(-1, varson) && m.is(1, vowels) {
			m.put('H')
		}
	case 'F', 'J', 'L', 'M', 'N', 'R':
		m.put(c)
	case 'K':
		if !m.is(-1, "C") {
			m.put('K')
		}
	case 'P':
		if m.is(1, "H") {
			m.put('F')
		} else {
			m.put('P')
		}
	case 'Q':
		m.put('K')
	case 'S':
		if m.follows("SH") || m.follows("SIO") || m.follows("SIA") {
			m.put('X')
		} else {
			m.put('S')
		}
	case 'T':
		switch {
		case m.follows("TIA") || m.follows("TIO"):
			m.put('X')
		case m.follows("TCH"):
		case m.follows("TH"):
			m.put('0')
		default:
			m.put('T')
		}
	case 'V':
		m.put('F')
	case 'W', 'Y':
		if m.is(1, vowels) {
			m.put(c)
		}
	case 'X':
		m.put('K', 'S')
	case 'Z':
		m.put('S')
	}
	m.at++
	if len(m.code) > metaphoneLength {
		m.code = slices.Clip(m.code[:metaphoneLength])
	}
}

func (m *metaphoner) stepC() {
	switch {
	case m.is(-1, "S") && !m.last() && m.is(1, frontVowel): // silent: science
	case m.follows("CIA"):
		m.put('X')
	case !m.last() && m.is(1, frontVowel):
		m.put('S')
	case m.is(-1, "S") && m.is(1, "H"): // school
		m.put('K')
	case m.is(1, "H"):
		if m.at == 0 && len(m.word) >= 3 && m.is(2, vowels) {
			m.put('K')
		} else {
			m.put('X')
		}
	default:
		m.put('K')
	}
}

func (m *metaphoner) stepG() {
	switch {
	case m.at == len(m.word)-2 && m.is(1, "H"), m.at < len(m.word)-2 && m.is(1, "H") && !m.is(2, vowels):
		return
	case m.at > 0 && (m.word[m.at:] == "GN" || m.word[m.at:] == "GNED"):
		return
	}
	if !m.last() && m.is(1, frontVowel) && !m.is(-1, "G") {
		m.put('J')
	} else {
		m.put('K')
	}
}
