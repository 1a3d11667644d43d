/** One case on one host, from an empty database to the audited images: a run as any other, and its result. */
import { realClock } from '../../lib/core/index.ts';
import { stockDatabase } from '../../lib/scenario/index.ts';
import {
  audit,
  copyImage,
  type ImageRun,
  each,
  whileObserved,
  type ObservedRun,
} from '../../lib/run/index.ts';
import { observedAlone } from '../observed-alone.ts';
import { historyVersion, type ImageLabel, openHistory } from '../../lib/history/index.ts';
import { cases, type CaseName, type LabStage } from './cases.ts';
import { readResult } from './read-result.ts';
import type { Result } from './result.ts';
import { openLabTestbed, type LabTestbed, type LabTestbedOptions } from './testbed.ts';
import { mysql } from '../../lib/mysql/index.ts';

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
  const settings = { load: { connections, rate }, database: { ...stockDatabase, trxCommit } };
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
    (opened) => perform(run, opened),
  );
  signal.throwIfAborted();
  return readResult(openHistory(folder));
}

async function perform(run: CaseRun, opened: readonly ObservedRun<LabTestbed>[]): Promise<void> {
  // A server that does not sync each commit is gone, and its volume unmounted, when it is copied.
  const scenario = { database: { trxCommit: 1 } } as const;
  const takenAtMs = new Map<ImageLabel, number>();
  const images = (lab: ObservedRun<LabTestbed>, signal: AbortSignal): ImageRun => ({
    ...lab,
    ...{ database: mysql, scenario, takenAtMs, signal },
  });
  for (const lab of opened) {
    lab.shell.record({ type: 'workload', clients: sidesOf(lab).map(({ client }) => client.plan) });
  }
  const copied = await whileObserved(opened, (observed) =>
    each(observed, 'run', async (lab) => {
      const { shell, testbed } = lab;
      const { victim, successor } = testbed;
      shell.enter('watch');
      await shell.bounded('case', async (signal) => {
        const image: LabStage['image'] = async (label, paused = []) => {
          for (const { node } of paused) await node.suspend();
          await testbed.onStep(`${label} image`);
          await copyImage(images(lab, signal), label, []);
          for (const { node } of paused) await node.resume();
        };
        await cases[run.name].run({ victim, successor, image });
        for (const { client } of sidesOf(lab)) await client.pause();
        for (const side of sidesOf(lab)) await side.noteErrorLog();
      });
      return lab;
    }),
  );
  await each(copied, 'run', async (lab) => {
    const { shell, testbed } = lab;
    await shell.bounded('remove-database', () => testbed.removeDatabase());
    shell.enter('audit');
    for (const label of takenAtMs.keys()) {
      await shell.bounded('audit', (signal) => audit(images(lab, signal), label));
    }
  });
  for (const lab of opened) {
    for (const { client } of sidesOf(lab)) {
      await lab.shell.step('stop-writers', async () => {
        Object.assign(lab.segments, await client.end());
      });
    }
  }
}

const sidesOf = ({ testbed: { victim, successor } }: ObservedRun<LabTestbed>) => [
  victim,
  successor,
];
