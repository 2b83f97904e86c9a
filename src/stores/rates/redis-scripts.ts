import { mostParts, mostSkewMs, partsPerUnit } from './bucket.ts';
import { expireBatch } from './rates.ts';

/**
 * The keys of each account, in order: its bucket, a text `<requests> <tokens> <at>`, and its calls in flight, a sorted
 * set of ids by the end of their lease. The arithmetic is that of `bucket.ts`: whole numbers below 2^53.
 *
 * Arguments: the time or nothing, further ones, then the limits of each account, from place `first` on.
 */
const shared = `
local now = tonumber(ARGV[1])
if not now then
  local clock = redis.call('TIME')
  now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
end

local function leaked(parts, limit, elapsed)
  if not limit then return 0 end
  return math.max(0, parts - limit * elapsed)
end

local function open(i, first)
  local rpm, tpm, most, counts = string.match(ARGV[first + i - 1], '^(%d*),(%d*),(%d*),(%d)$')
  local a = { bucket = KEYS[2 * i - 1], calls = KEYS[2 * i], rpm = tonumber(rpm), tpm = tonumber(tpm),
    most = tonumber(most), counts = counts == '1', requests = 0, tokens = 0, at = now }
  local text = redis.call('GET', a.bucket)
  if text then
    local requests, tokens, at = string.match(text, '^(%d+) (%d+) (%d+)$')
    at = tonumber(at)
    a.at = math.max(now, at)
    if at - now > ${mostSkewMs} then a.at = now end
    local elapsed = math.max(0, a.at - at)
    a.requests = leaked(tonumber(requests), a.rpm, elapsed)
    a.tokens = leaked(tonumber(tokens), a.tpm, elapsed)
  end
  return a
end

-- Removes before anything is written: a server with full memory lets a script continue that has begun with a removal.
local function expire(a)
  local lost = redis.call('ZRANGEBYSCORE', a.calls, '-inf', now, 'LIMIT', 0, ${expireBatch})
  if #lost > 0 then redis.call('ZREM', a.calls, unpack(lost)) end
end

local function withTokens(parts, tokens)
  return math.min(${mostParts}, math.max(0, parts + tokens * ${partsPerUnit}))
end

-- A minute longer than needed: the clock of a caller is not that of the server.
local function write(a)
  local left = 0
  if a.rpm then left = math.max(left, math.ceil(a.requests / a.rpm)) end
  if a.tpm then left = math.max(left, math.ceil(a.tokens / a.tpm)) end
  if left == 0 then redis.call('DEL', a.bucket) return end
  local text = string.format('%.0f %.0f %.0f', a.requests, a.tokens, a.at)
  redis.call('SET', a.bucket, text, 'PX', string.format('%.0f', math.min(left + a.at - now + 60000, 1e12)))
end

local function show(a)
  return string.format('%.0f %.0f %.0f', a.requests, a.tokens, redis.call('ZCARD', a.calls))
end
`;

/** Arguments: the time, id, tokens, whether they are further ones, lease. */
const admit = `
local id, tokens, isFurther, lease = ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1', tonumber(ARGV[5])
local accounts, fits = {}, true
for i = 1, #KEYS / 2 do
  local a = open(i, 6)
  expire(a)
  if a.tpm and a.tokens + tokens * ${partsPerUnit} > a.tpm * ${partsPerUnit} then fits = false end
  if not isFurther then
    if a.rpm and a.requests + ${partsPerUnit} > a.rpm * ${partsPerUnit} then fits = false end
    if a.most and redis.call('ZCARD', a.calls) >= a.most then fits = false end
  end
  accounts[i] = a
end
local reply = { fits and 1 or 0 }
for i, a in ipairs(accounts) do
  if fits then
    if a.rpm and not isFurther then a.requests = a.requests + ${partsPerUnit} end
    if a.tpm then a.tokens = withTokens(a.tokens, tokens) end
    write(a)
    if a.counts and not isFurther then
      redis.call('ZADD', a.calls, string.format('%.0f', now + lease), id)
      redis.call('PEXPIRE', a.calls, string.format('%.0f', 2 * lease))
    end
  end
  reply[i + 1] = show(a)
end
return reply
`;

/** Arguments: the time, id, the tokens to add. */
const end = `
for i = 1, #KEYS / 2 do
  local a = open(i, 4)
  expire(a)
  if redis.call('ZREM', a.calls, ARGV[2]) == 1 and a.tpm then
    a.tokens = withTokens(a.tokens, tonumber(ARGV[3]))
    write(a)
  end
end
`;

/** Arguments: the time, lease, ids. */
const renew = `
local lease = tonumber(ARGV[2])
for i = 3, #ARGV do
  local before = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if before and tonumber(before) > now then
    redis.call('ZADD', KEYS[1], 'XX', 'GT', string.format('%.0f', now + lease), ARGV[i])
  end
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', 2 * lease))
`;

/** Arguments: the time. */
const read = `
local reply = {}
for i = 1, #KEYS / 2 do
  local a = open(i, 2)
  local lost = redis.call('ZCOUNT', a.calls, '-inf', now)
  reply[i] = string.format('%.0f %.0f %.0f', a.requests, a.tokens, redis.call('ZCARD', a.calls) - lost)
end
return reply
`;

/** Each script is one atomic step on the server. */
export const rateScripts = {
  admit: shared + admit,
  end: shared + end,
  renew: shared + renew,
  read: shared + read,
  forget: `redis.call('UNLINK', unpack(KEYS))`,
};
