# Prints the results as Markdown.
def fixed($digits):
  if . == null then "" else
    (pow(10; $digits)) as $unit
    | (. * $unit | round) as $n
    | ($n | fabs) as $m
    | (if $n < 0 then "-" else "" end) + ($m / $unit | floor | tostring)
      + (if $digits == 0 then "" else "." + ("000000" + ($m % $unit | tostring))[-$digits:] end)
  end;
def row: "| " + join(" | ") + " |";
def verdict: if .least == null and .most == null then "" elif .kept then "yes" else "**no**" end;
def wanted: if .least != null then "at least \(.least)" elif .most != null then "at most \(.most)" else "" end;

"Measured on \(.machine.processor), \(.machine.cores) cores, Linux \(.machine.kernel), \(.machine.apache)"
  + (if .machine.node == "" then "" else ", Node \(.machine.node)" end)
  + "; load average \(.machine.load_before) before. FastCGI pools of \(.machine.pool) processes that grow to"
  + " \(.machine.pool_max), with PostgreSQL to \(.machine.server_pool_max); controls of \(.machine.control_workers) workers.",
"",
(if .ratios == [] then empty else
  "Each ratio is the median of pairs of runs, one after the other; least and greatest beside it.",
  "",
  "| ratio | connections | median | least to greatest | pairs | wanted | reached |",
  "|---|---|---|---|---|---|---|",
  (.ratios[] | [.name, (.connections | tostring), (.value | fixed(2)),
     (.low | fixed(2)) + " to " + (.high | fixed(2)), (.pairs | tostring), wanted, verdict] | row),
  ""
end),
(if .facts == [] then empty else
  "| figure | value | wanted | reached |",
  "|---|---|---|---|",
  (.facts[] | [.name, "\(.value) \(.unit)", wanted, verdict] | row),
  ""
end),
"| row | what | connections | requests/s | p50 ms | p99 ms | failed | CPU ms per 1,000 | of its processes"
  + " | peak memory MB |",
"|---|---|---|---|---|---|---|---|---|---|",
(.results | sort_by(.row, .connections)[]
  | [.row, .contender, (.connections | tostring), (.requests_per_second | fixed(if . < 100 then 1 else 0 end)),
     (.p50_ms | fixed(2)), (.p99_ms | fixed(2)), (.failed | tostring), (.cpu_ms_per_1000 | fixed(0)),
     (if .own_cpu_ms_per_1000 == 0 then "" else .own_cpu_ms_per_1000 | fixed(0) end),
     (if .contender | startswith("platform") then "" else .peak_kib / 1024 | fixed(1) end)] | row)
