import { expireBatch, keepEndedMs } from './ledger.ts';
import { holdAll, settleAll } from './redis-batches.ts';

/**
 * The keys of a workspace, in the order in which every script gets them.
 * - windows: hash, window → `<spent> <held>`
 * - ends: sorted set of windows, by the time from which they may be dropped
 * - holds: hash, id → the result of `pack` for the held amount and the windows
 * - leases: sorted set of ids of holds, by the end of their lease
 * - ended: sorted set of ids that must not come back, by the time from which they may be forgotten
 * - expired: hash, id → the result of `pack` for the charged amount and the windows
 * - settled: sorted set of ids of settled holds, by the time from which they may be forgotten
 */
export const ledgerKeys = ['windows', 'ends', 'holds', 'leases', 'ended', 'expired', 'settled'] as const;

/**
 * All arguments are texts in one JSON array: each further argument would cost the client more time than the server needs
 * to parse the array.
 *
 * Numbers are doubles, exact to 2^53, but `tostring` rounds them to 14 digits; `%.0f` writes all digits. The time is
 * the server's, unless the first argument replaces it. The server itself expires the ended ids. It keeps them for twice
 * the time that the last one needs, so that a workspace that is no longer used leaves none behind.
 */
const shared = `
local windows, ends, holds, leases, ended, expired, settled = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local now = tonumber(args[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local most = 9007199254740991

local function parse(text)
  if not text then return 0, 0 end
  local spent, held = string.match(text, '^(%d+) (%d+)$')
  return tonumber(spent), tonumber(held)
end

local function format(spent, held)
  return string.format('%.0f %.0f', math.max(0, math.min(most, spent)), math.max(0, math.min(most, held)))
end

local function pack(amount, names)
  return string.format('%.0f', amount) .. '\\n' .. table.concat(names, '\\n')
end

local function unpacked(text)
  local parts = {}
  for part in string.gmatch(text, '[^\\n]+') do parts[#parts + 1] = part end
  return tonumber(table.remove(parts, 1)), parts
end

-- Only adds to windows that exist: a dropped window ended long ago.
local function book(names, spent, held)
  local changed = {}
  for i, text in ipairs(redis.call('HMGET', windows, unpack(names))) do
    if text then
      local before, heldBefore = parse(text)
      changed[#changed + 1] = names[i]
      changed[#changed + 1] = format(before + spent, heldBefore + held)
    end
  end
  if #changed > 0 then redis.call('HSET', windows, unpack(changed)) end
end

-- Removes a few old entries at a time: more than one for each new entry.
local function takeDue(key)
  local due = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, 10)
  if #due > 0 then redis.call('ZREM', key, unpack(due)) end
  return due
end

local function dropLater(window, atMs)
  local due = takeDue(ends)
  if #due > 0 then redis.call('HDEL', windows, unpack(due)) end
  if atMs ~= '' then redis.call('ZADD', ends, atMs, window) end
end

local function remember(id)
  local due = takeDue(ended)
  if #due > 0 then redis.call('HDEL', expired, unpack(due)) end
  redis.call('ZADD', ended, now + ${keepEndedMs}, id)
  redis.call('PEXPIRE', ended, ${2 * keepEndedMs})
end

local function wasEnded(id)
  return redis.call('ZSCORE', ended, id) or redis.call('ZSCORE', settled, id)
end

local function expire(isCharged)
  local ids = redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, ${expireBatch})
  for _, id in ipairs(ids) do
    local held = redis.call('HGET', holds, id)
    redis.call('ZREM', leases, id)
    if held then
      local amount, names = unpacked(held)
      local charged = isCharged == '1' and amount or 0
      redis.call('HDEL', holds, id)
      book(names, charged, -amount)
      remember(id)
      redis.call('HSET', expired, id, pack(charged, names))
      redis.call('PEXPIRE', expired, ${2 * keepEndedMs})
    end
  end
  return #ids
end

-- Removes before it writes: a server with full memory lets a script continue that has begun with a removal.
local function finish(id, actual)
  local held = redis.call('HGET', holds, id)
  if held then
    local amount, names = unpacked(held)
    redis.call('HDEL', holds, id)
    redis.call('ZREM', leases, id)
    book(names, actual, -amount)
    return 'ended'
  end
  local late = redis.call('HGET', expired, id)
  if late then
    local charged, names = unpacked(late)
    redis.call('HDEL', expired, id)
    book(names, actual - charged, 0)
    return 'late'
  end
  return wasEnded(id) and 'repeated' or 'unknown'
end
`;

/** Arguments: now, id. */
const release = `
local outcome = finish(args[2], 0)
remember(args[2])
return outcome
`;

/** Arguments: now, id, the amount before, the amount that stays, the spent amount, whether an expired hold is drawn. */
const draw = `
local id, from, to, spent = args[2], tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
local held = redis.call('HGET', holds, id)
if held then
  local amount, names = unpacked(held)
  if amount < from then return 'repeated' end
  -- A removal first: a server with full memory lets a script continue that has begun with one.
  redis.call('HDEL', holds, id)
  redis.call('HSET', holds, id, pack(to, names))
  book(names, spent + amount - from, to - amount)
  return 'drawn'
end
local late = redis.call('HGET', expired, id)
if late then
  local charged, names = unpacked(late)
  if charged < from then return 'repeated' end
  if args[6] ~= '1' then return 'late' end
  redis.call('HDEL', expired, id)
  redis.call('HSET', expired, id, pack(to, names))
  redis.call('PEXPIRE', expired, ${2 * keepEndedMs})
  book(names, spent + to - from, 0)
  return 'late'
end
return wasEnded(id) and 'repeated' or 'unknown'
`;

/** Arguments: now, the new lease, ids. */
const renew = `
for i = 3, #args do redis.call('ZADD', leases, 'XX', 'GT', now + args[2], args[i]) end
`;

/** Arguments: now, id; for each amount: window, amount, time to drop the window. */
const add = `
local id = 'add:' .. args[2]
if redis.call('ZSCORE', ended, id) then return end
remember(id)
for i = 3, #args, 3 do
  local text = redis.call('HGET', windows, args[i])
  if not text then dropLater(args[i], args[i + 2]) end
  local spent, held = parse(text)
  redis.call('HSET', windows, args[i], format(spent + tonumber(args[i + 1]), held))
end
`;

/** Arguments: now, whether lost holds are charged, windows. */
const read = `
expire(args[2])
local states = {}
for i = 3, #args do states[#states + 1] = redis.call('HGET', windows, args[i]) or '0 0' end
return states
`;

/** Arguments: now, whether lost holds are charged, the time of the first. Returns id, charged amount and time of each. */
const lost = `
expire(args[2])
local since = math.max(args[3] + ${keepEndedMs}, now + 1)
local found = {}
for _, id in ipairs(redis.call('HKEYS', expired)) do
  local forgetAt = tonumber(redis.call('ZSCORE', ended, id) or '0')
  if forgetAt >= since then
    found[#found + 1] = id
    found[#found + 1] = string.match(redis.call('HGET', expired, id), '^%d+')
    found[#found + 1] = string.format('%.0f', forgetAt - ${keepEndedMs})
  end
end
return found
`;

/** Each script is one atomic step on the server. */
export const ledgerScripts = {
  hold: shared + holdAll,
  settle: shared + settleAll,
  release: shared + release,
  draw: shared + draw,
  renew: shared + renew,
  expire: `${shared}return expire(args[2])`,
  lost: shared + lost,
  add: shared + add,
  read: shared + read,
  forget: `redis.call('UNLINK', unpack(KEYS))`,
};
