#!lua flags=allow-oom
-- Removes a shard, its marker last.
for i = #KEYS, 1, -1 do redis.call('UNLINK', KEYS[i]) end
return 1
