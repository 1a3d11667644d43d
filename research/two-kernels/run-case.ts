/** One case on one host, from an empty database to the audited images: a run as any other, and its result. */
import { realClock } from '../../lib/real-clock.ts';
import { stockDatabase } from '../../lib/database/fields.ts';
import { noTimes, type BoundedStep } from '../../lib/experiment/run/bounds.ts';
import { audit, copyImage, type ImageRun } from '../../lib/experiment/run/images.ts';
import { observedAlone } from '../observed-alone.ts';
import { bounded, enter, type AttemptWork } from '../../lib/experiment/run/run-context.ts';
import { historyVersion } from '../../lib/history/events.ts';
import type { ImageLabel } from '../../lib/storage/identity.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { RunRecorder } from '../../lib/history/recorder.ts';
import { cases, type CaseName, type LabStage } from './cases.ts';
import { readResult } from './read-result.ts';
import type { Result } from './result.ts';
import { openLabTestbed, type LabTestbed, type LabTestbedOptions } from './testbed.ts';
import { mysql } from '../../lib/mysql/database.ts';

export interface CaseRun
  extends Omit<LabTestbedOptions, 'volume' | 'settings' | 'clock' | 'recorder'> {
  readonly name: CaseName;
  readonly repeat: number;
}

/** Throws where the machine or the machinery fails, or evidence is missing; damage is a result. */
export async function runCase(run: CaseRun): Promise<Result> {
  const { name, host, filesystem, repeat, seed, folder, signal } = run;
  const { connections, rate, ...more } = cases[name];
  const trxCommit = 'trxCommit' in more ? more.trxCommit : stockDatabase.trxCommit;
  // The server's flags are those of the database's pod.
  const settings = { connections, rate, ...stockDatabase, trxCommit };
  const clock = realClock();
  const first = {
    type: 'case',
    schemaVersion: historyVersion,
    ...{ seed, scenario: settings },
    ...{ case: name, host: host.kind, filesystem, repeat },
    ...(host.cpus === undefined ? {} : { cpus: host.cpus }),
  } as const;
  const volume = `${name}-${host.kind}-${filesystem}-${repeat}`;
  await observedAlone(
    {
      ...{ ...run, clock, first },
      open: (stage) => openLabTestbed({ ...run, ...stage, clock, settings, volume }),
    },
    (opened) => workOf(run, opened),
  );
  signal.throwIfAborted();
  return readResult(openHistory(folder));
}

interface OpenedLab {
  readonly testbed: LabTestbed;
  readonly recorder: RunRecorder;
  readonly attempt: AttemptWork;
}

function workOf(
  run: CaseRun,
  opened: OpenedLab,
): ReturnType<Parameters<typeof observedAlone<LabTestbed>>[1]> {
  const { testbed, recorder, attempt } = opened;
  const { victim, successor } = testbed;
  const sides = [victim, successor];
  const takenAtMs = new Map<ImageLabel, number>();
  const within = (step: BoundedStep, work: (signal: AbortSignal) => Promise<void>): Promise<void> =>
    bounded({ ...run, testbed, times: noTimes }, step, work);
  // A server that does not sync each commit is gone, and its volume unmounted, when it is copied.
  const scenario = { trxCommit: 1 } as const;
  const images = (signal: AbortSignal): ImageRun => ({
    ...{ ...opened, database: mysql, scenario, takenAtMs, signal, onProgress: run.onProgress },
  });
  recorder.record({ type: 'workload', clients: sides.map(({ client }) => client.plan) });
  return {
    whileObserved() {
      enter(opened, 'watch');
      return within('case', async (signal) => {
        const image: LabStage['image'] = async (label, paused = []) => {
          for (const { node } of paused) await node.suspend();
          await testbed.onStep(`${label} image`);
          await copyImage(images(signal), label, []);
          for (const { node } of paused) await node.resume();
        };
        await cases[run.name].run({ victim, successor, image });
        for (const { client } of sides) await client.pause();
        for (const side of sides) await side.noteErrorLog();
      });
    },
    async afterwards() {
      await within('remove-database', () => testbed.removeDatabase());
      enter(opened, 'audit');
      for (const label of takenAtMs.keys()) {
        await within('audit', (signal) => audit(images(signal), label));
      }
    },
    async end() {
      const segments = {};
      for (const { client } of sides) {
        await attempt('stop writers', () =>
          within('stop-writers', async () => void Object.assign(segments, await client.end())),
        );
      }
      return segments;
    },
  };
}
