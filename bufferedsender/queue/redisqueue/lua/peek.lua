-- Inspect and Contains. ARGV: 4 'end', 'scan' or 'get'; of scan: 5 the cursor; of get: 5 whether
-- bodies are wanted, then keys.
-- Answer: of end: {state}; of scan: {TIME, the lead of now over it, cursor, key, entry…}; of get: {TIME, the lead of now over it, key, entry, holder,
-- records…}
if ARGV[4] == 'end' then
  return {endleases() and 3 or 0}
elseif ARGV[4] == 'scan' then
  local page = call('HSCAN', K, ARGV[5], 'COUNT', 1000)
  return {time, m.off, page[1], unpack(page[2])}
end
local out = {time, m.off}
for i = 6, #ARGV do
  local raw = call('HGET', K, ARGV[i])
  if raw then
    local e = decode(ARGV[i], raw)
    local o = #out
    out[o + 1], out[o + 2], out[o + 3] = e.k, raw, e.fk == 1 and reservation(e.tok).name or ''
    o = o + 3
    if ARGV[5] ~= '' then
      local items = e.front .. e.pile .. e.rep
      for j = 1, #items, 11 do
        local blob = call('HGET', R, sub(items, j, j + 5)) or ''
        o = o + 1
        out[o] = ARGV[5] == '1' and blob or sub(blob, 1, 38 + #e.k)
      end
    end
  end
end
return out
