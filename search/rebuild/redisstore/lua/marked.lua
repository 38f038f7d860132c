-- Returns marks in order. A replica refuses this script, as load.lua.
-- ARGV: 1 and 2 the bounds of ZRANGEBYLEX, 3 the maximum number, 4 as 1 of load.lua
local R, M = KEYS[1], KEYS[2]
local had = redis.call('HMGET', R, 'phase', 'marks', 'by')
if had[1] and had[1] ~= 'idle' and redis.call('ZCARD', M) ~= tonumber(had[2]) then
  return redis.error_reply('AZRLOST ' .. M)
end
if ARGV[4] == '1' and had[3] then redis.call('HSET', R, 'by', had[3]) end
return redis.call('ZRANGEBYLEX', M, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
