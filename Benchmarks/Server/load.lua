-- Requests for wrk. Its arguments: the kind of load, the number of items, and a seed.
-- list: 20 items; item: one with its relations; mix: 80 % of both in turns, 20 % changes of a quantity and new notes.

local load, items
local count = 0
local json = { ["Content-Type"] = "application/json" }

function init(args)
  load, items = args[1], tonumber(args[2])
  math.randomseed(tonumber(args[3]))
end

local function path(number) return string.format("/items/00000000-0000-4000-8000-%012X", number) end

local function list()
  return wrk.format("GET", string.format("/items?after=Item-%06d&limit=20", math.random(0, items - 1)))
end

local function item() return wrk.format("GET", path(math.random(0, items - 1))) end

local function change()
  local body = string.format('{"quantity":%d}', math.random(0, 99))
  return wrk.format("PUT", path(math.random(0, items - 1)), json, body)
end

local function add()
  local body = string.format(
    '{"written":%d,"author":"Author %d","text":"A note that a client adds while others read."}',
    1800000000 + count, math.random(0, 49))
  return wrk.format("POST", path(math.random(0, items - 1)) .. "/notes", json, body)
end

local mix = { list, item, list, item, change, list, item, list, item, add }

function request()
  count = count + 1
  if load == "list" then return list() end
  if load == "item" then return item() end
  return mix[count % #mix + 1]()
end

-- One line for the program that runs this: requests, microseconds, failures, and the latencies' percentiles.
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    "result %d %d %d %d %d\n", summary.requests, summary.duration, failures, latency:percentile(50),
    latency:percentile(99)))
end
