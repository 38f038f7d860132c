-- Refuses a shard that has lost a key. A key that existed when the last script ended and is missing now was deleted by another
-- program, or evicted. Each entry is in one sorted set, and each record in one entry. Only Repair works on such a shard.
for i = 2, 15 do
  if sub(m.has, i, i) == '1' and there[i] == '0' then return redis.error_reply('AZQGONE ' .. KEYS[i]) end
end
if call('HLEN', K) ~= call('ZCARD', P) + call('ZCARD', S) + call('ZCARD', D) + call('ZCARD', E) + call('ZCARD', X) then
  return redis.error_reply('AZQDAMAGED ' .. K .. ' and the sorted sets of its shard disagree')
end
if call('HLEN', R) ~= m.nr then
  return redis.error_reply('AZQDAMAGED ' .. R .. ' and ' .. K .. ' disagree')
end
