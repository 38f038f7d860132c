-- For a watcher: {now, number of due keys, time at which the next becomes due or -1, number of keys, whether TIME went back,
-- number of parked keys, their bytes}
local soon = -1
for _, z in ipairs({D, E}) do
  local f = call('ZRANGE', z, 0, 0, 'WITHSCORES')
  if f[2] and (soon < 0 or tonumber(f[2]) < soon) then soon = tonumber(f[2]) end
end
local due = call('ZCARD', P) + call('ZCARD', S)
if m.tun > now and (soon < 0 or m.tun < soon) then soon = m.tun end
return {now, due, soon, call('HLEN', K), fell > 0 and 1 or 0, call('ZCARD', X), m.pb}
