-- The beginning of every script of a shard: its keys, its clock, its marker, and the entries
-- of its keys, which are read (load), changed in memory, and written (flush). Nothing is written before a
-- script has checked everything that it could refuse.
--
-- ARGV[1] is TIME: '' for that of the server, or milliseconds that a test sets. now is TIME plus all of its steps back: no
-- lease or delay ends later than its own length after the first script that follows.
-- ARGV[2] is the epoch of the shard as the caller knows it.
--
-- An entry e describes a key; entry.go has the bytes.
--   fk               the records in front: 0 none, 1 leased, 2 parked
--   ex, de, tr       leases that ran out, deaths, tries
--   c, ms, ar, gn    the place of the pile: class, time, arrival, generation
--   du, un           not due before, uncertain until
--   pile, front      records, 11 bytes each: sequence number, size, whether it replaces
--   fc, fms, far, fgn  the place of the records in front
--   tok, til         token and part of the reservation, end of the lease
--   pat, rsn         when and why it was parked; rsn of a lease says whether it is requested
--   rep, rrs         the parked record that was replaced, and the reason of its park
--   lo               the sorted set that it is in: 0 none, 1 P, 2 S, 3 D, 4 E, 5 X
local M, K, R, P, S, D, E, X, T, W, H, A, Y, G, Q = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5],
  KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local call, pack, unpack_, sub, floor = redis.call, struct.pack, struct.unpack, string.sub, math.floor
local max, min = math.max, math.min

local kinds = {'hash', 'hash', 'hash', 'zset', 'zset', 'zset', 'zset', 'zset', 'hash', 'hash', 'hash', 'hash', 'zset', 'hash', 'zset'}
local there = {} -- '1' for each key that is there
for i = 1, 15 do
  local kind = call('TYPE', KEYS[i]).ok
  if kind ~= kinds[i] and kind ~= 'none' then
    return redis.error_reply('AZQCLOBBERED ' .. KEYS[i] .. ' is a ' .. kind .. ', not a ' .. kinds[i])
  end
  there[i] = kind == 'none' and '0' or '1'
end

local names = {'gen', 'seq', 'tun', 'b', 'pb', 'nw', 'nk', 'nr', 'ap', 'rp', 'fo', 'st', 'ex', 'lr', 'tm', 'off'}
local m = {}
do
  local v = call('HMGET', M, 'epoch', 'pz', 'has', unpack(names))
  if v[1] ~= ARGV[2] then
    return redis.error_reply('AZQLOST ' .. M)
  end
  m.pz, m.has = v[2], v[3] or ''
  for i, name in ipairs(names) do
    m[name] = tonumber(v[3 + i] or 0)
  end
end

-- The time of the server may go back: it was set, or another node has become the master.
local time = tonumber(ARGV[1])
if not time then
  local t = call('TIME')
  time = t[1] * 1000 + floor(t[2] / 1000)
end
local fell = m.tm - time
if fell > 0 then m.off = m.off + fell end
m.tm = time
local now = time + m.off

local sets = {P, S, D, E, X}
local entries = {} -- by key
local list = {}    -- in the order of loading
local newblobs, nnew = {}, 0
local gone, ngone = {}, 0 -- records to remove
local gens = {}
local hset, nhset, hdel, nhdel = {}, 0, {}, 0 -- entries
local zadd, zrem = {{}, {}, {}, {}, {}}, {{}, {}, {}, {}, {}}
local res, holders = {}, {} -- reservations by token and part, holders by ID

