/** A schedule that a sweep found, played again: by the model, or for real on kind. */
import { start } from '../lib/cli/start.mjs';

await start('replay');
