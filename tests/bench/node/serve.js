// Starts a control: WORKERS processes of node:cluster that share the unix socket SOCKET, or one process without
// cluster. SIGTERM ends all of them.
import cluster from 'node:cluster';

export function serve(listen) {
    const workers = Number(process.env.WORKERS ?? 1);
    if (cluster.isPrimary && workers > 1) {
        for (let i = 0; i < workers; i++) {
            cluster.fork();
        }
        process.on('SIGTERM', () => process.exit(0));
        return;
    }
    process.on('SIGTERM', () => process.exit(0));
    listen({ path: process.env.SOCKET });
}
