-- Settled. ARGV: 4 generation. Answer: 1 settled, 0 not settled, 2 unknown: the shard has no such generation, or Repair has lost a record since.
local at = tonumber(ARGV[4])
if at > m.gen or at <= tonumber(call('HGET', M, 'lg') or 0) then return 2 end
if at == m.gen then
  m.gen = m.gen + 1
  flush()
end
for _, g in ipairs(call('HKEYS', G)) do
  if tonumber(g) <= at then return 0 end
end
return 1
