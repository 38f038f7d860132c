-- Append: records and folds of one call, or of a part of it.
--
-- ARGV: 4 adder, 5 number, 6 part, 7 most keys, 8 most bytes (0: no bound), 9 folds, 10 records, then
-- of each fold: key, count, last, how many records, the records (their origin is left to this script);
-- and of each record: key, record.
-- Answer: {replaced, folded, generation, whether it is a repeat, key, n, records and numbers…}: sums over the parts of the call so
-- far, and the piles that have grown too long.
local adder, number, part = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local nfolds, nrecords = tonumber(ARGV[9]), tonumber(ARGV[10])
local replaced, folded = 0, 0
local keys, at = {}, 11
for i = 1, nfolds do
  keys[i] = ARGV[at]
  at = at + 4 + tonumber(ARGV[at + 3])
end
for i = 1, nrecords do
  keys[nfolds + i] = ARGV[at + 2 * i - 2]
end

-- piles are the present piles of the keys of records. Piles that are only folded are left out: the folding caller has them.
local function answer(gen, repeated)
  local out = {replaced, folded, gen, repeated}
  local seen, told = {}, 0
  for i = nfolds + 1, nfolds + nrecords do
    local k = keys[i]
    local e = entries[k]
    if e and not seen[k] and #e.pile >= 704 and told < 2097152 then -- the others are told of when they come again
      told = told + bytes(sub(e.pile, 1, 704))
      local seqs = {}
      for i = 1, 704, 11 do seqs[#seqs + 1] = sub(e.pile, i, i + 5) end
      out[#out + 1] = k
      out[#out + 1] = table.concat(seqs)
      for i, blob in ipairs(get(R, seqs)) do
        if not blob then return redis.error_reply('AZQDAMAGED ' .. R .. ' lacks a record of ' .. k) end
        out[#out + 1] = blob
      end
    end
    seen[k] = true
  end
  return out
end

local last = call('HGET', A, adder)
if last then
  local n, p, rp, fo, gen, when = unpack_('>I6I4I4I4I4I6', last)
  if number < n or number == n and now - when > 86400000 then
    return redis.error_reply('AZQTOOOLD')
  end
  if number == n then
    replaced, folded = rp, fo
    if part <= p then
      load(keys)
      local out = answer(gen, 1)
      -- Written again, so that WAIT has something of this connection to wait for.
      call('HSET', A, adder, last)
      return out
    end
    if part ~= p + 1 then return redis.error_reply('AZQPART') end
  elseif part ~= 0 then
    return redis.error_reply('AZQPART')
  end
elseif part ~= 0 then
  return redis.error_reply('AZQPART')
end

-- Most keys of most calls are new and occur once: they need no entry in memory.
local often, plain = {}, {}
for _, k in ipairs(keys) do often[k] = (often[k] or 0) + 1 end
do
  local once, others = {}, {}
  for i, k in ipairs(keys) do -- a key that comes often may have a long entry: it is read once
    if i > nfolds and often[k] == 1 then once[#once + 1] = k else others[#others + 1] = k end
  end
  local raw = get(K, once)
  for i, k in ipairs(once) do
    if not raw[i] then plain[k] = true else others[#others + 1] = k end
  end
  load(others)
end
local keysbefore, bytesbefore, parked = 0, 0, call('ZCARD', X)
for _, e in ipairs(list) do -- what is loaded is not counted in m at the moment
  if e.pile ~= '' or e.fk ~= 0 then
    keysbefore = keysbefore + 1
    bytesbefore = bytesbefore + bytes(e.pile) + bytes(e.front)
    if e.fk == 2 then parked = parked - 1 end
  end
end

at = 11
for i = 1, nfolds do
  local e, n, lastseq, nrec = entries[ARGV[at]], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  if #e.pile >= 11 * n and unpack_('>I6', e.pile, 11 * n - 10) == lastseq then
    local old = sub(e.pile, 1, 11 * n)
    local origin = call('HGET', R, sub(old, -11, -6))
    if not origin then return redis.error_reply('AZQDAMAGED ' .. R .. ' lacks a record of ' .. e.k) end
    origin = sub(origin, 13, 36)
    remove(sub(old, 1, 11 * (n - nrec)))
    local items = {}
    for j = 1, nrec do
      local blob = ARGV[at + 3 + j]
      local seq = sub(old, 11 * (n - nrec + j) - 10, 11 * (n - nrec + j) - 5) -- so that they rise still
      items[j] = seq .. pack('>I4B', #blob - 38, string.byte(blob) <= 2 and 1 or 0)
      newblobs[nnew + 1], newblobs[nnew + 2] = seq, sub(blob, 1, 12) .. origin .. sub(blob, 37)
      nnew = nnew + 2
    end
    e.pile = table.concat(items) .. sub(e.pile, 11 * n + 1)
    folded = folded + n - nrec
    m.fo = m.fo + n - nrec
  end
  at = at + 4 + nrec
end

-- Records for a pile are joined once, because a growing string is copied each time.
local behind = {}
local function join(e)
  local l = behind[e]
  if l then
    e.pile = e.pile .. table.concat(l)
    behind[e] = nil
  end
end
local added, nplain, plainbytes = 0, 0, 0
local zp, before = zadd[1], now - 86400000
for i = 1, nrecords do
  local k, blob = ARGV[at], ARGV[at + 1]
  at = at + 2
  local op, class, since = unpack_('>BBI6', blob)
  local seqn = m.seq + 1
  m.seq = seqn
  local seq = pack('>I6', seqn)
  local size = #blob - 38
  newblobs[nnew + 1], newblobs[nnew + 2] = seq, blob
  nnew = nnew + 2
  if since == 0 or since > now then since = now elseif since < before then since = before end
  if plain[k] then
    local n = 2 * nplain
    hset[n + 1], hset[n + 2] = k, pack('>BBI2BI2BI6I6I4I6I6I4I6I4B', 1, 0, 0, 0, 0, class, since, seqn, m.gen, 0, 0, 11, seqn, size, op <= 2 and 1 or 0)
    zp[n + 1], zp[n + 2] = text(class * 4398046511104 + since), seq .. k
    nplain = nplain + 1
    plainbytes = plainbytes + size
  else
    local e = entries[k]
    local repl = op <= 2
    local item = seq .. pack('>I4B', size, repl and 1 or 0)
    if repl then
      join(e)
      e.du, e.tr = 0, 0
      if e.fk == 2 then
        added = added + (#e.front + #e.pile) / 11
        giveway(e)
        remove(e.pile)
        e.pile = ''
      end
    end
    if e.pile == '' then
      e.pile, e.c, e.ms, e.ar, e.gn = item, class, since, seqn, m.gen
    elseif repl then
      added = added + #e.pile / 11
      remove(e.pile)
      e.pile, e.c = item, class
    else
      local l = behind[e]
      if not l then
        l = {}
        behind[e] = l
      end
      l[#l + 1] = item
      e.c = min(e.c, class)
    end
  end
end
for _, e in ipairs(list) do join(e) end
nhset = 2 * nplain
m.nk, m.nw, m.nr, m.b = m.nk + nplain, m.nw + nplain, m.nr + nplain, m.b + plainbytes
if nplain > 0 then gens[m.gen] = (gens[m.gen] or 0) + nplain end
m.rp = m.rp + added
replaced = replaced + added
m.ap = m.ap + nrecords

local mostkeys, mostbytes = tonumber(ARGV[7]), tonumber(ARGV[8])
if mostkeys > 0 or mostbytes > 0 then
  local nk, nb, pb = 0, 0, m.pb
  for _, e in ipairs(list) do
    if e.pile ~= '' or e.fk ~= 0 then
      nk = nk + 1
      nb = nb + bytes(e.pile) + bytes(e.front)
      if e.fk == 2 then
        parked = parked + 1
        pb = pb + bytes(e.front)
      end
    end
  end
  -- Parked keys have their own share: rule 7 of Append.
  if mostkeys > 0 and nk + nplain > keysbefore and m.nk + nk - min(parked, mostkeys) > mostkeys
    or mostbytes > 0 and nb + plainbytes > bytesbefore and m.b + nb - min(pb, mostbytes) > mostbytes then
    return redis.error_reply('AZQFULL ' .. table.concat({text(m.nk + nk), text(parked), text(m.b + nb), text(pb)}, ' '))
  end
end

call('HSET', A, adder, pack('>I6I4I4I4I4I6', number, part, replaced, folded, m.gen, now))
if part == 0 then
  call('ZADD', Y, now, adder)
  for _, id in ipairs(call('ZRANGEBYSCORE', Y, '-inf', now - 86400000 * 30, 'LIMIT', 0, 10)) do
    call('HDEL', A, id)
    call('ZREM', Y, id)
  end
end
flush()
wake()
local again = {}
for i = nfolds + 1, nfolds + nrecords do
  if not plain[keys[i]] then again[#again + 1] = keys[i] end
end
load(again)
return answer(m.gen, 0)
