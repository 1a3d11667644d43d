/** The run's own records: run, setup, phases, actions, the machine, errors. */
import {
  and,
  add,
  change,
  drop,
  faultAt,
  healAt,
  ofType,
  repeat,
  sinceFault,
  type Alteration,
} from '../edit.ts';
import type {
  ActionRecord,
  MachineRecord,
  PhaseName,
  RunRecord,
} from '../../../lib/history/records.ts';
import type { TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';

const phase =
  (name: PhaseName) =>
  (record: TimedRecord): boolean =>
    record.type === 'phase' && record.phase === name;

const action =
  (actor: ActionRecord['actor'], ...steps: readonly ActionRecord['step'][]) =>
  (record: TimedRecord): boolean =>
    record.type === 'action' && record.actor === actor && steps.includes(record.step);

const copied =
  (image: string) =>
  (record: TimedRecord): boolean =>
    record.type === 'action' && record.name === `copy ${image} image`;

const alterations: readonly (readonly [string, Alteration])[] = [
  ['run-record-gone', drop(ofType('run'))],
  ['run-record-twice', repeat(ofType('run'), 1)],
  ['setup-gone', drop(ofType('setup'))],
  ['phase-heal-gone', drop(phase('heal'))],
  ['phase-watch-gone', drop(phase('watch'))],
  ['phase-steady-gone', drop(phase('steady'))],
  ['phase-report-gone', drop(phase('report'))],
  ['all-phases-gone', drop(ofType('phase'))],
  [
    'phase-heal-before-the-fault',
    change(phase('heal'), (record: TimedRecord, run) => ({ ...record, t: faultAt(run) - 1 })),
  ],
  ['fault-actions-gone', drop(action('fault', 'begin', 'done'))],
  ['fault-never-done', drop(action('fault', 'done'))],
  ['fault-never-healed', drop(action('fault', 'heal', 'healed'))],
  [
    'fault-healed-after-a-minute',
    change(action('fault', 'heal', 'healed'), (record: TimedRecord, run) => ({
      ...record,
      t: faultAt(run) + 30_000,
    })),
  ],
  [
    'fault-on-another-node',
    change(
      (record) => record.type === 'action' && record.actor === 'fault',
      (record: ActionRecord, { story }) => ({
        ...record,
        node: story.setup?.nodes.find((node) => node !== story.victimNode),
      }),
    ),
  ],
  [
    'fault-failed',
    change(action('fault', 'done'), (record: ActionRecord) => ({
      ...record,
      step: 'failed',
      detail: 'planted',
    })),
  ],
  ['remedy-gone', drop(action('remedy', 'begin', 'done'))],
  ['remedy-never-done', drop(action('remedy', 'done'))],
  [
    'remedy-before-the-fault',
    change(action('remedy', 'begin', 'done'), (record: TimedRecord, run) => ({
      ...record,
      t: faultAt(run) - 500,
    })),
  ],
  ['copy-of-the-first-image-gone', drop(copied('first'))],
  ['copy-of-the-second-image-gone', drop(copied('second'))],
  [
    'first-copy-after-the-heal',
    change(copied('first'), (record: TimedRecord, run) => ({ ...record, t: healAt(run) + 1000 })),
  ],
  [
    'an-error',
    add((run) => [{ type: 'error', t: healAt(run), where: 'watch', message: 'planted' }]),
  ],
  [
    'clock-jumps-in-the-watch',
    change(sinceFault, (record: TimedRecord) => ({ ...record, t: record.t + 600_000 })),
  ],
  ['another-run-appended', add((run) => [{ ...run.story.run, runId: 'another', t: healAt(run) }])],
];

/** The model has no machine. */
const machine: readonly (readonly [string, Alteration])[] = [
  ['machine-gone', drop(ofType('machine'))],
  ['machine-gone-from-the-fault-on', drop(and(ofType('machine'), sinceFault))],
  [
    'timer-a-minute-late',
    change(and(ofType('machine'), sinceFault), (record: MachineRecord) => ({
      ...record,
      timerLagMs: 60_000,
    })),
  ],
];

export const plot: readonly EvidenceMutant[] = [
  ...alterations.map(([name, alter]) => ({
    name,
    base: 'fenced' as const,
    right: inconclusive,
    alter,
  })),
  ...machine.map(([name, alter]) => ({
    ...{ name, base: 'fenced' as const, right: inconclusive, alter },
  })),
  {
    name: 'scenario-says-another-disk',
    base: 'damaged',
    right: orWorse,
    alter: change(ofType('run'), (record: RunRecord) => ({
      ...record,
      scenario: { ...record.scenario, disk: { ...record.scenario.disk, mode: 'fenced' } },
    })),
  },
];
