-- Removes a shard, its marker last, unless it was created again. ARGV: 1 epoch.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and epoch ~= ARGV[1] then return 0 end
for i = #KEYS, 1, -1 do redis.call('UNLINK', KEYS[i]) end
return 1
