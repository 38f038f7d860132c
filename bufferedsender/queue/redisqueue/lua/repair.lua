-- Rebuilds a shard from its entries and records: the sorted sets, the counters, the holders. An entry that
-- is gone is made from its records, which name their key; where even its sorted set is gone the key waits. Records that are gone
-- are counted, and so are those that no entry can be made from. The leases end, and their keys are withheld as after leases that
-- run out, because requests of the holders may be in flight. The time is proportional to the size of the shard. ARGV: 4 the most entries that it may have. Answer: {entries, lost records, keys of Redis that were gone…}, or -1 if
-- there are more.
if max(call('HLEN', K), m.nk) > tonumber(ARGV[4]) then return {-1, 0} end
local out = {0, 0}
for i = 2, 15 do
  if sub(m.has, i, i) == '1' and there[i] == '0' then out[#out + 1] = KEYS[i] end
end
local parked, delayed, leased = {}, {}, {}
for of, z in pairs({[parked] = X, [delayed] = D, [leased] = E}) do
  local l = call('ZRANGE', z, 0, -1, 'WITHSCORES')
  for i = 1, #l, 2 do of[l[i]] = tonumber(l[i + 1]) end
end
local uncertain, longest = {}, 0 -- of the reservations
local reservations = call('HGETALL', T)
for i = 1, #reservations, 2 do
  local unc = unpack_('>I6', reservations[i + 1], 23)
  uncertain[reservations[i]], longest = unc, max(longest, unc)
end
if #reservations == 0 then longest = 5000 end -- they are gone too
for k, til in pairs(leased) do delayed[k] = max(delayed[k] or 0, til + longest) end -- for keys without an entry
call('DEL', P, S, D, E, X, T, W, H, G, Y)
for _, name in ipairs({'b', 'pb', 'nw', 'nk', 'nr', 'tun'}) do m[name] = 0 end
local all, lost, kept = call('HGETALL', K), 0, {}
local function still(items)
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
  for _, name in ipairs({'b', 'pb', 'nw', 'nk', 'nr'}) do m[name] = 0 end
  e.z = 0
  e.raw = true -- differs from whatever it becomes, so that it is written, or removed
  e.pile, e.front, e.rep = still(e.pile), still(e.front), still(e.rep)
  if e.rep == '' then e.rrs = '' end
  if e.fk == 1 then
    e.un = max(e.un, e.til + (uncertain[e.tok] or longest))
    giveback(e, 0)
  elseif e.fk == 2 and e.front == '' then
    e.fk, e.rsn, e.pat = 0, '', 0
  end
  entries[e.k] = e
  list[#list + 1] = e
end

-- A missing entry gets the records of the key from the last replacing one on. They have the oldest generation, so that callers
-- still wait for them.
local function made(k)
  local e = decode(k, false)
  entries[k] = e
  list[#list + 1] = e
  e.un = delayed[k] or 0
  return e
end
local missing = {}
for _, seq in ipairs(call('HKEYS', R)) do
  if not kept[seq] then missing[#missing + 1] = (unpack_('>I6', seq)) end
end
table.sort(missing)
for i, seq in ipairs(missing) do missing[i] = pack('>I6', seq) end
local new = {}
for i = 1, #missing, 100 do -- with their bodies
  for j, blob in ipairs(call('HMGET', R, unpack(missing, i, min(i + 99, #missing)))) do
    local seq, k = missing[i + j - 1], nil
    if #blob >= 38 and string.byte(blob, 9) >= 128 then
      k = sub(blob, 39, 38 + unpack_('>I2', blob, 37))
    end
    local e = k and (new[k] or not entries[k] and made(k))
    if not e then
      lost = lost + 1
      ngone = ngone + 1
      gone[ngone] = seq
    else
      new[k] = e
      local op, class, since = unpack_('>BBI6', blob)
      if op <= 2 then
        remove(e.pile)
        e.pile = ''
      end
      if e.pile == '' then
        e.c, e.ms, e.ar, e.gn = class, since == 0 and now or min(max(since, now - 86400000), now), unpack_('>I6', seq), 1
      end
      e.c = min(e.c, class)
      e.pile = e.pile .. seq .. pack('>I4B', #blob - 38, op <= 2 and 1 or 0)
    end
  end
end
for k, e in pairs(new) do
  if parked[k] then
    e.fk, e.front, e.pile, e.pat, e.rsn = 2, e.pile, '', parked[k], 'it was parked, and Repair does not know why'
    e.fc, e.fms, e.far, e.fgn = e.c, e.ms, e.ar, e.gn
  end
end
for k in pairs(delayed) do
  if not entries[k] then made(k) end
end
gens = {}
for _, name in ipairs({'b', 'pb', 'nw', 'nk', 'nr'}) do m[name] = 0 end
local adders = call('HGETALL', A)
for i = 1, #adders, 2 do call('ZADD', Y, unpack_('>I6', adders[i + 1], 23), adders[i]) end
if lost > 0 then -- whoever has appended until now cannot be told that it is settled
  call('HSET', M, 'lg', m.gen)
  m.gen = m.gen + 1
end
out[2] = lost
flush()
out[1] = m.nk
wake()
return out
