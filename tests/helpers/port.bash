# shellcheck shell=bash
# helpers/all loads it.

# Prints a TCP port of 127.0.0.1 on which no program listens, below those that Linux gives to
# clients.
free_port() {
    local port
    while port=$((20000 + RANDOM % 10000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    printf '%s\n' "$port"
}
