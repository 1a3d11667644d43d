/**
 * The sweep plays the model without promises, the runner through the port: both come to the same
 * verdict, and one schedule always to the same outcome.
 */
import { expect, test } from 'vitest';
import { faultOf } from '../../lib/run/faults/declared.ts';
import { faultKind } from '../../lib/scenario/faults/kind.ts';
import { remedyOf } from '../../lib/run/remedies.ts';
import { remedyKind } from '../../lib/scenario/remedies/kind.ts';
import { judge } from '../../lib/sweep/judge.ts';
import { play } from '../../lib/sweep/play.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

test('a fault and a remedy are a declaration each: the run and the sweep play them as it says', async () => {
  const fault = faultKind({
    name: 'pulled-cable',
    question: 'What if the node loses the control plane?',
    words: 'the old node loses the control plane',
    happens: 'off the control plane',
    certificate: 'it reaches no API server',
    breaks: 'isolate',
    mends: 'rejoin',
    whole: ['API reached'],
    broken: ['API not reached', 'victim still runs'],
    silencesKubelet: true,
    needs: ['node-isolation'],
  });
  const remedy = remedyKind({
    name: 'taint-and-force-delete',
    on: 'node',
    acts: ['taint out-of-service', 'force-delete pod'],
    undo: 'untaint',
    needs: ['node-taint'],
    words: 'the old node is tainted and the old pod is force-deleted',
    does: 'both at once',
  });
  const scenario = modelScenario({
    ...shortTimers,
    fault: { kind: 'api-partition' },
    remedy: { kind: 'out-of-service' },
  });
  const custom = {
    fault: { ...faultOf(fault), like: 'api-partition', needs: fault.needs },
    remedy: { ...remedyOf(remedy), like: 'out-of-service', needs: remedy.needs },
  } as const;
  const { verdict } = await runOnModel(scenario, 'a', { custom });
  const outcome = play(scenario, 'a', { fault, remedy });
  expect(verdict.incompleteBecause).toEqual([]);
  expect(outcome.dualMount).toBe(true);
  expect(outcome.remediedUs).toBeDefined();
  expect(judge(outcome).safety).toBe(verdict.safety);
  const harmless = { ...fault, breaks: 'nothing', mends: 'nothing' } as const;
  expect(play(scenario, 'a', { fault: harmless, remedy }).secondMountUs).toBeUndefined();
  const unproven = { ...custom.fault, ...faultOf(harmless) };
  const played = await runOnModel(scenario, 'a', { custom: { ...custom, fault: unproven } });
  expect(played.verdict.verdict).toBe('inconclusive');
});
