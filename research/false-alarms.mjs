/** Does the audit ever accuse a volume that nothing harmed? The tally over runs and volumes. */
import '../lib/cli/node-floor.mjs';

const { countFalseAlarms } = await import('./false-alarms/command.ts');

await countFalseAlarms();
