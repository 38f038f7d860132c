-- Returns the last call of an adder. ARGV: 4 adder. Answer: {number of its last call, generation, its last part}
local last = call('HGET', A, ARGV[4])
if not last then return {0, 0, 0} end
local n, part, rp, fo, gen = unpack_('>I6I4I4I4I4', last)
return {n, gen, part}
