/** A fault and a checker of one's own, on the model: the kubelet stands still and the API is cut off. */
import {
  agentsStandStill,
  apiReached,
  array,
  customFault,
  damage,
  experiment,
  forceDelete,
  simulated,
  type Checker,
} from 'forcedetach';

const numbAndDeaf = customFault({
  name: 'numb-and-deaf',
  like: 'api-partition',
  needs: ['node-isolation', 'agent-stall'],
  breaks: ({ machine }) => machine.isolate().then(() => machine.stall('kubelet')),
  mends: ({ machine }) => machine.resume().finally(() => machine.rejoin()),
  whole: ({ machine }) => [apiReached(machine, true)],
  broken: ({ machine }) => [apiReached(machine, false), agentsStandStill(machine, 'kubelet')],
});

/** We can afford to lose 100 commits, and not one more. */
const budget: Checker = {
  name: 'loss-budget',
  check: ({ image, reconciliation: { acked, lost } }) => {
    if (lost <= 100) return [];
    const summary = `${lost} of ${acked} commits are gone, 100 may be`;
    return [
      damage({ code: 'OVER_BUDGET', image, safety: 'lost', loud: false, summary, evidence: [] }),
    ];
  },
};

await using cluster = await simulated();
const parts = { cluster, storage: array({ mode: 'unfenced' }), remedy: forceDelete() };
const own = { fault: numbAndDeaf, checkers: [budget] };
const run = await experiment({ ...parts, ...own }).run({ seed: '1' });
console.log(run.verdict, run.findings.map(({ code }) => code).join(' '));
console.log(run.sentence);
