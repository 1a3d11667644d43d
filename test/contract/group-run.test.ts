/** The one sequence on a group: three members that the model plays one of, one volume each. */
import { combined } from '../../lib/scenario/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { modelScenario, shortTimers } from '../support/model-run.ts';
import { openAlone } from '../support/opened.ts';
import type { LedgerRow, PodRef } from '../../lib/history/evidence.ts';
import type { Backend, Closes, GroupTestbed } from '../../lib/run/ports/cluster.ts';
import { simBackend } from '../../lib/sim/backend.ts';
import { historyVersion, type PhaseName, type TimedRecord } from '../../lib/history/records.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { groupVerdictSchema, type GroupVerdict } from '../../lib/judge/group/verdict.ts';
import type { GroupView } from '../../lib/history/workload.ts';
import { judgeHistory, playAndJudge } from '../../lib/cli/library/run-plan.ts';
import { mysql } from '../../lib/mysql/database.ts';

type Alone = GroupTestbed & Closes;
type Changes = (group: Alone) => Partial<Alone>;

/** The model's database is the first primary; once its node is cut off, the next one is. */
function groupOn(model: Backend, change: Changes): Backend {
  return {
    ...model,
    async openGroup(options) {
      const testbed = await openAlone(model, options);
      const pod = await testbed.kubernetes.databasePod();
      if (pod === undefined) throw new Error('the model has no database');
      const others = testbed.nodes.filter((node) => node !== pod.node);
      const names = [pod.node, ...others];
      const members = new Map(names.map((node): [string, PodRef] => [node, { ...pod, node }]));
      let primary = names[0];
      const view = (node: string): GroupView => ({
        ...{ node, superReadOnly: false, offlineMode: false },
        members: names.map((each) => ({
          ...{ node: each, state: 'ONLINE' },
          role: each === primary ? 'PRIMARY' : 'SECONDARY',
        })),
      });
      const group: Alone = {
        ...testbed,
        members: () => members,
        disk: () => testbed.disk,
        views: () => names.map(view),
        machine: (node) => ({
          ...testbed.machine(node),
          async disconnect() {
            await testbed.machine(node).disconnect();
            primary = others[0];
          },
        }),
        readLedger: (node) =>
          Promise.resolve({ node, rows: 0, checksums: ['x'], gtids: '', beyond: '' }),
      };
      return { ...group, ...change(group) };
    },
  };
}

interface Ran {
  readonly verdict: GroupVerdict;
  readonly records: readonly TimedRecord[];
  readonly unhealed: readonly string[];
}

/** `interruptIn`: as that phase begins. Default: never. */
async function runOn(change: Changes = () => ({}), interruptIn?: PhaseName): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-group-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const interrupt = new AbortController();
  const unhealed: string[] = [];
  const times = { watch: { patience: 10_000, horizon: 60_000 } };
  const { verdict } = await playAndJudge({
    scenario: modelScenario(
      combined(shortTimers, times, {
        load: { rate: 2 },
        database: { kind: 'group-replication', majorityTimeout: 100_000 },
      }),
    ),
    ...{ database: mysql, seed: '1', runId: 'run', folder, replay: 'none' },
    backend: groupOn(simBackend(), change),
    onProgress: () => undefined,
    onPhase: (phase) => {
      if (phase === interruptIn) interrupt.abort(new Error('ended by SIGINT'));
    },
    onUnhealed: (what) => unhealed.push(what),
    signal: interrupt.signal,
  });
  const history = openHistory(folder);
  expect((await judgeHistory(history, mysql)).verdict).toEqual(verdict);
  const records = [...history.records()];
  return { verdict: groupVerdictSchema.parse(verdict), records, unhealed };
}

const phasesOf = (records: readonly TimedRecord[]): PhaseName[] =>
  records.flatMap((record) => (record.type === 'phase' ? [record.phase] : []));
const errorsOf = (records: readonly TimedRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'error' ? [record.message] : []));
const atOf = (records: readonly TimedRecord[], phase: PhaseName): number =>
  records.find((record) => record.type === 'phase' && record.phase === phase)?.t ?? Number.NaN;

const silent = 'reported nothing in the whole run';

test('a group goes through the same phases, and its history is one of today', async () => {
  const { records, verdict, unhealed } = await runOn();
  expect(phasesOf(records)).toEqual([
    ...['prepare', 'steady', 'fault', 'watch', 'first-image', 'heal', 'converge'],
    ...['second-image', 'audit', 'report'],
  ]);
  expect(errorsOf(records)).toEqual([]);
  expect(unhealed).toEqual([]);
  expect(records[0]).toMatchObject({ type: 'run', schemaVersion: historyVersion });
  const listed = records.find((record) => record.type === 'segments');
  expect(Object.keys(listed?.segments ?? {})).toEqual(['writer-inside', 'writer-outside']);
  // Its verdict rests on the ends of journals and on certificates asked again, as every other's. Nobody
  // asks the members here, and nobody reads.
  expect(verdict.incompleteBecause).toEqual([
    ...['the group’s members', 'the router'].map((who) => `${who} ${silent}`),
    ...['inside', 'outside'].map((side) => `the reader from the ${side} ${silent}`),
    'no client ever read at the victim',
    expect.stringMatching(/^who answers as a member of the group \(sim-worker\): /),
  ]);
  expect(verdict.readings.map(({ reading }) => reading)).toEqual(['first', 'second']);
  expect(verdict.members).toHaveLength(3);
  // A member that gives up after 100 s is seen to.
  expect(atOf(records, 'first-image') - atOf(records, 'watch')).toBeGreaterThan(115_000);
});

test('an interrupt in the watch ends healed and closed', async () => {
  let closed = 0;
  const counted: Changes = (group) => ({
    close: async () => {
      closed += 1;
      await group.close();
    },
  });
  const { records, verdict } = await runOn(counted, 'watch');
  expect(phasesOf(records)).toEqual(['prepare', 'steady', 'fault', 'watch', 'heal', 'converge']);
  expect(records).toContainEqual(expect.objectContaining({ actor: 'fault', step: 'healed' }));
  expect(records.map(({ type }) => type)).toContain('segments');
  expect(closed).toBe(1);
  expect(verdict.verdict).toBe('inconclusive');
});

test('a reading that hangs is given up, and what it reads later spoils nothing', async () => {
  const late: Changes = (group) => ({
    async readLedger(node, upTo, onRow) {
      await group.clock.sleep(1_000_000);
      onRow({} as LedgerRow);
      return group.readLedger(node, upTo, onRow);
    },
  });
  const { records } = await runOn(late);
  expect(errorsOf(records)).toEqual([
    expect.stringContaining('GIVEN_UP: first-image did not end in time'),
    expect.stringContaining('CUT_SHORT'),
  ]);
  expect(phasesOf(records)).toContain('heal');
});

test('a group that is not whole is never broken; one that cannot be mended says so', async () => {
  const alone = await runOn((group) => ({ views: (side) => group.views(side).slice(1) }));
  expect(errorsOf(alone.records)).toEqual([expect.stringContaining('NO_STEADY_STATE')]);
  expect(phasesOf(alone.records)).not.toContain('fault');
  const stuck = await runOn(() => ({ close: () => Promise.reject(new Error('no')) }));
  expect(stuck.unhealed).toEqual([expect.stringMatching(/^close: .*no/)]);
});

test('the first reading is never the victim’s', async () => {
  const { records } = await runOn((group) => {
    const before = group.views('outside');
    return { views: () => before };
  });
  expect(errorsOf(records)[0]).toContain('NO_PRIMARY');
  expect(phasesOf(records)).toContain('heal');
});
