-- A part of the writers, behind a cursor. Like load.lua it is refused by a replica.
return redis.call('HSCAN', KEYS[3], ARGV[1], 'COUNT', 1000)
