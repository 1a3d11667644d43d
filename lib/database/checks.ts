/**
 * The database's own checks of what an audit read. Apart from chosen.ts, which they use: so nothing
 * comes round to itself.
 */
import * as builtIn from '../mysql/checks/index.ts';
import { brought } from './chosen.ts';
import type { OwnChecks } from '../checkers/checker.ts';
import type { OwnAnswers, OwnGaps } from './port.ts';

export const ownChecks = (): OwnChecks => brought?.own.checks ?? builtIn.ownChecks;

export const ownGaps: OwnGaps = (evidence, asked) =>
  (brought?.own.gaps ?? builtIn.ownGaps)(evidence, asked);

export const ownAnswers: OwnAnswers = (evidence) =>
  (brought?.own.answers ?? builtIn.ownAnswers)(evidence);
