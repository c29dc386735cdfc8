# shellcheck shell=bash
# HAProxy: distributes the requests to the web hosts that are ready, and leads the pgbouncer of a
# host to the primary. pgbouncer: the connections of a host without pools.

claim_balancer_ports() {
    claim_port front_port   # of all web hosts
    claim_port primary_port # leads to the primary
    claim_port pooler_port  # of pgbouncer, part of its socket's name
}

# What the balancer answers while no web host can serve requests, in the envelope of the API.
write_unavailable() {
    local body='{"success":false,"error":"INTERNAL_ERROR","message":"No web host is ready."}'
    printf 'HTTP/1.1 503 Service Unavailable\r\n%s\r\n%s\r\n%s\r\n%s\r\n\r\n%s' \
        'Content-Type: application/json; charset=utf-8' 'Cache-Control: no-store' \
        'Retry-After: 2' "Content-Length: ${#body}" "$body" >"$dir/unavailable.http"
}

# `ready` fails for a host without database, key file, disk or courier. Three failures in 6 s, so
# that a switchover of the database takes no host away. A request is repeated at another host only
# if no connection could be made: a send may not be repeated without its client.
write_balancer() {
    local host node
    write_unavailable
    cat >"$dir/haproxy.cfg" <<END
global
    maxconn 2000
    stats socket $dir/haproxy.sock mode 600 level admin
defaults
    timeout connect 2s
    timeout client 65s
    timeout server 65s
    errorfile 503 $dir/unavailable.http

listen web
    bind 127.0.0.1:$front_port
    mode http
    balance roundrobin
    option httpchk GET /v2/ready
    option forwardfor
    option redispatch 1
    retries 3
    retry-on conn-failure
    default-server check inter 2s fall 3 rise 1
$(for host in "${hosts[@]}"; do
    printf '    server host%s 127.0.0.1:%s\n' "$host" "$(host_port "$host")"
done)

listen primary
    bind 127.0.0.1:$primary_port
    mode tcp
    timeout client 1h
    timeout server 1h
    option httpchk GET /primary
    default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
$(for node in "${nodes[@]}"; do
    printf '    server node%s 127.0.0.1:%s check port %s\n' "$node" \
        "$(port_of postgresql "$node")" "$(port_of patroni "$node")"
done)
END
}

start_balancer() {
    write_balancer
    running "$dir/haproxy.pid" "$dir/haproxy.cfg" && return
    background haproxy /usr/sbin/haproxy -db -f "$dir/haproxy.cfg"
    wait_until 10 test -S "$dir/haproxy.sock" || die "HAProxy did not start: see $dir/haproxy.log"
}

# Prints what HAProxy answers to a command of its administration socket: balance COMMAND...
balance() {
    curl -s --max-time 5 --unix-socket "$dir/haproxy.sock" telnet://localhost <<<"$*"
}

write_pooler() {
    (
        umask 077
        printf '"switchboard" "%s"\n' "$role_password" >"$dir/pgbouncer/users.txt"
        cat >"$dir/pgbouncer/pgbouncer.ini" <<END
[databases]
switchboard = host=127.0.0.1 port=$primary_port
[pgbouncer]
listen_port = $pooler_port
unix_socket_dir = $dir/pgbouncer
auth_type = scram-sha-256
auth_file = $dir/pgbouncer/users.txt
pool_mode = transaction
default_pool_size = 10
max_client_conn = 300
query_wait_timeout = 5
server_login_retry = 1
END
    )
    [[ -z ${as_server[*]} ]] || chown -R postgres: "$dir/pgbouncer"
}

# Sets pooler_url, the database of a host whose programs live for one request.
start_pooler() {
    mkdir -p "$dir/pgbouncer"
    pooler_url="postgresql://switchboard:$role_password@/switchboard?host=$dir/pgbouncer"
    pooler_url+="&port=$pooler_port&pooler=transaction&target_session_attrs=any"
    running "$dir/pgbouncer.pid" "$dir/pgbouncer/pgbouncer.ini" && return
    write_pooler
    background pgbouncer "${as_server[@]}" /usr/sbin/pgbouncer "$dir/pgbouncer/pgbouncer.ini"
    wait_until 10 test -S "$dir/pgbouncer/.s.PGSQL.$pooler_port" ||
        die "pgbouncer did not start: see $dir/pgbouncer.log"
}

stop_balancer() {
    end_process "$dir/haproxy.pid" "$dir/haproxy.cfg" || true
    end_process "$dir/pgbouncer.pid" "$dir/pgbouncer/pgbouncer.ini" || true
}
