/** One run of several volumes under one fault: what happens once, and what is each volume's own. */
import { combined } from '../../lib/scenario/fields.ts';
import { expect, test } from 'vitest';
import { able } from '../../lib/core/capabilities.ts';
import type { Backend, OpenedCluster, Testbed } from '../../lib/run/ports/cluster.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import type { ActionRecord, TimedRecord } from '../../lib/history/records.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { modelScenario, runOnModel, runTogether, shortTimers } from '../support/model-run.ts';
import { mysql } from '../../lib/mysql/database.ts';

const timers = combined(shortTimers, {
  load: { rate: 4 },
  watch: { horizon: 90_000, converge: 120_000 },
});
const scenario = modelScenario({
  ...timers,
  remedy: { kind: 'force-delete' },
  disk: { mode: 'fenced' },
});
const three = [
  scenario,
  modelScenario({ ...timers, remedy: { kind: 'force-delete' }, disk: { mode: 'unfenced' } }),
  modelScenario({
    ...timers,
    remedy: { kind: 'none' },
    disk: { mode: 'exclusive' },
    load: { ...timers.load, rate: 2 },
  }),
] as const;

const recordsOf = (folder: string): readonly TimedRecord[] => [
  ...openHistory(folder).smallRecords(),
];
const verdictOf = (folder: string): Verdict =>
  assembleVerdict(openHistory(folder), { database: mysql });

/** When the steady image was audited, and when the victim was broken, ms. */
function times(folder: string): { readonly audited: number; readonly broken: number } {
  const records = recordsOf(folder);
  const audited = records.find((record) => record.type === 'image' && record.image === 'steady');
  const broken = records.find((record) => record.type === 'phase' && record.phase === 'watch');
  if (audited === undefined || broken === undefined) throw new Error('it is not a whole run');
  return { audited: audited.t, broken: broken.t };
}

/** Whole of it, and what each history tells of it. */
const told = (folder: string, actor: ActionRecord['actor']): readonly string[] =>
  recordsOf(folder).flatMap((record) =>
    record.type === 'action' && record.actor === actor
      ? [`${record.name} ${record.step} ${record.t}`]
      : [],
  );

/** Names of volumes and pods in a history, and those that nodes list. */
function namesIn(folder: string): Readonly<Record<'volumes' | 'listed' | 'pods', string[]>> {
  const data = recordsOf(folder).flatMap((record) =>
    record.type === 'observation' ? [record.data] : [],
  );
  const found = (key: 'volume' | 'volumes' | 'pod'): string[] => [
    ...new Set(data.flatMap((each) => each[key] ?? [])),
  ];
  return { volumes: found('volume'), listed: found('volumes'), pods: found('pod') };
}

/** The model, with something changed in what it opens. */
const opening =
  (change: (opened: OpenedCluster<Testbed>) => OpenedCluster<Testbed>) =>
  (model: Backend): Backend => ({
    ...model,
    open: async (volumes) => change(await model.open(volumes)),
  });

/** The volume of that number, changed. */
const withVolume =
  (
    index: number,
    change: (volume: PromiseSettledResult<Testbed>) => PromiseSettledResult<Testbed>,
  ) =>
  (opened: OpenedCluster<Testbed>): OpenedCluster<Testbed> => ({
    ...opened,
    volumes: opened.volumes.map((volume, at) => (at === index ? change(volume) : volume)),
  });

test('beside others each comes to the same as alone; the node is broken and mended once', async () => {
  const done: string[] = [];
  const counted = opening((opened) => ({
    ...opened,
    cluster: {
      ...opened.cluster,
      machine(node) {
        const machine = able(opened.cluster.machine(node), 'machine', ['node-network']);
        const count = (what: 'disconnect' | 'reconnect') => () => {
          done.push(what);
          return machine[what]();
        };
        return { ...machine, disconnect: count('disconnect'), reconnect: count('reconnect') };
      },
    },
  }));
  const together = await runTogether(three, { on: counted });
  expect(done).toEqual(['disconnect', 'reconnect']);
  const [first = [], ...others] = together.map(({ folder }) => told(folder, 'fault'));
  expect(first.map((each) => each.split(' ')[1])).toEqual(['begin', 'done', 'heal', 'healed']);
  for (const each of others) expect(each).toEqual(first);
  expect(together.map(({ folder }) => told(folder, 'remedy').length)).toEqual([2, 2, 0]);
  for (const [index, { folder }] of together.entries()) {
    const { audited, broken } = times(folder);
    expect(audited).toBeGreaterThan(broken);
    expect(verdictOf(folder).incompleteBecause).toEqual([]);
    // Its own, and nobody else’s.
    const number = index === 0 ? '' : `${index}`;
    const volume = `mysql-data${index === 0 ? '' : `-${index}`}`;
    expect(namesIn(folder)).toEqual({
      ...{ volumes: [volume], listed: [volume], pods: [`mysql${number}-0`] },
    });
  }
  const verdicts = together.map(({ folder }) => verdictOf(folder).verdict);
  expect(verdicts).toEqual(['safe', 'corrupt', 'safe']);
  const alone: string[] = [];
  for (const each of three) alone.push((await runOnModel(each)).verdict.verdict);
  expect(verdicts).toEqual(alone);
});

