redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
return 1
