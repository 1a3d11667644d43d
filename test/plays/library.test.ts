/** The public API on the model: parts, runs, and faults, remedies and checkers from outside. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as api from '../../index.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { writtenOf } from '../../lib/scenario/written.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { shortTimers } from '../support/model-run.ts';
import { mysql } from '../../lib/mysql/database.ts';

const cluster = await api.simulated();
const { timers = {} } = writtenOf(shortTimers);
const usual = { timers, cluster, remedy: api.forceDelete() };

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-library-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const standsStill = api.customFault({
  name: 'stands-still',
  like: 'freeze',
  needs: ['node-freeze'],
  breaks: ({ machine }) => machine.freeze(),
  mends: ({ machine }) => machine.thaw(),
  whole: ({ machine }) => [api.isIn(machine, 'running', 'the victim runs')],
  // As those of our own `freeze`, so that the two may be compared.
  broken: ({ machine }) => [
    api.isIn(machine, 'frozen', 'the victim stands still'),
    api.apiReached(machine, false),
  ],
});

const finds: api.Checker = {
  name: 'finds-something',
  check: ({ image }) => [
    api.damage({
      ...{ code: 'FOUND', image, safety: 'corrupt', loud: false, summary: 'it', evidence: [] },
    }),
  ],
};

test('a group is a part, which the model refuses, and takes checkers of one’s own', async () => {
  const { remedy: _, ...alone } = usual;
  const database = api.groupReplication({ majorityTimeout: '10s' });
  const group = { ...alone, database, fault: api.freeze() } as const;
  const frozen = api.experiment(group);
  const { scenario } = frozen;
  expect(scenario).toMatchObject({
    database: { kind: 'group-replication', majorityTimeout: 10_000 },
  });
  expect(scenario.expected).toEqual(['safe']);
  await expect(frozen.run()).rejects.toMatchObject({ code: 'NOT_ON_THIS_CLUSTER' });
  expect(api.experiment({ ...group, checkers: [finds] }).scenario).toEqual(scenario);
  const broken = { ...group, fault: standsStill, checkers: [finds] };
  expect(() => api.experiment(broken as never)).toThrow(/only your own checkers, not fault$/);
  expect(() => api.experiment({ ...group, fault: api.kubeletStall() })).toThrow(/choices are/);
});

test('what belongs to another kind can’t be written, and is refused where types are not asked', () => {
  const { freeze } = api;
  const refused = (options: Partial<api.ExperimentOptions>, why: RegExp): void =>
    expect(() => api.experiment({ ...usual, fault: freeze(), ...options })).toThrow(why);
  // @ts-expect-error nobody does anything, so that nothing is moved back
  refused({ remedy: { moveBack: true } }, /not with remedy none\n.*remedy\.moveBack/);
  // @ts-expect-error as with a time
  refused({ remedy: { at: '5s' } }, /not with remedy none\n.*remedy\.at/);
  // @ts-expect-error nothing flaps
  refused({ fault: { ...freeze(), down: '5s' } }, /fault\.down: it goes only with fault flapping/);
  // @ts-expect-error the kind is not said, and has no default
  refused({ fault: { down: '5s', cpuShare: 0.1 } }, /fault/);
  // @ts-expect-error stock values of three other disks
  const disks = api.array({ cutAfter: '10s', watcherCheck: 'works', fileLocks: 'shared' });
  refused({ storage: disks }, /disk\.cutAfter\n[^]*disk\.watcherCheck\n[^]*disk\.fileLocks/);
  const twice = { disk: 'fenced', volume: { filesystem: 'xfs' } };
  refused(twice as object, /disk: `storage` sets it\n.*volume: `storage` sets it/);
});

test('a run has its verdict, and leaves a report beside its history', async () => {
  const folder = join(newFolder(), 'out');
  const crash = api.experiment({ ...usual, fault: api.nodeCrash() });
  const run = await crash.run({ seed: '1', folder });
  expect(run).toMatchObject({ verdict: 'safe', exitCode: 0, findings: run.details.findings });
  expect(run.details).not.toHaveProperty('custom');
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining(['history', 'report.html', 'verdict.json']),
  );
  expect(assembleVerdict(openHistory(folder), { database: mysql })).toEqual(run.details);
  expect(readdirSync((await crash.run({ seed: '1' })).folder)).toEqual(['history']);
});

test('a folder with a run in it is refused before the cluster is opened', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'verdict.json'), '{}');
  const closed = { ...usual.cluster, open: () => Promise.reject(new Error('opened')) };
  const again = api.experiment({ ...usual, cluster: closed, fault: api.nodeCrash() });
  await expect(again.run({ folder })).rejects.toMatchObject({
    ...{ code: 'OUT_NOT_EMPTY', exitCode: 2, again: undefined },
    hint: expect.not.stringContaining('--'),
  });
  expect(readdirSync(folder)).toEqual(['verdict.json']);
});

test('a fault from outside is judged as the kind that it is like', async () => {
  const ours = await api.experiment({ ...usual, fault: api.freeze() }).run({ seed: '1' });
  const own = await api.experiment({ ...usual, fault: standsStill }).run({ seed: '1' });
  expect(own.details.incompleteBecause).toEqual([]);
  expect(own.verdict).toBe(ours.verdict);
  expect(own.findings).toEqual(ours.findings);
  expect(own.sentence).toBe(ours.sentence.replace('the freeze', 'the stands still'));
  expect(own.details.custom).toEqual({ fault: 'stands-still' });
  // What ours came to says nothing of it.
  expect(own).toMatchObject({ exitCode: 5, details: { open: true } });
});

test.each([
  ['breaks nothing', { breaks: () => Promise.resolve() }],
  ['gives nothing back', { mends: () => Promise.resolve() }],
  ['has not the effect of its kind', { like: 'node-crash' }],
] as const)('one that %s is inconclusive or worse, never safe', async (_, change) => {
  const { breaks, mends } = {
    breaks: ({ machine }: api.LastingContext<'node-freeze'>) => machine.freeze(),
    mends: ({ machine }: api.LastingContext<'node-freeze'>) => machine.thaw(),
    ...change,
  };
  const fault = api.customFault({
    ...{ name: 'liar', like: 'freeze', needs: ['node-freeze'], breaks, mends, ...change },
    whole: ({ machine }) => [api.isIn(machine, 'running', 'the victim runs')],
    broken: ({ machine }) => [api.isIn(machine, 'frozen', 'the victim stands still')],
  });
  const storage = api.array({ mode: 'fenced' });
  const run = await api.experiment({ ...usual, storage, fault }).run({ seed: '1' });
  expect(run.verdict).toBe('inconclusive');
});

test('a remedy from outside acts in its time, under its own name', async () => {
  const own: api.CustomRemedy = {
    ...{ name: 'by-hand', like: 'force-delete' },
    async apply({ volumes }) {
      for (const { pods, pod } of volumes) await pods.forceDelete(pod);
      return 'deleted by hand';
    },
  };
  const fault = api.networkPartition();
  const ours = await api.experiment({ ...usual, fault }).run({ seed: '1' });
  const run = await api.experiment({ ...usual, fault, remedy: own }).run({ seed: '1' });
  expect(run.details).toMatchObject({ incompleteBecause: [], custom: { remedy: 'by-hand' } });
  expect([run.verdict, run.details.phases]).toEqual([ours.verdict, ours.details.phases]);
  const acted = [...openHistory(run.folder).smallRecords()].filter(
    (record) => record.type === 'action' && record.actor === 'remedy' && record.name === 'by-hand',
  );
  expect(acted).not.toEqual([]);
});

test('a checker from outside decides with ours, and is missed where it is not', async () => {
  const judged = api.experiment({ ...usual, fault: api.nodeCrash(), checkers: [finds] });
  const { verdict, findings, folder } = await judged.run({ seed: '1' });
  expect(verdict).toBe('corrupt');
  expect(findings.map(({ code }) => code)).toContain('FOUND');
  expect(assembleVerdict(openHistory(folder), { database: mysql, checkers: [finds] }).verdict).toBe(
    'corrupt',
  );
  expect(assembleVerdict(openHistory(folder), { database: mysql })).toMatchObject({
    verdict: 'inconclusive',
    incompleteBecause: [expect.stringContaining('finds-something')],
  });
});

test('what the model cannot do is refused before it is opened, and nothing is created', async () => {
  const folder = join(newFolder(), 'out');
  const fault = { ...standsStill, needs: ['node-shell'] as const };
  const cluster = { ...usual.cluster, open: () => Promise.reject(new Error('opened')) };
  const refused = api.experiment({ ...usual, cluster, fault }).run({ folder });
  await expect(refused).rejects.toMatchObject({
    ...{ code: 'NOT_ON_THIS_CLUSTER', exitCode: 2 },
    message:
      'the model cannot play this scenario:\n' +
      '✖ stands-still: it cannot run commands on a node (node-shell)\n  → at fault.kind',
  });
  const gate = { featureGates: { AllAlpha: true } };
  const gated = api.experiment({ ...usual, cluster: await api.simulated(gate), fault });
  await expect(gated.run({ folder })).rejects.toMatchObject({
    ...{ code: 'NOT_ON_THIS_CLUSTER', message: expect.stringContaining('✖ AllAlpha: it cannot') },
  });
  expect(existsSync(folder)).toBe(false);
});

test('clusters that could hold no victim and successor, or have no name, are refused', async () => {
  expect(() => api.simulated({ workers: 1 })).toThrow(/needs a victim and a successor/);
  await expect(api.kind({ name: 'No!' })).rejects.toMatchObject({ code: 'CLUSTER_NAME' });
});

test('a run that is ended early is healed first, and inconclusive', async () => {
  const controller = new AbortController();
  const fault: typeof standsStill = {
    ...standsStill,
    goOn: () => Promise.resolve(controller.abort(new Error('enough'))),
  };
  const { signal } = controller;
  const run = await api.experiment({ ...usual, fault }).run({ seed: '1', signal });
  expect(run.verdict).toBe('inconclusive');
  const steps = [...openHistory(run.folder).smallRecords()].flatMap((record) =>
    record.type === 'action' && record.name === 'stands-still' ? [record.step] : [],
  );
  expect(steps).toEqual(['begin', 'done', 'heal', 'healed']);
});
