-- The operations of queue.Admin. ARGV: 4 the operation, 5 the reason, then keys.
-- Answer: {state, how many}
local what, reason = ARGV[4], ARGV[5]
if what == 'pause' then
  call('HSET', M, 'pz', reason)
  return {0, 0}
elseif what == 'resume' then
  call('HDEL', M, 'pz')
  wake()
  return {0, 0}
end
if endleases() then return {3, 0} end
local keys, n, seen = {}, 0, {}
for i = 6, #ARGV do
  if not seen[ARGV[i]] then keys[#keys + 1] = ARGV[i] end
  seen[ARGV[i]] = true
end
load(keys)
for _, k in ipairs(keys) do
  local e = entries[k]
  if what == 'park' and e.fk == 0 and e.pile ~= '' then
    e.fk, e.front, e.pile = 2, e.pile, ''
    e.fc, e.fms, e.far, e.fgn = e.c, e.ms, e.ar, e.gn
    e.rsn, e.pat, e.du = reason, now, 0
    n = n + 1
  elseif what == 'unpark' and e.fk == 2 then
    e.gn, e.fgn = m.gen, m.gen -- for earlier generations it may have been reported as settled
    if e.pile == '' then
      e.c, e.ms, e.ar, e.gn = e.fc, e.fms, e.far, e.fgn
    else
      back(e, min(e.c, e.fc))
    end
    e.pile, e.front, e.fk, e.rsn, e.pat = e.front .. e.pile, '', 0, '', 0
    e.ex, e.de, e.tr = 0, 0, 0
    n = n + 1
  elseif what == 'drop' and e.fk == 2 then
    remove(e.front)
    if e.rep ~= '' then remove(e.rep) end
    e.fk, e.front, e.rsn, e.pat, e.rep, e.rrs = 0, '', '', 0, '', ''
    e.ex, e.de, e.tr, e.du, e.gn = 0, 0, 0, 0, m.gen -- as above
    n = n + 1
  end
end
flush()
if n > 0 then wake() end
return {0, n}
