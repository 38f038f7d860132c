-- Adds keys under the round of the record.
-- ARGV: 1 epoch, then the keys, up to some thousand.
-- Answer: the round, nil if the record is of another epoch, or in a phase without marks.
local R, M = KEYS[1], KEYS[2]
local had = redis.call('HMGET', R, 'epoch', 'phase', 'round', 'marks')
if had[1] ~= ARGV[1] or had[2] ~= 'marking' and had[2] ~= 'swapped' then return false end
local round, marks = had[3], tonumber(had[4])
local members = {}
for i = 2, #ARGV do
  members[2 * i - 3], members[2 * i - 2] = '0', round .. ARGV[i]
end
if #members > 0 then marks = marks + redis.call('ZADD', M, unpack(members)) end
-- Written even if all keys were marked already, so that WAIT needs replicas: a master that was cut off must not succeed alone.
redis.call('HSET', R, 'marks', string.format('%.0f', marks))
return round
