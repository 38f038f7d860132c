-- Creates a missing shard, and describes it. The marker is the first key that is written.
-- ARGV: 1 format version, 2 shards, 3 this one, 4 a random epoch, 5 name, 6 index, 7 endpoint, 8 whether it is made.
-- Answer: {made, version, shards, shard, epoch, name, index, endpoint}
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then
  return redis.error_reply('AZQCLOBBERED ' .. KEYS[1] .. ' is a ' .. kind .. ', not a hash')
end
local made = 0
if kind == 'none' then
  if ARGV[8] ~= '1' then return {0} end
  for i = 2, 15 do
    if redis.call('EXISTS', KEYS[i]) == 1 then
      return redis.error_reply('AZQMARKER ' .. KEYS[1] .. ' is missing, and ' .. KEYS[i] .. ' is there')
    end
  end
  redis.call('HSET', KEYS[1], 'v', ARGV[1], 'n', ARGV[2], 'i', ARGV[3], 'epoch', ARGV[4], 'q', ARGV[5], 'ix', ARGV[6], 'ep', ARGV[7], 'gen', 1)
  made = 1
end
if redis.call('HGET', KEYS[1], 'v') == '1' then redis.call('HSET', KEYS[1], 'v', ARGV[1]) end
local v = redis.call('HMGET', KEYS[1], 'v', 'n', 'i', 'epoch', 'q', 'ix', 'ep')
local out = {made}
for i = 1, 7 do out[i + 1] = v[i] or '' end
return out
