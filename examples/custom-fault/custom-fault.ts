/** A fault and a checker of one's own, on the model: the kubelet is frozen and the API cut off, at once. */
import {
  agentsStandStill,
  apiReached,
  array,
  customFault,
  damage,
  experiment,
  forceDelete,
  isIn,
  simulated,
  type Checker,
} from 'forcedetach';

const numbAndDeaf = customFault({
  name: 'numb-and-deaf',
  like: 'api-partition',
  breaks: async ({ machine }) => void (await machine.stall('kubelet'), await machine.isolate()),
  mends: async ({ machine }) => void (await machine.rejoin(), await machine.resume()),
  whole: ({ machine }) => [apiReached(machine, true), isIn(machine, 'running', 'the node runs')],
  broken: ({ machine }) => [apiReached(machine, false), agentsStandStill(machine, 'kubelet')],
});

/** We can afford to lose 100 commits, and not one more. */
const budget: Checker = {
  name: 'loss-budget',
  check: ({ image, reconciliation: { lost } }) =>
    lost <= 100
      ? []
      : [damage({ code: 'OVER_BUDGET', image, safety: 'lost', loud: false, summary: `${lost} lost`, evidence: [] })],
};

await using cluster = await simulated();
const parts = { cluster, storage: array({ mode: 'unfenced' }), remedy: forceDelete() };
const run = await experiment({ ...parts, fault: numbAndDeaf, checkers: [budget] }).run({ seed: '1' });
console.log(run.verdict, run.findings.map(({ code }) => code).join(' '));
console.log(run.sentence);
await run.report('report');
