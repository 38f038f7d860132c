-- Removes the marks of keys in some of the rounds between two bounds.
-- ARGV: 1 and 2 the bounds of ZRANGEBYLEX, 3 the maximum number of rounds, then the keys, up to some thousand.
-- Answer: the lower bound of the rounds that are left, '' if there are none.
local R, M = KEYS[1], KEYS[2]
local from, removed = ARGV[1], 0
for _ = 1, tonumber(ARGV[3]) do
  local first = redis.call('ZRANGEBYLEX', M, from, ARGV[2], 'LIMIT', 0, 1)[1]
  if not first then
    from = ''
    break
  end
  local round = string.sub(first, 1, 16)
  local members = {}
  for i = 4, #ARGV do members[i - 3] = round .. ARGV[i] end
  removed = removed + redis.call('ZREM', M, unpack(members))
  from = '[' .. string.sub(round, 1, 15) .. string.char(string.byte(round, 16) + 1) -- behind all keys of the round
end
if removed > 0 then redis.call('HINCRBY', R, 'marks', -removed) end
return from
