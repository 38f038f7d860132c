-- Extend. ARGV: 4 how long, then of each lease: key, token and, if it is requested, one byte more.
-- Answer: {state, lost…}; state 3: call again.
if endleases() then return {3} end
local keys, out = {}, {0}
for i = 5, #ARGV, 2 do keys[#keys + 1] = ARGV[i] end
load(keys)
for i, k in ipairs(keys) do
  local e = entries[k]
  if e.fk == 1 and sub(e.tok, 1, 16) == sub(ARGV[4 + 2 * i], 1, 16) then
    e.til = now + tonumber(ARGV[4])
    if #ARGV[4 + 2 * i] > 16 then e.rsn = '!' end
  else
    out[#out + 1] = i - 1
    m.st = m.st + 1
  end
end
flush()
return out
