/** Is the model right? Plays real runs again on it, and lists where it differs. */
import '../lib/node-floor.mjs';

const { compareWithModel } = await import('../lib/cli/commands/conformance.ts');

await compareWithModel();
