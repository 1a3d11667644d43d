/**
 * Every mode of disk, storage link, file system and access mode on the model: the predicted verdict
 * is one that lib/judge/expectation/expectations.ts, the data that real runs are held to, expects.
 */
import {
  combined,
  type FieldValue,
  type SettableName,
  withValues,
} from '../../lib/scenario/index.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { accessModes, diskModes, type DiskMode } from '../../lib/scenario/disks/index.ts';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import { contradictions } from '../../lib/scenario/contradictions.ts';
import { filesystems, powerLosses, storageLinks } from '../../lib/scenario/disk-kinds.ts';
import { expectationOf } from '../../lib/judge/expectation/expectations.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { modelScenario, runOnModel, shortTimers, type ModelRun } from '../support/model-run.ts';

type Fields = Partial<ScenarioInput>;

const scenarioOf = (fields: Fields): Scenario =>
  modelScenario(combined(shortTimers, { remedy: { kind: 'force-delete' } }, fields));
const run = (fields: Fields, seed?: string): Promise<ModelRun> =>
  runOnModel(scenarioOf(fields), seed);

const said = ({ verdict, incompleteBecause, sentence }: Verdict): string =>
  [verdict, sentence, ...incompleteBecause].join('\n');

/** All given combinations that make sense. */
function combinations(
  factors: {
    readonly [F in SettableName]?: readonly FieldValue<F>[];
  },
): Fields[] {
  let all: Fields[] = [{}];
  for (const [factor, values] of Object.entries<readonly unknown[]>(factors))
    all = all.flatMap((fields) => values.map((value) => withValues(fields, [[factor, value]])));
  const whole = scenarioOf({});
  return all.filter((fields) => contradictions(combined(whole, fields)).length === 0);
}

const remedies = ['force-delete', 'out-of-service'] as const;
const cases: Fields[] = [
  ...combinations({ 'disk.mode': diskModes, 'fault.link': storageLinks, 'remedy.kind': remedies }),
  ...combinations({ 'disk.mode': diskModes, 'volume.accessMode': accessModes.slice(1) }),
  ...combinations({ 'volume.filesystem': filesystems.slice(1), 'fault.link': storageLinks }),
  ...combinations({ 'disk.mode': ['shared-file'], 'disk.fileLocks': ['local'] }),
  ...combinations({
    'disk.mode': ['exclusive'],
    'disk.watcherCheck': ['missing'],
    'fault.link': storageLinks,
  }),
  ...combinations({
    'disk.mode': ['ack-early'],
    'disk.cutAfter': [0, 60_000],
    'fault.link': storageLinks,
  }),
  ...combinations({
    'disk.mode': diskModes,
    'disk.attachWhileBusy': ['granted'],
    'remedy.kind': remedies,
  }),
  ...combinations({
    'disk.mode': diskModes,
    'disk.attachWhileBusy': ['granted'],
    'remedy.kind': ['delete-node'],
    'also.kind': ['controller-restart'],
    'also.at': ['pod-gone'],
  }),
  ...combinations({
    'disk.mode': diskModes,
    'disk.attachWhileBusy': ['refused', 'granted'],
    'remedy.kind': ['strip-attachment-finalizer'],
    'also.kind': ['attacher-down'],
    'also.at': ['terminating'],
    'also.for': [60_000],
  }),
  ...combinations({ 'fault.kind': ['node-crash'], 'disk.mode': diskModes }),
  ...combinations({
    'fault.kind': ['node-crash'],
    'disk.flushes': ['honest', 'ignored'],
    'fault.powerLoss': powerLosses,
  }),
];

describe('the model and the expectation agree', () => {
  test.each(cases.map((fields) => [JSON.stringify(fields), fields] as const))(
    '%s',
    async (_, fields) => {
      const { verdicts, because } = expectationOf(scenarioOf(fields));
      const { verdict } = await run(fields);
      expect(verdict.incompleteBecause, said(verdict)).toEqual([]);
      expect(verdicts, `${because}\n${said(verdict)}`).toContain(verdict.verdict);
    },
  );
});

