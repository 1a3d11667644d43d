/** What does this machine lack for a real cluster? */
import '../lib/node-floor.mjs';

const { doctor } = await import('../lib/cli/commands/doctor.ts');

await doctor();
