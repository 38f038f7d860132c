-- Settle and Reserve, either of them or both.
--
-- ARGV: 4 ends, 5 token or '', 6 part, 7 holder, 8 its name, 9 keys, 10 bytes, 11 for, 12 uncertain,
-- 13 whether nothing was leased yet for this token, 14 leases that the holder has elsewhere, 15 whether this
-- is a repeat, 16 bytes of one script, 17 whether this shard remembers the token; then of each end: key, packed;
-- then the keys of Only.
-- Answer: {state, parts, suspects, stale ends…, -1, key, packed, records…}
-- state: 0 nothing more to lease, 1 more may be, 2 the holder has to drain,
-- 3 nothing was done, call again, 4 the ends are settled, call again for the rest,
-- 5 the token was used before.
local nends, token = tonumber(ARGV[4]), ARGV[5]
if endleases() then return {3, 0, 0, -1} end
local stale = {}
local released = false
if nends > 0 then
  local keys = {}
  for i = 1, nends do keys[i] = ARGV[16 + 2 * i] end
  -- Most keys of most calls have only one record, which is committed: they need no entry in memory. In the 99 bytes the
  -- place of the lease begins at 41, the token at 71, the record at 89.
  local raw, others, done, seen = get(K, keys), {}, {}, {}
  local ze = zrem[4]
  for i = 1, nends do
    local v, end_, k = raw[i], ARGV[17 + 2 * i], keys[i]
    if v and #v == 99 and sub(v, 1, 4) == '\4\1\0\0' and sub(v, 71, 86) == sub(end_, 1, 16) and string.byte(end_, 17) == 1
      and sub(end_, 29, 34) == '\0\0\0\0\0\0' and sub(v, 31, 40) == '\0\0\0\0\0\0\0\0\0\0' and not seen[k] then
      done[k] = true
      unlease({ex = 0, tok = sub(v, 71, 88)})
      local g = unpack_('>I4', v, 54)
      gens[g] = (gens[g] or 0) - 1
      m.nk, m.nr, m.b = m.nk - 1, m.nr - 1, m.b - unpack_('>I4', v, 95)
      nhdel, ngone = nhdel + 1, ngone + 1
      hdel[nhdel], gone[ngone], ze[nhdel] = k, sub(v, 89, 94), k
    else
      others[#others + 1] = i
    end
    seen[k] = true
  end
  local rest = {}
  for _, i in ipairs(others) do
    if not done[keys[i]] then rest[#rest + 1] = keys[i] end
  end
  load(rest)
  for _, i in ipairs(others) do
    local e, end_ = entries[keys[i]], ARGV[17 + 2 * i]
    if not e or e.fk ~= 1 or sub(e.tok, 1, 16) ~= sub(end_, 1, 16) then
      stale[#stale + 1] = i - 1
    else
      local fate, done, again, after, unc, at = unpack_('>BI4BI6I6', end_, 17)
      unlease(e)
      if fate == 1 or done * 11 >= #e.front then -- all of it done is a commit, whatever its name
        remove(e.front)
        if e.rep ~= '' then remove(e.rep) end
        e.fk, e.front, e.tok, e.rsn, e.rep, e.rrs = 0, '', '', '', '', ''
        e.ex, e.de, e.tr = 0, 0, 0
      elseif fate == 2 then
        giveback(e, done)
        if after > 0 then e.du = now + after end
        if again == 1 then e.tr = min(e.tr + 1, 65535) end
      else
        park(e, done, now, sub(end_, at))
      end
      released = released or e.pile ~= ''
      if unc > 0 then e.un = max(e.un, now + unc) end
    end
  end
  m.st = m.st + #stale
  flush()
  if released then wake() end
end

local out = {0, 0, 0}
for _, i in ipairs(stale) do out[#out + 1] = i end
out[#out + 1] = -1
if token == '' then return out end

local part, id, keys, left = tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[9]), tonumber(ARGV[10])
local tok = token .. pack('>I2', part)
m.lr = now

-- lease answers with the records in front of an entry.
local function tell(e)
  local seqs = {}
  for i = 1, #e.front, 11 do seqs[#seqs + 1] = sub(e.front, i, i + 5) end
  return seqs
end
local function answer(chosen, keys)
  local want, n = {}, 0
  for _, e in ipairs(chosen) do
    if type(e) == 'string' then
      n = n + 1
      want[n] = sub(e, 41, 46)
    else
      for i = 1, #e.front, 11 do
        n = n + 1
        want[n] = sub(e.front, i, i + 5)
      end
    end
  end
  local blobs = get(R, want)
  local b, o = 0, #out
  for i, e in ipairs(chosen) do
    local k, n = keys[i], 1
    if type(e) == 'string' then
      out[o + 1], out[o + 2] = k, sub(e, 3, 4) .. sub(e, 6, 7) .. sub(e, 41, 46)
    else
      n = #e.front / 11
      out[o + 1], out[o + 2] = k, pack('>I2I2', e.ex, e.tr) .. table.concat(tell(e))
    end
    o = o + 2
    for _ = 1, n do
      b = b + 1
      if not blobs[b] then
        return redis.error_reply('AZQDAMAGED ' .. R .. ' lacks a record of ' .. k)
      end
      o = o + 1
      out[o] = blobs[b]
    end
  end
end

-- For a repeat from another object: a key that is settled here may be leased in another shard, and vice versa.
if ARGV[17] == '1' and call('ZSCORE', Q, token) then
  out[1] = 5
  flush()
  return out
end
local known = call('HGET', W, tok)
if known then -- a repeat: what it has, and nothing else
  local mine, its, ks = {}, {}, cmsgpack.unpack(known)
  load(ks)
  for _, k in ipairs(ks) do
    local e = entries[k]
    if e.fk == 1 and e.tok == tok then mine[#mine + 1], its[#its + 1] = e, k end
  end
  local failed = answer(mine, its)
  if failed then return failed end
  out[1] = call('HEXISTS', W, token .. pack('>I2', part + 1))
  flush()
  return out
end
if ARGV[15] == '1' or m.pz then
  flush()
  return out
end

-- Keys that have become due move to the due ones.
local due = each(D, 1000)
if #due > 0 then
  load(due)
  flush()
  if #due == 1000 then
    out[1] = 4
    return out
  end
end

if ARGV[17] == '1' then
  call('ZADD', Q, now, token)
  call('ZREMRANGEBYRANK', Q, 0, -1025)
end

local chosen, suspects, h, elsewhere = {}, call('ZCARD', S), holder(id), tonumber(ARGV[14])
local only = #ARGV > 17 + 2 * nends
local limit = min(keys, 1000)
local from
local names_ = {}
if only then
  local ks = {}
  for i = 18 + 2 * nends, #ARGV do ks[#ks + 1] = ARGV[i] end
  load(ks)
  local seen = {}
  for _, k in ipairs(ks) do
    local e = entries[k]
    if not seen[k] and e.fk == 0 and e.pile ~= '' and e.un <= now then chosen[#chosen + 1] = e end
    seen[k] = true
  end
elseif keys > 0 then
  from = P
  local alone, ks = suspects > 0 and call('ZCOUNT', S, '-inf', '(0') or 0, nil
  if alone > 0 and h.n + elsewhere == 0 then
    from, m.tun, out[3] = S, 0, 1
    ks = call('ZRANGE', S, 0, 0)
  elseif alone > 0 or h.mode == 2 then
    local long = tonumber(ARGV[11])
    if now >= m.tun + long then m.tun = now + long end
    if now < m.tun then
      out[1] = 2
      flush()
      return out
    end
    -- The holder may get leases of other shards.
    if call('HGET', M, 'n') ~= '1' then h.mode = 1 end
  end
  if not ks and suspects > alone and h.s == 0 then
    from = S
    ks = call('ZRANGEBYSCORE', S, 0, '+inf', 'LIMIT', 0, min(limit, math.ceil(math.sqrt(suspects - alone))))
  end
  ks = ks or call('ZRANGE', P, 0, limit - 1)
  for i, k in ipairs(ks) do ks[i] = sub(k, 7) end
  local raw = get(K, ks)
  local others = {}
  for i, k in ipairs(ks) do
    local v = raw[i]
    if not v then return redis.error_reply('AZQDAMAGED ' .. from .. ' has ' .. k .. ', which is not there') end
    if #v == 51 and sub(v, 1, 4) == '\1\0\0\0' then
      chosen[i] = v -- one record, and nothing else: it needs no entry in memory
    else
      others[#others + 1] = k
    end
  end
  load(others)
  for i, k in ipairs(ks) do
    if not chosen[i] then
      local e = entries[k]
      if e.fk ~= 0 or e.pile == '' then
        return redis.error_reply('AZQDAMAGED ' .. from .. ' has ' .. k .. ', which does not wait')
      end
      chosen[i] = e
    end
  end
  names_ = ks
end

local r = {holder = id, open = 0, unc = tonumber(ARGV[12]), name = ARGV[8]}
local til, cap, mine, ks = now + tonumber(ARGV[11]), tonumber(ARGV[16]), {}, {}
local anything = ARGV[13] == '0'
local more = from == P and #chosen == limit and keys > limit
local leased, nolonger = '\4\1', '\0\0\0\0\0\0'
local tail = pack('>I6I4I2B', til, 11, 0, 0) .. tok
local zp, ze, nfast, tiltext = zrem[1], zadd[4], 0, text(til)
for i, e in ipairs(chosen) do
  local fast = type(e) == 'string'
  local pile = fast and sub(e, 41) or e.pile
  local n, took = 0, 0
  for i = 1, #pile, 11 do
    local size = unpack_('>I4', pile, i + 6)
    if size > left and (n > 0 or anything) then break end
    left = left - size
    took = took + size
    n = n + 1
  end
  if n == 0 then
    more = false
    break
  end
  if took > cap and r.open > 0 then -- it would make this script too long
    more = from == P
    break
  end
  cap = cap - took
  anything = true
  h.mode = h.n + elsewhere > 0 and 1 or not fast and e.de > 1 and 2 or 0
  h.n = h.n + 1
  if not fast and e.ex > 0 then h.s = h.s + 1 end
  r.open = r.open + 1
  if fast then
    local k = names_[i]
    nfast = nfast + 1
    mine[r.open], ks[r.open] = e, k
    hset[nhset + 1], hset[nhset + 2] = k, leased .. sub(e, 3, 24) .. nolonger .. sub(e, 31, 36) .. '\0\0\0\0' .. sub(e, 8, 24) .. tail .. pile
    nhset = nhset + 2
    zp[nfast] = sub(e, 15, 20) .. k
    ze[2 * nfast - 1], ze[2 * nfast] = tiltext, k
  else
    e.front, e.pile = sub(pile, 1, 11 * n), sub(pile, 11 * n + 1)
    e.fk, e.fc, e.fms, e.far, e.fgn = 1, e.c, e.ms, e.ar, e.gn
    e.tok, e.til, e.du = tok, til, 0
    mine[r.open], ks[r.open] = e, e.k
  end
end
m.nw = m.nw - nfast
local failed = answer(mine, ks)
if failed then return failed end
if r.open > 0 then
  res[tok] = r
  call('HSET', W, tok, cmsgpack.pack(ks))
  if more then out[1] = 1 end
end
flush()
return out
