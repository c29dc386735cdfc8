# Computes the results of the runs: the median of each contender's rounds, and the promised ratios. A
# ratio is the median of those of the pairs, with the least and the greatest of them: a pair is a run
# of one contender and that of the other in the same round, a few seconds apart, so that both had
# nearly the same machine.
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def figure: . * 1000 | round / 1000;

def summary:
  group_by([.row, .contender, .connections])
  | map({
      row: .[0].row, contender: .[0].contender, connections: .[0].connections, rounds: length,
      requests_per_second: map(.requests_per_second) | median,
      p50_ms: map(.p50_ms) | median,
      p99_ms: map(.p99_ms) | median,
      failed: map(.failed) | add,
      cpu_ms_per_1000: map(.cpu_ms_per_1000) | median,
      own_cpu_ms_per_1000: map(.own_cpu_ms_per_1000 // 0) | median,
      peak_kib: map(.peak_kib) | max
    });

# Each promise: name, row, the two contenders, the compared key, and a lower (`least`) or an upper (`most`)
# limit. A limit that is an object has values for some numbers of connections only.
def promises: [
  {name: "CGI health / bare CGI", row: "get", of: "CGI health", over: "bare CGI", least: 0.90},
  {name: "CGI me / bare CGI", row: "get", of: "CGI me", over: "bare CGI", least: 0.65},
  {name: "FastCGI health / bare FastCGI", row: "get", of: "FastCGI health", over: "bare FastCGI"},
  {name: "FastCGI me / bare FastCGI", row: "get", of: "FastCGI me", over: "bare FastCGI", least: 0.80},
  {name: "FastCGI me / Express me", row: "get", of: "FastCGI me", over: "express me", least: 1.5},
  {name: "FastCGI me / Fastify me", row: "get", of: "FastCGI me", over: "fastify me",
   least: 1.3},
  {name: "FastCGI send / Express send, platform 0 ms", row: "send, platform 0 ms", of: "FastCGI send",
   over: "express send", least: 2.0},
  {name: "FastCGI send / Fastify send, platform 0 ms", row: "send, platform 0 ms", of: "FastCGI send",
   over: "fastify send", least: 1.3},
  {name: "FastCGI send / Fastify send, platform 20 ms", row: "send, platform 20 ms", of: "FastCGI send",
   over: "fastify send"},
  {name: "FastCGI send / Fastify send, platform 200 ms", row: "send, platform 200 ms", of: "FastCGI send",
   over: "fastify send", least: {"128": 0.95}},
  {name: "p99 of FastCGI send / of Fastify send, platform 0 ms", row: "send, platform 0 ms",
   of: "FastCGI send", over: "fastify send", key: "p99_ms", most: {"32": 1.0}},
  {name: "CGI send / FastCGI send, platform 0 ms", row: "send, platform 0 ms", of: "CGI send",
   over: "FastCGI send"},
  {name: "CPU of the processes of FastCGI send / of Fastify send, platform 0 ms",
   row: "send, platform 0 ms", of: "FastCGI send", over: "fastify send", key: "own_cpu_ms_per_1000",
   most: 0.4},
  {name: "memory of FastCGI send / of Fastify send, platform 200 ms", row: "send, platform 200 ms",
   of: "FastCGI send", over: "fastify send", key: "peak_kib", most: {"128": 1.0}},
  {name: "static CGI send / CGI send", row: "send by a static CGI", of: "static CGI send",
   over: "CGI send", least: 2.0},
  {name: "static CGI templates / CGI templates", row: "templates by a static CGI",
   of: "static CGI templates", over: "CGI templates", least: 1.9},
  {name: "FastCGI me, static / default", row: "me, forms of FastCGI",
   of: "FastCGI me, static", over: "FastCGI me"},
  {name: "FastCGI me, a connection for each request / default", row: "me, forms of FastCGI",
   of: "FastCGI me, renewed", over: "FastCGI me"},
  {name: "FastCGI send, static / default", row: "send, forms of FastCGI",
   of: "FastCGI send, static", over: "FastCGI send"},
  {name: "FastCGI send, a connection for each request / default", row: "send, forms of FastCGI",
   of: "FastCGI send, renewed", over: "FastCGI send"},
  {name: "memory of FastCGI send, static / default", row: "send, forms of FastCGI",
   of: "FastCGI send, static", over: "FastCGI send", key: "peak_kib"},
  {name: "memory of FastCGI send, a connection for each request / default", row: "send, forms of FastCGI",
   of: "FastCGI send, renewed", over: "FastCGI send", key: "peak_kib"},
  {name: "me, PostgreSQL / SQLite", row: "me, two databases", of: "PostgreSQL 1 me",
   over: "FastCGI me"},
  {name: "send, PostgreSQL / SQLite", row: "send, two databases", of: "PostgreSQL 1 send",
   over: "FastCGI send"},
  {name: "send, PostgreSQL, two hosts / one", row: "send, two databases", of: "PostgreSQL 2 send",
   over: "PostgreSQL 1 send"},
  {name: "send, PostgreSQL, four hosts / one", row: "send, two databases", of: "PostgreSQL 4 send",
   over: "PostgreSQL 1 send"},
  {name: "inbound, PostgreSQL / SQLite", row: "inbound webhook, two databases",
   of: "PostgreSQL 1 webhook", over: "FastCGI webhook"},
  {name: "CGI webhook / bare reader", row: "inbound webhook", of: "CGI webhook", over: "bare reader"},
  {name: "FastCGI webhook / bare reader", row: "inbound webhook", of: "FastCGI webhook",
   over: "bare reader"},
  {name: "added time of a FastCGI send, median, ms", row: "one send at a time", of: "FastCGI send",
   over: "platform", key: "p50_ms", less: true, most: 1.0},
  {name: "added time of an Express send, median, ms", row: "one send at a time", of: "express send",
   over: "platform", key: "p50_ms", less: true},
  {name: "added time of a Fastify send, median, ms", row: "one send at a time", of: "fastify send",
   over: "platform", key: "p50_ms", less: true},
  {name: "added time of a CGI send, median, ms", row: "one send at a time", of: "CGI send",
   over: "platform", key: "p50_ms", less: true},
  {name: "added time of CGI me by a scoped token, median, ms", row: "one caller at a time",
   of: "CGI me, scoped token", over: "CGI me", key: "p50_ms", less: true, most: 1.0},
  {name: "added time of CGI me by a session, median, ms", row: "one caller at a time",
   of: "CGI me, session", over: "CGI me", key: "p50_ms", less: true, most: 1.0},
  {name: "added time of FastCGI me by a scoped token, median, ms", row: "one caller at a time",
   of: "FastCGI me, scoped token", over: "FastCGI me", key: "p50_ms", less: true, most: 1.0},
  {name: "added time of FastCGI me by a session, median, ms", row: "one caller at a time",
   of: "FastCGI me, session", over: "FastCGI me", key: "p50_ms", less: true, most: 1.0},
  {name: "CGI me by a scoped token / by the main token", row: "callers", of: "CGI me, scoped token",
   over: "CGI me"},
  {name: "CGI me by a session / by the main token", row: "callers", of: "CGI me, session",
   over: "CGI me"},
  {name: "FastCGI me by a scoped token / by the main token", row: "callers", of: "FastCGI me, scoped token",
   over: "FastCGI me"},
  {name: "FastCGI me by a session / by the main token", row: "callers", of: "FastCGI me, session",
   over: "FastCGI me"},
  {name: "FastCGI send in the platform's form / by /v2, median", row: "one send, two forms",
   of: "FastCGI graph send", over: "FastCGI send", key: "p50_ms", most: 1.05},
  {name: "CGI send in the platform's form / by /v2, median", row: "one send, two forms",
   of: "CGI graph send", over: "CGI send", key: "p50_ms", most: 1.05},
  {name: "FastCGI send in the platform's form / by /v2, platform 0 ms", row: "send, two forms",
   of: "FastCGI graph send", over: "FastCGI send"},
  {name: "FastCGI lines / FastCGI me", row: "reading", of: "FastCGI lines", over: "FastCGI me"},
  {name: "FastCGI threads / FastCGI me", row: "reading", of: "FastCGI threads", over: "FastCGI me"},
  {name: "FastCGI messages of a thread / FastCGI me", row: "reading", of: "FastCGI thread",
   over: "FastCGI me"},
  {name: "FastCGI changes, when there are none / FastCGI me", row: "reading", of: "FastCGI changes",
   over: "FastCGI me"},
  {name: "CGI threads / CGI me", row: "reading", of: "CGI threads", over: "CGI me"},
  {name: "CGI changes, when there are none / CGI me", row: "reading", of: "CGI changes",
   over: "CGI me"},
  {name: "FastCGI queued send (202) / FastCGI send", row: "queued send", of: "FastCGI queued send",
   over: "FastCGI send"},
  {name: "p99 of FastCGI send beside a campaign / without", row: "send beside a campaign",
   of: "FastCGI send, campaign", over: "FastCGI send", key: "p99_ms", most: 1.3},
  {name: "p99 of FastCGI webhook beside a campaign / without",
   row: "inbound webhook beside a campaign", of: "FastCGI webhook, campaign",
   over: "FastCGI webhook", key: "p99_ms", most: 1.3},
  {name: "events delivered, 1,000 webhooks / one", row: "events delivered", of: "1,000 webhooks",
   over: "one webhook", least: 0.7},
  {name: "raw upload / the same by curl", row: "100 MB", of: "raw upload", over: "upload to the platform",
   key: "p50_ms", most: 1.3},
  {name: "multipart upload / the same by curl", row: "100 MB", of: "multipart upload",
   over: "upload to the platform", key: "p50_ms"},
  {name: "download / the same by curl", row: "100 MB", of: "download", over: "download from the platform",
   key: "p50_ms"}
];

def wanted($connections): if type == "object" then .[$connections | tostring] else . end;

def of($row; $contender; $connections):
  select(.row == $row and .contender == $contender and .connections == $connections);

# The runs of two contenders as pairs, in the order of the rounds.
def pairs($promise; $connections):
  [[$runs[] | of($promise.row; $promise.of; $connections)],
   [$runs[] | of($promise.row; $promise.over; $connections)]]
  | transpose | map(select(all(. != null)));

def compared($promise): map(.[$promise.key // "requests_per_second"])
  | if $promise.less then .[0] - .[1] else .[0] / .[1] end;

def ratio($results):
  . as $promise
  | $results[] | select(.row == $promise.row and .contender == $promise.of)
  | .connections as $connections
  | (pairs($promise; $connections) | map(select(.[1][$promise.key // "requests_per_second"] != 0)
     | compared($promise))) as $values
  | select($values != [])
  | {
      name: $promise.name, connections: $connections, pairs: ($values | length),
      value: ($values | median | figure), low: ($values | min | figure), high: ($values | max | figure),
      least: ($promise.least | wanted($connections)), most: ($promise.most | wanted($connections))
    }
  | .kept = ((.least == null or .value >= .least) and (.most == null or .value <= .most));

($runs | summary) as $results
| {
    machine: {
      processor: $processor, cores: ($cores | tonumber), kernel: $kernel, apache: $apache, node: $node,
      load_before: ($load | tonumber), cpu_time_of: (if $cpu == "" then "machine" else $cpu end),
      memory: $memory, pool: ($pool | tonumber), pool_max: ($pool_max | tonumber),
      server_pool_max: ($server_pool_max | tonumber),
      control_workers: ($workers | tonumber)
    },
    ratios: [promises[] | ratio($results)],
    facts: ($facts | map(.kept = ((.most == null or .value <= .most)
      and (.least == null or .value >= .least)))),
    results: $results,
    runs: $runs
  }
