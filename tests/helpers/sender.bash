# shellcheck shell=bash
# The sender: `load helpers/sender` after helpers/all.

# Starts a resident sender: start_sender [NAME [option...]]. Its pid is in $STACK/NAME.pid, and it
# has the lease unless another one runs.
start_sender() {
    local name=${1-sender}
    shift || true
    "$OUT/tools/sender" --pid-file "$STACK/$name.pid" "$@" >>"$STACK/$name.log" 2>&1 3>&- &
    printf '%s\n' $! >"$STACK/$name.sender"
    eventually test -s "$STACK/$name.pid"
    eventually has_beaten
}

# Whether a sender has made a heartbeat since the last have_pulse.
has_beaten() {
    [[ $(db "SELECT count(*) FROM heartbeat WHERE name = 'sender' AND host <> 'test'") != 0 ]]
}

# Ends it: stop_sender [NAME [SIGNAL]]
stop_sender() {
    local job=$STACK/${1-sender}.sender pid
    pid=$(cat "$job")
    rm -f "$job"
    kill "-${2-TERM}" "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    rm -f "$STACK/${1-sender}.pid"
}

stop_senders() {
    local job
    for job in "$STACK"/*.sender; do
        [[ ! -e $job ]] || stop_sender "$(basename "$job" .sender)" KILL
    done
}

# Lets a sender have run just now, without one: a send can be queued.
have_pulse() {
    db "DELETE FROM heartbeat WHERE name = 'sender';
        INSERT INTO heartbeat (name, host, pid, beat_at) VALUES ('sender', 'test', 1, $db_now)"
}

# Queues a text: queue TEXT [option of request...]. Sets `out`, the id of the row.
queue() {
    api POST /v2/messages/send/text -d "{$who,\"text\":\"$1\"}" -H 'Prefer: respond-async' "${@:2}"
    out=$(gojq -r '.data.id // ""' "$body")
}

# Prints a time: moment OFFSET, such as '+1 hour', as `date` reads it.
moment() {
    date -u -d "$1" +%FT%TZ
}

# Queues a text for later: schedule TEXT TIME [MEMBERS]. Sets `out`, the id of the row.
schedule() {
    api POST /v2/messages/send/text -d "{$who,\"text\":\"$1\",\"sendAt\":\"$2\"${3:+,$3}}"
    out=$(gojq -r '.data.id // ""' "$body")
}

# Prints columns of a row: row ID COLUMNS
row() {
    db "SELECT $2 FROM outgoing WHERE id = '$1'"
}

row_is() { # ID STATE
    [[ $(row "$1" state) == "$2" ]]
}
