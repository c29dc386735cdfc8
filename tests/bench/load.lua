-- The requests of wrk, and its results as one line of JSON after the word RESULT.
--
--     wrk ... -s load.lua URL -- get TOKEN
--     wrk ... -s load.lua URL -- session COOKIE         by a session of the dashboard
--     wrk ... -s load.lua URL -- send TOKEN LINE        texts to 1,000 recipients in turn
--     wrk ... -s load.lua URL -- queue TOKEN LINE       the same texts, handed over to the sender
--     wrk ... -s load.lua URL -- upstream TOKEN         the same, sent to the platform directly
--     wrk ... -s load.lua URL -- webhook FILE           the lines of FILE (see webhooks.c), each once

local recipients = 1000
local requests, next_request = {}, 0
local kinds = {}

function kinds.get(token)
    wrk.headers["X-API-Token"] = token
    requests[1] = wrk.format()
end

function kinds.session(cookie)
    wrk.headers["Cookie"] = "__Host-switchboard=" .. cookie
    wrk.headers["X-Switchboard"] = "1"
    wrk.headers["Sec-Fetch-Site"] = "same-origin"
    requests[1] = wrk.format()
end

local function post(body, headers)
    headers["Content-Type"] = "application/json"
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
end

function kinds.send(token, line, preference)
    local text = '{"phoneNumberId":"%s","to":"+%d","text":"Your order is on its way."}'
    for i = 1, recipients do
        post(text:format(line, 15551000000 + i), {["X-API-Token"] = token, ["Prefer"] = preference})
    end
end

function kinds.queue(token, line)
    kinds.send(token, line, "respond-async")
end

function kinds.upstream(token)
    local text = '{"messaging_product":"whatsapp","recipient_type":"individual","to":"%d",'
        .. '"type":"text","text":{"body":"Your order is on its way."}}'
    for i = 1, recipients do
        post(text:format(15551000000 + i), {["Authorization"] = "Bearer " .. token})
    end
end

function kinds.webhook(file)
    for line in io.lines(file) do
        local signature, body = line:match("^(.-)\t(.*)$")
        post(body, {["X-Hub-Signature-256"] = signature})
    end
end

function init(arguments)
    kinds[arguments[1]](arguments[2], arguments[3])
end

function request()
    next_request = next_request % #requests + 1
    return requests[next_request]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        'RESULT {"requests":%d,"seconds":%.6f,"requests_per_second":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,'
            .. '"failed":%d}\n',
        summary.requests, summary.duration / 1e6, summary.requests * 1e6 / summary.duration,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
