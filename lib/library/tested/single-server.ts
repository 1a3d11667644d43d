/** Runs on one server with one volume. */
import { recordScenario } from '../../experiment/run/run.ts';
import { assembleVerdict } from '../../experiment/verdict/assemble.ts';
import { headlineOf } from '../../experiment/verdict/headline.ts';
import type { Verdict } from '../../experiment/verdict/verdict.ts';
import { writeRun } from '../../report/write.ts';
import type { TestedKind } from './kind.ts';

export const singleServer: TestedKind<Verdict> = {
  record: recordScenario,
  judge: (history, checkers) => assembleVerdict(history, { checkers }),
  headline: headlineOf,
  write: writeRun,
};
