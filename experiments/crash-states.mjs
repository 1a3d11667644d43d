/** From one run, every crash: what would a loss of power at any of its moments have left? */
import '../lib/node-floor.mjs';

const { exploreCrashStates } = await import('../lib/cli/commands/crash-states.ts');

await exploreCrashStates();
