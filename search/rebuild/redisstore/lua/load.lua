-- Returns the record. A replica refuses this script, because its record may be old.
-- ARGV: 1 whether replicas are waited for. If so it writes: WAIT only covers writes of this connection.
-- Answer: {version, record}, nil if there is none.
local had = redis.call('HMGET', KEYS[1], 'version', 'record', 'by')
if not had[1] then return false end
if ARGV[1] == '1' then redis.call('HSET', KEYS[1], 'by', had[3]) end
return {had[1], had[2]}
