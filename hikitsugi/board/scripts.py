"""What has to happen on the board in one piece, in Redis' own language."""

TAKE = """
-- KEYS: turns, then each shelf with its cards and its base. ARGV: lock prefix, owner, milliseconds, tasks not to take…
local refused = {}
for n = 4, #ARGV do refused[ARGV[n]] = true end
local best, best_rank, best_at, soonest = nil, nil, nil, -1
for k = 2, #KEYS, 3 do
  local from, found = 0, false
  while not found do
    local page = redis.call('ZRANGE', KEYS[k], from, from + 63, 'WITHSCORES')
    if #page == 0 then break end
    for n = 1, #page, 2 do
      if not refused[page[n]] then
        local left = redis.call('PTTL', ARGV[1] .. page[n])
        if left == -2 then
          local rank = tonumber(page[n + 1])
          if not best_rank or rank < best_rank then best, best_rank, best_at = page[n], rank, k end
          found = true
          break
        elseif soonest < 0 or left < soonest then
          soonest = left
        end
      end
    end
    from = from + 64
  end
end
if not best then return {false, soonest} end
local shown = 0
for k = 2, #KEYS, 3 do shown = shown + redis.call('ZCARD', KEYS[k]) end
local card, base = redis.call('HGET', KEYS[best_at + 1], best), redis.call('GET', KEYS[best_at + 2])
if not card or not base then return {false, 1000} end
redis.call('SET', ARGV[1] .. best, ARGV[2], 'NX', 'PX', ARGV[3])
return {card, redis.call('HGET', KEYS[1], best) or '0', base, shown}
"""
"""The best task that nobody has locked, locked for the owner, and how many are shown; else when to look again."""

ENTER = """
-- KEYS: lock, agents, leases, ledger. ARGV: owner, milliseconds, agent
if redis.call('EXISTS', KEYS[4]) == 0 then return {-1, 0} end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return {0, redis.call('PTTL', KEYS[1])} end
local task = redis.call('HGET', KEYS[2], ARGV[3])
return {1, task and redis.call('HGET', KEYS[3], task)}
"""
"""The lock of an agent for one of its requests, with what it has already; else how long another's may still hold.

Without the ledger nobody knows what it has.
"""

UNLOCK = """
-- KEYS: lock. ARGV: owner, channel, whom to wake
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if ARGV[3] ~= '' then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return 1
"""
"""Only its owner can release a lock."""

KEEP = """
-- KEYS: lock. ARGV: owner, milliseconds
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""
"""So it is with making one last longer."""

HOLD = """
-- KEYS: leases, agents, shelf, ledger. ARGV: task, agent, lease
if redis.call('EXISTS', KEYS[4]) == 0 then return 0 end
local other = redis.call('HGET', KEYS[2], ARGV[2])
local lease = other and other ~= ARGV[1] and redis.call('HGET', KEYS[1], other)
if lease and cjson.decode(lease).agent_id == ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
"""
"""An agent has a task, unless it has another one, or nobody knows."""

RESTORE = """
-- KEYS: sign, ledger, leases, agents. ARGV: task, agent, lease…
if redis.call('DEL', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
for n = 1, #ARGV, 3 do
  redis.call('HSETNX', KEYS[3], ARGV[n], ARGV[n + 2])
  redis.call('HSETNX', KEYS[4], ARGV[n + 1], ARGV[n])
end
redis.call('SET', KEYS[2], 1)
return 1
"""
"""The ledger as it was found elsewhere, unless all was lost again since, or another has restored it."""

REFRESH = """
-- KEYS: leases. ARGV: task, lease's id, lease
local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known or cjson.decode(known).lease_id ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""
"""A lease lasts longer, unless it is over."""

PUT = """
-- KEYS: cards, leases, turns, the task's shelf, other shelves… ARGV: task, card, place, channel, name of the shelf
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
for n = 5, #KEYS do redis.call('ZREM', KEYS[n], ARGV[1]) end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
redis.call('HINCRBY', KEYS[3], ARGV[1], 1)
local added = redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
if added == 1 then redis.call('PUBLISH', ARGV[4], ARGV[5]) end
return added
"""
"""A task on its shelf, unless somebody has it."""

WITHDRAW = """
-- KEYS: shelf, turns. ARGV: task, turn
if (redis.call('HGET', KEYS[2], ARGV[1]) or '0') ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
"""
"""A task off its shelf, unless it was put back there since it was taken."""

LET_GO = """
-- KEYS: leases, agents, cards, turns. ARGV: task, agent, channel, shelf prefix, again
local lease = redis.call('HGET', KEYS[1], ARGV[1])
if redis.call('HGET', KEYS[2], ARGV[2]) == ARGV[1] then redis.call('HDEL', KEYS[2], ARGV[2]) end
if lease and cjson.decode(lease).agent_id ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
local card = redis.call('HGET', KEYS[3], ARGV[1])
if not card or ARGV[5] ~= '1' then return 0 end
local known = cjson.decode(card)
redis.call('HINCRBY', KEYS[4], ARGV[1], 1)
redis.call('ZADD', ARGV[4] .. known.shelf, known.rank, ARGV[1])
redis.call('PUBLISH', ARGV[3], known.shelf)
return 1
"""
"""An agent's lease is gone; the task goes back to its shelf where it can be given again, and nobody else has it."""
