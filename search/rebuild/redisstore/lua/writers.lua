-- Returns a part of the writers, behind a cursor. A replica refuses this script, as load.lua.
return redis.call('HSCAN', KEYS[3], ARGV[1], 'COUNT', 1000)
