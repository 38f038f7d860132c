-- The record. A replica refuses it: its record may be old.
-- ARGV: 1 whether replicas are waited for. Then something is written: WAIT asks nobody about what was confirmed before.
-- Answer: {version, record}, nil if there is none.
local had = redis.call('HMGET', KEYS[1], 'version', 'record', 'by')
if not had[1] then return false end
if ARGV[1] == '1' then redis.call('HSET', KEYS[1], 'by', had[3]) end
return {had[1], had[2]}
