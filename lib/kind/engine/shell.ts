/** zx, for commands that are text. */
import { $ as shell } from 'zx';

/**
 * Commands get no stdin. zx gives a socket, which bash takes for a remote login where no other shell is
 * above it (cron, a service): it would read ~/.bashrc before each command, with all that this says and
 * waits for.
 */
export const $ = shell({ stdio: ['ignore', 'pipe', 'pipe'] });
