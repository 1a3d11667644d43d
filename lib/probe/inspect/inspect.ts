/** `forcedetach inspect`: what an incident’s records say of each volume: could two nodes write it, and who let the second one in. */
import { UsageError } from '../../core/index.ts';
import type { JudgedDatabase } from '../../judge/index.ts';
import type { DiskMode } from '../../scenario/index.ts';
import {
  type Answer,
  type Passage,
  type VolumeAnswer,
  answerVolume,
  missingWithoutVolume,
  ranks,
  worstOf,
} from './answer.ts';
import { type Chain, chainOf } from './chain.ts';
import { type Incident, incidentOf } from './incident.ts';
import { type Collected, collect } from './read.ts';
import { redactFolder } from './redact.ts';
import { storageOf } from './storage.ts';

export interface InspectRequest {
  readonly folder: string;
  /** PersistentVolume, or `namespace/claim`. Default: all. */
  readonly volume?: string | undefined;
  /** What the storage does at a detach, as a probe measured it. */
  readonly disk?: DiskMode | undefined;
  readonly database: JudgedDatabase;
  /** Where to make a folder of it that can be sent. */
  readonly redact?: string | undefined;
}

export interface PassageTold extends Passage {
  readonly chain: Chain;
}

export interface VolumeTold extends Omit<VolumeAnswer, 'passages'> {
  readonly passages: readonly PassageTold[];
}

export interface Inspection {
  readonly answer: Answer;
  /** The worst first. */
  readonly volumes: readonly VolumeTold[];
  /** Where no volume is on record: what is missing. */
  readonly missing: readonly string[];
  readonly unplaced: Incident['unplaced'];
  readonly files: Collected['files'];
  readonly trouble: Collected['trouble'];
  /** Logs that no node could be found for. */
  readonly homeless: readonly string[];
  readonly clocks: Incident['offsets'];
}

/** Throws UsageError `FOLDER_UNREADABLE`, `NOTHING_TO_INSPECT`, `NO_SUCH_VOLUME`, `OUT_UNUSABLE`. */
export async function inspectFolder(request: InspectRequest): Promise<Inspection> {
  const { folder, volume: wanted, disk, database, redact } = request;
  const collected = await collect(folder);
  const { files, trouble } = collected;
  if (files.every(({ records }) => records === 0)) {
    throw new UsageError('NOTHING_TO_INSPECT', `no record of an incident is in ${folder}`, {
      hint: 'collect the audit log, kubectl dumps and logs as docs/how-to/inspect.md lists them',
      command: 'kubectl get nodes,pods,pv,pvc,volumeattachments,events -A -o json > objects.json',
    });
  }
  const incident = incidentOf(collected);
  if (redact !== undefined) await redactFolder(folder, redact, collected, incident);
  const volumes = [...incident.volumes.values()].filter(
    ({ name, claim }) => wanted === undefined || name === wanted || claim === wanted,
  );
  if (volumes.length === 0 && wanted !== undefined) {
    throw new UsageError('NO_SUCH_VOLUME', `no record in ${folder} names the volume ${wanted}`, {
      hint: `choose one: ${[...incident.volumes.keys()].slice(0, 10).join(', ') || 'no record names any'}`,
    });
  }
  const answers = volumes.map((volume) => {
    const storage = storageOf(volume, incident, disk);
    const found = answerVolume(volume, incident, storage);
    const passages = found.passages.map((each) => ({
      ...each,
      chain: chainOf(each, { volume, storage, incident, database }),
    }));
    return { ...found, passages };
  });
  return {
    answer: worstOf(answers.map(({ answer }) => answer)),
    volumes: answers.toSorted((a, b) => rankOf(a) - rankOf(b)),
    missing: volumes.length === 0 ? missingWithoutVolume(incident) : [],
    ...{ files, trouble, homeless: incident.homeless, clocks: incident.offsets },
    unplaced: incident.unplaced,
  };
}

/** One that moved says more than one that stayed. */
const rankOf = ({ answer, passages }: VolumeTold): number =>
  ranks.indexOf(answer) * 2 + (passages.length === 0 ? 1 : 0);
