-- Builds everything of a shard anew from its entries: the sorted sets, the counters, who holds what. What has no
-- record any more is dropped, and so are records that no entry has. The leases end. It takes time in proportion to the
-- shard, in one go. ARGV: 4 the most entries that it may have. Answer: {entries, lost records}, or -1 if there are more.
if call('HLEN', K) > tonumber(ARGV[4]) then return {-1, 0} end
call('DEL', P, S, D, E, X, T, W, H, G)
for _, name in ipairs({'b', 'nw', 'nk', 'nr', 'tun'}) do m[name] = 0 end
local all, lost, kept = call('HGETALL', K), 0, {}
local function there(items)
  local have = {}
  for i = 1, #items, 11 do
    local seq = sub(items, i, i + 5)
    if call('HEXISTS', R, seq) == 1 then
      have[#have + 1] = sub(items, i, i + 10)
      kept[seq] = true
    else
      lost = lost + 1
    end
  end
  return table.concat(have)
end
for i = 1, #all, 2 do
  local e = decode(all[i], all[i + 1])
  for _, name in ipairs({'b', 'nw', 'nk', 'nr'}) do m[name] = 0 end
  e.z = 0
  e.raw = true -- differs from whatever it becomes, so that it is written, or removed
  e.pile, e.front, e.rep = there(e.pile), there(e.front), there(e.rep)
  if e.rep == '' then e.rrs = '' end
  if e.fk == 1 then
    giveback(e, 0)
  elseif e.fk == 2 and e.front == '' then
    e.fk, e.rsn, e.pat = 0, '', 0
  end
  entries[e.k] = e
  list[#list + 1] = e
end
gens = {}
local n = #list
for _, seq in ipairs(call('HKEYS', R)) do
  if not kept[seq] then
    ngone = ngone + 1
    gone[ngone] = seq
  end
end
flush()
wake()
return {n, lost}