test('what is done to the node is done once to all', async () => {
  const tainted: string[] = [];
  const counted = opening((opened) => {
    const kubernetes = able(opened.cluster.kubernetes, 'kubernetes', ['node-taint']);
    const taint: typeof kubernetes.taint = (node, taint) => {
      tainted.push(node);
      return kubernetes.taint(node, taint);
    };
    return { ...opened, cluster: { ...opened.cluster, kubernetes: { ...kubernetes, taint } } };
  });
  const both = (['unfenced', 'fenced'] as const).map((disk) =>
    modelScenario({ ...timers, remedy: { kind: 'out-of-service' }, disk: { mode: disk } }),
  );
  const together = await runTogether(both, { on: counted });
  expect(tainted).toHaveLength(1);
  const [first, second] = together.map(({ folder }) => told(folder, 'remedy'));
  expect(first).toHaveLength(4);
  expect(second).toEqual(first);
  expect(together.map(({ folder }) => verdictOf(folder).verdict)).toEqual(['corrupt', 'safe']);
});

test('one that fails in prepare leaves the others whole', async () => {
  const noRoom = opening(
    withVolume(1, () => ({ status: 'rejected', reason: new Error('no room') })),
  );
  const [first, second, third] = await runTogether(three, { on: noRoom });
  expect(second?.ended).toMatchObject({ status: 'rejected', reason: new Error('no room') });
  for (const each of [first, third]) {
    expect(each?.ended.status).toBe('fulfilled');
    const { verdict, incompleteBecause } = verdictOf(each?.folder ?? '');
    expect({ verdict, incompleteBecause }).toEqual({ verdict: 'safe', incompleteBecause: [] });
  }
});

const never = (): Promise<never> => new Promise(() => undefined);

test.each([
  ['audit', (value: Testbed): Testbed => ({ ...value, auditor: { audit: never } })],
  ['watch', (value: Testbed): Testbed => ({ ...value, disk: { ...value.disk, copy: never } })],
] as const)('one whose %s hangs leaves the others whole', async (_, change) => {
  const hanging = opening(
    withVolume(1, (volume) =>
      volume.status === 'rejected' ? volume : { ...volume, value: change(volume.value) },
    ),
  );
  const [first, second, third] = await runTogether(three, { on: hanging });
  expect(verdictOf(second?.folder ?? '').incompleteBecause).not.toEqual([]);
  for (const each of [first, third]) {
    const { verdict, incompleteBecause } = verdictOf(each?.folder ?? '');
    expect({ verdict, incompleteBecause }).toEqual({ verdict: 'safe', incompleteBecause: [] });
  }
});

test('an interrupt ends all of them, healed once and closed once', async () => {
  const interrupt = new AbortController();
  let closed = 0;
  const counted = opening((opened) => ({
    ...opened,
    close() {
      closed += 1;
      return opened.close();
    },
  }));
  const together = await runTogether(three, {
    on: counted,
    signal: interrupt.signal,
    onPhase: (phase) => {
      if (phase === 'watch') interrupt.abort(new Error('ended by SIGINT'));
    },
  });
  expect(closed).toBe(1);
  const healed = together.map(({ folder }) => told(folder, 'fault').at(-1));
  expect(healed[0]).toContain('healed');
  expect(new Set(healed).size).toBe(1);
  for (const { folder } of together) {
    expect(recordsOf(folder).map(({ type }) => type)).toContain('segments');
    expect(verdictOf(folder).verdict).toBe('inconclusive');
  }
});

test('a database that started elsewhere is not struck, and says so', async () => {
  const elsewhere = opening(
    withVolume(1, (volume) => {
      if (volume.status === 'rejected') return volume;
      const { kubernetes, nodes } = volume.value;
      const databasePod: typeof kubernetes.databasePod = async () => {
        const pod = await kubernetes.databasePod();
        return pod === undefined ? undefined : { ...pod, node: nodes[1] ?? '' };
      };
      return { ...volume, value: { ...volume.value, kubernetes: { ...kubernetes, databasePod } } };
    }),
  );
  const [first, second] = await runTogether(three, { on: elsewhere });
  const errors = recordsOf(second?.folder ?? '').flatMap((record) =>
    record.type === 'error' ? [record.message] : [],
  );
  expect(errors.join()).toContain('OTHER_VICTIM');
  expect(verdictOf(first?.folder ?? '').verdict).toBe('safe');
});