/** As docs/internals/model.md prints it: the model's one prediction a cell, with a forced delete. */
const predictions: Readonly<Record<DiskMode, readonly string[]>> = {
  unfenced: ['damaged', 'damaged', 'exposed'],
  'ack-early': ['damaged', 'safe', 'safe'],
  'fence-if-out-of-service': ['damaged', 'damaged', 'exposed'],
  fenced: ['safe', 'safe', 'safe'],
  'pending-while-busy': ['safe, no mount', 'safe, no mount', 'safe, no mount'],
  exclusive: ['safe, no mount', 'damaged', 'exposed'],
  reservation: ['safe', 'safe', 'safe'],
  'shared-file': ['safe, no commit', '–', '–'],
};

function predicted({ verdict, phases }: Verdict): string {
  if (phases.secondMount === null) return `${verdict}, no mount`;
  // How long two writers take to break a tree is drawn: it says little about the disk.
  if (verdict === 'lost' || verdict === 'corrupt') return 'damaged';
  return phases.firstCommit === null ? `${verdict}, no commit` : verdict;
}

describe.each(diskModes)('%s', (disk) => {
  test.each(combinations({ 'fault.link': storageLinks, 'disk.mode': [disk] }))(
    '$link: as predicted',
    async (fields) => {
      const { verdict } = await run(fields, '2');
      const column = storageLinks.findIndex((link) => link === fields.fault?.link);
      expect(predicted(verdict), said(verdict)).toBe(predictions[disk][column]);
      // Healed, some server commits again, whatever became of the data.
      expect(verdict.availability.recovered).toBe(true);
    },
  );

  test('docs/internals/model.md prints these predictions', () => {
    const page = readFileSync(new URL('../../docs/internals/model.md', import.meta.url), 'utf8');
    expect(page).toContain(`| \`${disk}\` | ${predictions[disk].join(' | ')} |`);
  });
});

test('a second mount is refused by mount protection only while the other renews it', async () => {
  const { verdict } = await run({ volume: { filesystem: 'ext4-mmp' } });
  expect(verdict.phases.secondMount).toBeNull();
  expect(
    predicted(
      (await run({ volume: { filesystem: 'ext4-mmp' }, fault: { link: 'stalls' } })).verdict,
    ),
  ).toBe('damaged');
});

test('a detach that fails lets a second node attach, where the disk grants that', async () => {
  const { verdict } = await run({
    disk: { mode: 'pending-while-busy', attachWhileBusy: 'granted' },
  });
  expect(predicted(verdict)).toBe('damaged');
  const steps = verdict.licence.map(({ step }) => step);
  expect(steps).toContainEqual(expect.stringContaining('the storage refused the detach'));
  expect(verdict.phases.detached).toBeNull();
});

test('declared ReadWriteMany, a volume is mounted elsewhere before the six minutes are over', async () => {
  const mountAt = async (accessMode: Scenario['volume']['accessMode']): Promise<number> => {
    const { phases } = (await run({ volume: { accessMode } })).verdict;
    return (phases.secondMount ?? Number.NaN) - (phases.podRemoved ?? Number.NaN);
  };
  expect(await mountAt('ReadWriteMany')).toBeLessThan(12);
  expect(await mountAt('ReadWriteOnce')).toBeGreaterThan(15);
});

test('a disk that ignores flushes and loses power is blank: formatted anew, an empty database', async () => {
  const fields = {
    fault: { kind: 'node-crash', powerLoss: 'drops' },
    disk: { flushes: 'ignored' },
  } as const;
  const { verdict } = await run(fields);
  expect(verdict.findings.map(({ code }) => code)).toContain('REFORMATTED');
  expect(verdict.loss?.beforeFault.lost).toBe(verdict.loss?.beforeFault.acked);
});
