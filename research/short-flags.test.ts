import { expect, test } from 'vitest';
import { claims } from './claims/list.ts';
import { remedyCases } from '../test/full/remedy-cases.ts';
import { workloadCases } from '../test/full/workload-cases.ts';
import { readFlags } from '../test/support/read-flags.ts';
import { requestOf } from '../lib/cli/flags/request.ts';
import { shortFlagsBeside } from './short-flags.ts';

const ofPartitions = [
  ...claims.flatMap(({ runs = [] }) => runs),
  ...remedyCases.map(({ experiment, flags }) => `${experiment} ${flags}`),
].filter((run) => run.startsWith('network-partition '));

test.each(ofPartitions)('%s can be asked with short timers', (run) => {
  const [, ...own] = run.split(' ').filter(Boolean);
  const words = [...shortFlagsBeside(run).split(' '), ...own];
  const asked = { name: 'network-partition', fault: 'network-partition' } as const;
  const { scenario } = requestOf(asked, readFlags(words), new Date(0));
  expect(scenario).toMatchObject({ timers: { grace: 10_000 }, watch: { warmup: 5000 } });
  expect(scenario?.timers.forceDetachAfter).toBe(
    scenario?.timers.forceDetach === 'off' ? 360_000 : 30_000,
  );
});

test.each(workloadCases.filter(({ flags }) => flags.includes('--recreations')))(
  '$name can be asked with short timers, and waits for no successor',
  ({ name, flags }) => {
    const words = `${shortFlagsBeside(flags)} ${flags}`.split(' ');
    const asked = { name, question: 'When?', fault: 'none', also: 'attacher-down' } as const;
    const { scenario } = requestOf(asked, readFlags(words), new Date(0));
    expect(scenario).toMatchObject({
      ...{ timers: { grace: 10_000 }, watch: { warmup: 5000, horizon: 150_000 } },
    });
  },
);
