-- Changes the record if it has the version that was read. It may do so on a server whose memory is full: a rebuild that
-- cannot end does not free its marks.
-- ARGV: 1 that version, 0 for none, 2 the next version, 3 the name of this call, 4 record, 5 epoch, 6 round, 7 phase
-- Answer: the new version, nil if the record had another version.
local R, M = KEYS[1], KEYS[2]
local had = redis.call('HMGET', R, 'version', 'by')
if (had[1] or '0') ~= ARGV[1] then
  if not had[1] or had[2] ~= ARGV[3] then return false end
  redis.call('HSET', R, 'by', ARGV[3]) -- an earlier attempt of this call, whose answer was lost; written for WAIT
  return had[1]
end
local version = ARGV[2]
if not had[1] then
  -- Not 1: after a loss of all keys, readers of the lost record must not take this one for an older one.
  local t = redis.call('TIME')
  version = string.format('%d%06d', t[1], t[2])
end
redis.call('HSET', R, 'version', version, 'by', ARGV[3], 'record', ARGV[4], 'epoch', ARGV[5], 'round', ARGV[6], 'phase', ARGV[7])
-- While nothing is marked, leftover marks mean nothing: their count starts over.
if ARGV[7] == 'idle' or not had[1] then redis.call('HSET', R, 'marks', redis.call('ZCARD', M)) end
return version
