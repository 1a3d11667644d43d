/** A schedule that a sweep found, played again: by the model, or for real on kind. */
import '../lib/node-floor.mjs';

const { replaySchedule } = await import('../lib/cli/commands/replay.ts');

await replaySchedule();
