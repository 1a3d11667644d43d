/** Which schedules break an invariant? As many as the time allows, on the built-in model. */
import { start } from '../lib/cli/start.mjs';

await start('sweep');
