#!/usr/bin/env node
/** The command of a checkout and of the npm package. */
import { start } from '../lib/cli/start.mjs';

await start();
