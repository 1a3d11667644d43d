/** Which schedules break an invariant? As many as the time allows, on the built-in model. */
import '../lib/node-floor.mjs';

const { runSweep } = await import('../lib/cli/commands/sweep.ts');

await runSweep();
