-- Stats. Answer: {state, waiting, leased, parked, bytes, class and time of the oldest place or -1, appended,
-- replaced, folded, stale, expired, last reserved, paused, reason, estimated, bytes that are parked}
if endleases() then return {3} end
flush()
local oldest, estimated = -1, 0
local function older(s)
  if oldest < 0 or s < oldest then oldest = s end
end
for _, z in ipairs({P, S}) do
  for _, from in ipairs({'-inf', 0}) do -- what goes alone comes before zero
    local f = call('ZRANGEBYSCORE', z, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if f[2] then older(tonumber(f[2]) % 70368744177664) end
  end
end
for _, z in ipairs({D, E}) do -- these are in another order: the first thousand are asked
  local ks = call('ZRANGE', z, 0, 1000)
  if #ks > 1000 then estimated = 1 end
  load(ks)
  for _, k in ipairs(ks) do
    local e = entries[k]
    if e.fk == 1 then
      older(e.fc * 4398046511104 + e.fms)
    end
    if e.pile ~= '' then older(score(e) % 70368744177664) end
  end
end
local v = call('HMGET', M, 'nw', 'b', 'pb')
return {0, tonumber(v[1]), call('ZCARD', E), call('ZCARD', X), tonumber(v[2]), oldest < 0 and oldest or oldest - m.off, m.ap, m.rp, m.fo, m.st, m.ex,
  m.lr > 0 and m.lr - m.off or 0, m.pz and 1 or 0, m.pz or '', estimated, tonumber(v[3])}
