/** A run on one server a volume, and the verdict that is read from its history alone. */
import type { Testbed } from './ports/cluster.ts';
import { type PodRef, type ImageLabel, openHistory } from '../history/index.ts';
import { EvidenceError } from '../core/index.ts';
import { assembleVerdict, type Verdict } from '../judge/index.ts';
import { audit, auditSteady, copyImage, takeImage } from './images.ts';
import type { RunOptions } from './run-context.ts';
import { recordRun } from './sequence.ts';
import type { Steps, StepsContext, Tested } from './steps.ts';

/** Does what `recordRun` does; resolves to the verdict that its history gives. */
export async function runScenario(options: RunOptions): Promise<Verdict> {
  await recordRun(options, oneServer);
  const { database, custom: { checkers = [] } = {} } = options;
  return assembleVerdict(openHistory(options.folder), { database, checkers });
}

export const oneServer: Tested<Testbed> = {
  open: (backend, volumes) => backend.open(volumes),
  stepsOn: onOneVolume,
};

function onOneVolume(context: StepsContext<Testbed>): Steps {
  const { testbed, scenario, sightings, folder } = context;
  const { disk, kubernetes } = testbed;
  const images = { ...context, takenAtMs: new Map<ImageLabel, number>() };
  return {
    victim: async () => {
      const pod = await kubernetes.databasePod();
      return pod ?? noDatabasePod();
    },
    breakable: () => ({ disk, pods: kubernetes }),
    handOver: {
      hasHappened: () => sightings.secondMountAtMs !== undefined,
      none: `no second mount within ${scenario.horizonMs / 1000} s`,
    },
    leastMs: 0,
    async image(label, signal) {
      const run = { ...images, signal };
      if (label !== 'steady') return takeImage(run, label);
      const pod = await kubernetes.databasePod();
      return copyImage(run, label, pod === undefined ? [] : [pod.node]);
    },
    cold: {
      removeDatabase: () => testbed.removeDatabase(),
      audit: (label, signal) =>
        label === 'steady'
          ? auditSteady({ ...images, signal })
          : audit({ ...images, signal }, label),
      exportWrites: async (signal) => disk.exportWrites?.(folder, signal),
    },
    writesOnly: false,
  };
}

function noDatabasePod(): PodRef {
  throw new EvidenceError('NO_DATABASE_POD', 'no database pod is bound to a node before the fault');
}