-- many runs a command with many arguments, within the stack of Lua.
local function many(cmd, key, args)
  local n = #args
  if n == 0 then return end
  if n <= 4000 then return call(cmd, key, unpack(args)) end
  local all
  for i = 1, n, 4000 do
    local r = call(cmd, key, unpack(args, i, min(i + 3999, n)))
    if type(r) == 'table' then
      if not all then all = r else for _, v in ipairs(r) do all[#all + 1] = v end end
    end
  end
  return all
end

-- get is HMGET of any length. A missing field is false, so lists are counted by hand.
local function get(key, fields)
  local n = #fields
  if n == 0 then return {} end
  if n <= 4000 then return call('HMGET', key, unpack(fields)) end
  local all = {}
  for i = 1, n, 4000 do
    local r = call('HMGET', key, unpack(fields, i, min(i + 3999, n)))
    for j = 1, min(4000, n - i + 1) do all[i + j - 1] = r[j] end
  end
  return all
end

local function bytes(items)
  local n = #items
  if n == 0 then return 0 end
  if n == 11 then return (unpack_('>I4', items, 7)) end
  local sum = 0
  for i = 7, n, 11 do sum = sum + unpack_('>I4', items, i) end
  return sum
end

local function remove(items)
  for i = 1, #items, 11 do
    ngone = ngone + 1
    gone[ngone] = sub(items, i, i + 5)
  end
end

local function member(e) return pack('>I6', e.ar) .. e.k end

-- score is the place: class first, then time. Arrival is the beginning of the member. Suspects that go alone are below zero.
local function score(e) return e.c * 4398046511104 + e.ms - (e.de > 1 and 70368744177664 or 0) end

-- count adds what an entry contributes to the counters of the marker, or takes it away.
local function count(e, sign)
  local pile, fk = e.pile ~= '', e.fk
  if pile or fk ~= 0 then
    m.nk = m.nk + sign
    m.b = m.b + sign * (bytes(e.pile) + bytes(e.front))
    m.nr = m.nr + sign * ((#e.pile + #e.front) / 11)
    if pile then m.nw = m.nw + sign end
    if fk == 2 then
      m.pb = max(0, m.pb + sign * bytes(e.front)) -- an older version did not count it
    else
      if pile then gens[e.gn] = (gens[e.gn] or 0) + sign end
      if fk == 1 then gens[e.fgn] = (gens[e.fgn] or 0) + sign end
    end
  end
  if e.rep ~= '' then m.nr = m.nr + sign end
end

-- The defaults of an entry.
local blank = {__index = {raw = false, fk = 0, ex = 0, de = 0, tr = 0, c = 0, ms = 0, ar = 0, gn = 0, du = 0, un = 0, pile = '', front = '',
  fc = 0, fms = 0, far = 0, fgn = 0, tok = '', til = 0, pat = 0, rsn = '', rep = '', rrs = '', lo = 0}}

local function decode(k, raw)
  if not raw then return setmetatable({k = k}, blank) end
  local lo, fk, ex, de, tr, c, ms, ar, gn, du, un, np, at = unpack_('>BBI2BI2BI6I6I4I6I6I4', raw)
  local e = setmetatable({k = k, raw = raw, fk = fk, ex = ex, de = de, tr = tr, c = c, ms = ms, ar = ar, gn = gn, du = du, un = un, lo = lo}, blank)
  if #raw == at + np - 1 then
    e.pile = sub(raw, at)
  else
    e.pile = sub(raw, at, at + np - 1)
    at = at + np
    local til, nf, nrsn, nrep
    e.fc, e.fms, e.far, e.fgn, til, nf, nrsn, nrep, at = unpack_('>BI6I6I4I6I4I2B', raw, at)
    if fk == 1 then
      e.til = til
      e.tok = sub(raw, at, at + 17)
      at = at + 18
    elseif fk == 2 then
      e.pat = til
    end
    e.front = sub(raw, at, at + nf - 1)
    at = at + nf
    e.rsn = sub(raw, at, at + nrsn - 1)
    at = at + nrsn
    if nrep > 0 then
      e.rep = sub(raw, at, at + 10)
      e.rrs = sub(raw, at + 11)
    end
  end
  count(e, -1)
  e.z, e.zm = lo, lo <= 2 and lo > 0 and member(e) or k
  return e
end

local function encode(e)
  local s = pack('>BBI2BI2BI6I6I4I6I6I4', e.lo, e.fk, e.ex, e.de, e.tr, e.c, e.ms, e.ar, e.gn, e.du, e.un, #e.pile) .. e.pile
  if e.fk == 0 and e.rep == '' then return s end
  return s .. pack('>BI6I6I4I6I4I2B', e.fc, e.fms, e.far, e.fgn, e.fk == 1 and e.til or e.pat, #e.front, #e.rsn, #e.rep)
    .. (e.fk == 1 and e.tok or '') .. e.front .. e.rsn .. e.rep .. e.rrs
end

-- load reads the entries of keys that are not read yet.
local function load(keys)
  local ask, n = {}, 0
  for _, k in ipairs(keys) do
    if entries[k] == nil then
      entries[k] = false
      n = n + 1
      ask[n] = k
    end
  end
  local raw = get(K, ask)
  local nl = #list
  for i = 1, n do
    local e = decode(ask[i], raw[i])
    entries[ask[i]] = e
    list[nl + i] = e
  end
end

local function reservation(tok)
  local r = res[tok]
  if not r then
    local raw = call('HGET', T, tok)
    if not raw then -- lost: its keys run out all the same
      r = {holder = string.rep('\0', 16), open = 0, unc = 0, name = ''}
    else
      local open, unc, at = unpack_('>I2xxI6', raw, 19)
      r = {holder = sub(raw, 1, 16), open = open, unc = unc, name = sub(raw, at)}
    end
    res[tok] = r
  end
  return r
end

-- A holder has n leases, s of them of suspects. mode is 1 if it has been given anything else since it had none, and 2 if
-- it has one lease only, of a suspect that goes alone.
local function holder(id)
  local h = holders[id]
  if not h then
    local raw = call('HGET', H, id)
    h = {n = 0, s = 0, mode = 0}
    if raw then
      h.n, h.s = unpack_('>I4I4', raw)
      h.mode = string.byte(raw, 9) or 1
    end
    holders[id] = h
  end
  return h
end

-- Scores are written as text once for all that have the same: Redis would format each.
local texts = {}
local function text(n)
  local s = texts[n]
  if not s then
    s = string.format('%d', n)
    texts[n] = s
  end
  return s
end

-- flush writes everything that has changed, and which keys are there then: see intact.lua. Nothing else is written after it.
local function flush()
  for _, e in ipairs(list) do
    local z, zm, zs = 0, e.k, 0
    if e.fk == 1 then
      z, zs = 4, e.til
    elseif e.fk == 2 then
      z, zs = 5, e.pat
    else
      local wait = e.pile == '' and e.un or max(e.du, e.un)
      if e.pile == '' then -- nothing of it is left, but perhaps a request under way
        if e.rep ~= '' then remove(e.rep) end
        e.ex, e.de, e.tr, e.du, e.rep, e.rrs, e.c, e.ms, e.ar, e.gn = 0, 0, 0, 0, '', '', 0, 0, 0, 0
      end
      if wait > now then
        z, zs = 3, wait
      elseif e.pile ~= '' then
        z, zm, zs = e.ex > 0 and 2 or 1, member(e), score(e)
      end
    end
    e.lo = z
    count(e, 1)
    local s = z ~= 0 and encode(e)
    if s ~= e.raw then
      if s then
        hset[nhset + 1], hset[nhset + 2] = e.k, s
        nhset = nhset + 2
      else
        nhdel = nhdel + 1
        hdel[nhdel] = e.k
      end
      local had = e.z or 0
      if had ~= 0 and (had ~= z or e.zm ~= zm) then
        local l = zrem[had]
        l[#l + 1] = e.zm
      end
      if z ~= 0 then
        local l = zadd[z]
        local nl = #l
        l[nl + 1], l[nl + 2] = text(zs), zm
      end
    end
  end
  many('HSET', R, newblobs)
  many('HSET', K, hset)
  many('HDEL', K, hdel)
  for i = 1, 5 do
    many('ZREM', sets[i], zrem[i])
    many('ZADD', sets[i], zadd[i])
  end
  many('HDEL', R, gone)
  for tok, r in pairs(res) do
    if r.open > 0 then
      call('HSET', T, tok, r.holder .. pack('>I2I2I2I6', 0, r.open, 0, r.unc) .. r.name)
    else
      call('HDEL', T, tok)
      call('HDEL', W, tok)
    end
  end
  for id, h in pairs(holders) do
    if h.n > 0 then call('HSET', H, id, pack('>I4I4B', h.n, max(h.s, 0), h.mode)) else call('HDEL', H, id) end
  end
  for g, d in pairs(gens) do
    if d ~= 0 and call('HINCRBY', G, g, d) <= 0 then call('HDEL', G, g) end
  end
  for i = 2, 15 do there[i] = tostring(call('EXISTS', KEYS[i])) end
  local args = {'has', table.concat(there)}
  for i, name in ipairs(names) do
    args[2 * i + 1], args[2 * i + 2] = name, text(m[name])
  end
  call('HSET', M, unpack(args))
  entries, list, newblobs, nnew, gone, ngone, gens, res, holders = {}, {}, {}, 0, {}, 0, {}, {}, {}
  hset, nhset, hdel, nhdel, zadd, zrem = {}, 0, {}, 0, {{}, {}, {}, {}, {}}, {{}, {}, {}, {}, {}}
end

-- back gives the pile the place of what was in front of it, though its own may be the earlier one: it makes no
-- difference whether an Append comes before or after the detected end of a lease. The older generation stays.
local function back(e, class)
  e.c, e.ms, e.ar, e.gn = class, e.fms, e.far, min(e.gn, e.fgn)
end

local function replaces(items) return string.byte(items, 11) == 1 end

-- giveback puts the records in front before the pile, except the first done records.
local function giveback(e, done)
  local cut = min(done * 11, #e.front)
  remove(sub(e.front, 1, cut))
  local rest = sub(e.front, cut + 1)
  e.fk, e.front, e.tok, e.rsn = 0, '', '', ''
  if rest == '' then return end
  if e.pile == '' then
    e.pile, e.c, e.ms, e.ar, e.gn = rest, e.fc, e.fms, e.far, e.fgn
  elseif replaces(e.pile) then
    m.rp = m.rp + #rest / 11
    remove(rest)
    back(e, e.c)
  else
    e.pile = rest .. e.pile
    back(e, min(e.c, e.fc))
  end
end

-- giveway unparks e, because a record replaces the parked ones. The newest of these is kept.
local function giveway(e)
  if e.rep ~= '' then remove(e.rep) end
  remove(sub(e.front, 1, -12))
  e.rep, e.rrs = sub(e.front, -11), e.rsn
  e.fk, e.front, e.rsn, e.pat, e.du, e.tr = 0, '', '', 0, 0, 0
end

-- park parks the leased records, except the first done records.
local function park(e, done, at, reason)
  local cut = min(done * 11, #e.front)
  remove(sub(e.front, 1, cut))
  e.front = sub(e.front, cut + 1)
  e.tok = ''
  if e.front == '' then
    e.fk, e.rsn = 0, ''
    return
  end
  e.fk, e.pat, e.rsn = 2, at, reason
  if e.pile ~= '' and replaces(e.pile) then
    m.rp = m.rp + #e.front / 11
    giveway(e) -- the pile keeps its place
  end
end

-- unlease takes e from its reservation, which it returns.
local function unlease(e)
  local r = reservation(e.tok)
  r.open = max(r.open - 1, 0)
  local h = holder(r.holder)
  h.n = h.n - 1
  if e.ex > 0 then h.s = h.s - 1 end
  return r
end

local function each(key, limit) -- members whose time has come
  return call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, limit)
end

-- endleases ends the leases that have run out, and returns whether there are more of them: then
-- the caller repeats the script, so that no script is long.
local function endleases()
  local over = each(E, 1000)
  if #over == 0 then return false end
  load(over)
  for _, k in ipairs(over) do
    local e = entries[k]
    if e.fk == 1 then
      local at, r = e.til, unlease(e)
      local alone = e.rsn ~= '' and holder(r.holder).mode ~= 1
      e.un = max(e.un, at + r.unc)
      if e.de == 0 or e.de == 1 and e.rsn ~= '' or alone then e.de = min(e.de + 1, 255) end
      e.ex = min(e.ex + 1, 65535)
      m.ex = m.ex + 1
      if alone and e.de >= 3 then
        park(e, 0, at, e.de .. ' holders died with it, the last one with nothing else')
      else
        giveback(e, 0)
      end
    end
  end
  flush()
  return #over == 1000
end

-- wake notifies the watchers of all processes. A user without the right to publish must not get an error for a write.
local function wake()
  redis.pcall('PUBLISH', ARGV[3], '')
end
