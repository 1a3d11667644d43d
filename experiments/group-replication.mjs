/** The comparison that everyone asks for: three MySQL servers instead of one, the primary cut off. */
import '../lib/node-floor.mjs';

const { groupReplication } = await import('../lib/cli/commands/group-replication.ts');

await groupReplication();
