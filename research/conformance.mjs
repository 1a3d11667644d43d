/** Is the model right? Plays real runs again on it, and lists where it differs. */
import '../lib/cli/node-floor.mjs';

const { compareWithModel } = await import('./conformance/command.ts');

await compareWithModel();
