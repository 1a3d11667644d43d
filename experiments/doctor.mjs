/** `npx forcedetach doctor`, for those who start this file. */
import { start } from '../lib/start.mjs';

await start('doctor');
