import { keepEndedMs, maxSettled } from './ledger.ts';

// Scripts for many holds, or many settlements, of one workspace. Each script reads everything, decides step by step,
// and then writes with a few commands. So a script that fails, such as on a damaged hold or with full memory, has
// written nothing.

/**
 * Arguments: now, whether lost holds are charged, the number of groups; for each group the number of its windows, and
 * for each of those: name, limit, time to drop it; then for each hold: id, amount, lease, number of its group.
 */
export const holdAll = `
local at = 4
local function take()
  at = at + 1
  return args[at - 1]
end
local names, groups, position = {}, {}, {}
local drops = {}
for g = 1, tonumber(args[3]) do
  local group = { at = {}, limits = {}, names = {} }
  for i = 1, tonumber(take()) do
    local name, limit, drop = take(), tonumber(take()), take()
    if not position[name] then
      names[#names + 1] = name
      position[name] = #names
      drops[#names] = drop
    end
    group.at[i], group.limits[i], group.names[i] = position[name], limit, name
  end
  group.text = table.concat(group.names, '\\n')
  groups[g] = group
end
local ids, amounts, untils, groupOf = {}, {}, {}, {}
for i = 1, (#args - at + 1) / 4 do
  ids[i], amounts[i], untils[i], groupOf[i] = args[at], args[at + 1], now + args[at + 2], groups[tonumber(args[at + 3])]
  at = at + 4
end

expire(args[2])
local open = redis.call('HMGET', holds, unpack(ids))
local endedAt, settledAt = redis.call('ZMSCORE', ended, unpack(ids)), redis.call('ZMSCORE', settled, unpack(ids))
local texts = redis.call('HMGET', windows, unpack(names))
local spent, held, isChanged = {}, {}, {}
for i = 1, #names do spent[i], held[i] = parse(texts[i]) end

local results, newHolds, newLeases, count = {}, {}, {}, 0
for i, id in ipairs(ids) do
  local group, amount = groupOf[i], amounts[i]
  local fits = not endedAt[i] and not settledAt[i]
  for k, place in ipairs(group.at) do
    if spent[place] + held[place] + amount > group.limits[k] then fits = false end
  end
  if open[i] then
    results[i] = 1
  elseif fits then
    for _, place in ipairs(group.at) do
      held[place] = held[place] + amount
      isChanged[place] = true
    end
    count = count + 2
    newHolds[count - 1], newHolds[count] = id, amount .. '\\n' .. group.text
    newLeases[count - 1], newLeases[count] = untils[i], id
    results[i] = 1
  else
    local states = {}
    for k, place in ipairs(group.at) do states[k] = format(spent[place], held[place]) end
    results[i] = states
  end
end
if #newHolds == 0 then return results end
local changed = {}
for place in pairs(isChanged) do
  changed[#changed + 1] = names[place]
  changed[#changed + 1] = format(spent[place], held[place])
end
redis.call('HSET', windows, unpack(changed))
redis.call('HSET', holds, unpack(newHolds))
redis.call('ZADD', leases, unpack(newLeases))
for place in pairs(isChanged) do
  if not texts[place] then dropLater(names[place], drops[place]) end
end
return results
`;

/** Arguments: now; for each settlement: id, actual. */
export const settleAll = `
local ids = {}
for i = 2, #args, 2 do ids[#ids + 1] = args[i] end
local open = redis.call('HMGET', holds, unpack(ids))
local results, gone, sums, order, missing = {}, {}, {}, {}, {}
for i, id in ipairs(ids) do
  if open[i] then
    local amount, text = string.match(open[i], '^(%d+)\\n(.+)$')
    local sum = sums[text]
    if not sum then
      sum = { 0, 0 }
      sums[text] = sum
      order[#order + 1] = text
    end
    sum[1] = sum[1] + tonumber(args[2 * i + 1])
    sum[2] = sum[2] - tonumber(amount)
    gone[#gone + 1] = id
    results[i] = 'ended'
  else
    missing[#missing + 1] = i
  end
end
if #gone > 0 then
  -- A removal first: a server with full memory lets a script continue that has begun with one.
  redis.call('HDEL', holds, unpack(gone))
  redis.call('ZREM', leases, unpack(gone))
  for _, text in ipairs(order) do
    local names = {}
    for name in string.gmatch(text, '[^\\n]+') do names[#names + 1] = name end
    book(names, sums[text][1], sums[text][2])
  end
end
for _, i in ipairs(missing) do
  results[i] = finish(ids[i], tonumber(args[2 * i + 1]))
  if results[i] == 'late' then gone[#gone + 1] = ids[i] end
end
if #gone == 0 then return results end
local due = redis.call('ZCARD', settled) + #gone > ${maxSettled}
  and redis.call('ZRANGE', settled, 0, 2 * #gone)
  or redis.call('ZRANGEBYSCORE', settled, '-inf', now, 'LIMIT', 0, 2 * #gone + 2)
if #due > 0 then redis.call('ZREM', settled, unpack(due)) end
local marks = {}
for _, id in ipairs(gone) do
  marks[#marks + 1] = now + ${keepEndedMs}
  marks[#marks + 1] = id
end
redis.call('ZADD', settled, unpack(marks))
redis.call('PEXPIRE', settled, ${2 * keepEndedMs})
return results
`;
