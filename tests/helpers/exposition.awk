# Checks a text in Prometheus' exposition format 0.0.4, as far as promtool does and more strictly:
# each metric has HELP and TYPE before its samples, which stand together; names and labels are well
# formed; no sample occurs twice; a counter's name ends with _total; the buckets of a histogram are
# cumulative, and the last one, +Inf, equals its count. Prints each fault; exits 1 if there is one.

function fault(text) {
    printf "line %d: %s: %s\n", NR, text, $0
    faults++
}

# Cuts the labels of `text`, which begins after the brace, into label[]; returns the rest.
function read_labels(text, part) {
    delete label
    labels = 0
    while (match(text, /^[a-zA-Z_][a-zA-Z0-9_]*="/)) {
        part = substr(text, 1, RLENGTH - 2)
        text = substr(text, RLENGTH + 1)
        if (!match(text, /^([^"\\]|\\\\|\\"|\\n)*"/))
            break
        if (part in label)
            fault("a label occurs twice")
        label[part] = substr(text, 1, RLENGTH - 1)
        labels++
        text = substr(text, RLENGTH + 1)
        if (substr(text, 1, 1) != ",")
            break
        text = substr(text, 2)
    }
    if (substr(text, 1, 1) != "}")
        fault("malformed labels")
    return substr(text, 2)
}

function check_bucket(series) {
    if (series != last_series) {
        last_series = series
        last_bound = -1
        last_count = 0
    }
    if (label["le"] == "+Inf")
        infinite[series] = value
    else if (label["le"] + 0 <= last_bound + 0)
        fault("the bounds do not ascend")
    if (value + 0 < last_count + 0)
        fault("the buckets are not cumulative")
    last_bound = label["le"]
    last_count = value
}

/^# HELP / {
    if ($3 in help)
        fault("a second HELP")
    help[$3] = 1
    next
}
/^# TYPE / {
    if (!($3 in help) || $3 in type)
        fault("TYPE without HELP, or a second one")
    if ($4 !~ /^(counter|gauge|histogram)$/ || NF != 4)
        fault("unknown type")
    if ($4 == "counter" && $3 !~ /_total$/)
        fault("the name of a counter does not end with _total")
    if ($4 != "counter" && $3 ~ /_total$/)
        fault("the name ends with _total and it is no counter")
    if ($3 !~ /^switchboard_[a-z_]+$/ || $3 ~ /_(ms|milliseconds|kb|mb|minutes)$/)
        fault("not a name with a base unit")
    type[$3] = $4
    current = $3
    next
}
{
    if (!match($0, /^[a-zA-Z_:][a-zA-Z0-9_:]*/)) {
        fault("not a sample")
        next
    }
    name = substr($0, 1, RLENGTH)
    rest = substr($0, RLENGTH + 1)
    delete label
    labels = 0
    if (substr(rest, 1, 1) == "{")
        rest = read_labels(substr(rest, 2))
    if (rest !~ /^ [0-9]+(\.[0-9]+)?$/)
        fault("malformed value")
    value = substr(rest, 2)
    suffix = substr(name, length(current) + 1)
    if (substr(name, 1, length(current)) != current)
        fault("a sample outside of its metric")
    else if (type[current] == "histogram" ? suffix !~ /^_(bucket|sum|count)$/ : suffix != "")
        fault("the name does not fit to the type")
    id = substr($0, 1, length($0) - length(rest))
    if (id in seen)
        fault("a sample occurs twice")
    seen[id] = 1
    if (type[current] != "histogram")
        next
    series = id
    sub(/_(bucket|sum|count)/, "", series)
    sub(/,?le="[^"]*"/, "", series)
    sub(/\{\}$/, "", series)
    if (suffix == "_bucket")
        check_bucket(series)
    else if (suffix == "_count" && infinite[series] != value)
        fault("the count differs from the bucket +Inf")
}
END {
    if (!NR || faults)
        exit 1
}
