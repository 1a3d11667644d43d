/**
 * What the probe said of a stranger's classes, which it was told nothing of, held against what each was
 * made to do. Pure: judged again from raw records, trials and cuts together.
 */
import {
  faultyClasses,
  idleClasses,
  strangerClasses,
} from '../../test/support/stranger-objects.ts';
import type { Certificate, CutCertificate, PredictionReport } from '../../lib/probe/certificate.ts';
import { type CutFinding, classifyAll, modesOf } from '../../lib/probe/judge/cut.ts';
import { judgeTrials as judgedTrials } from '../../lib/probe/judge/measured.ts';
import type { VolumeMode } from '../../lib/probe/plan.ts';

export interface BlindRow {
  readonly storageClass: string;
  /** What it was made to do; of a driver that lies or hangs, how. */
  readonly truth: string;
  readonly volumeMode: VolumeMode | 'none';
  readonly trials: number;
  readonly cuts: number;
  /** The modes that agree with all of it, or the word of a refusal. */
  readonly answer: readonly string[];
  /** Of a driver that lies or hangs, to name no mode is right. */
  readonly is: 'right' | 'wrong' | 'undecided';
}

export interface BlindTable {
  /** How many modes were asked for. */
  readonly modes: number;
  readonly trials: number;
  readonly cuts: number;
  readonly wrong: number;
  /** Of classes that are of a mode. */
  readonly undecided: number;
  readonly rows: readonly BlindRow[];
}

export interface BlindRecords {
  readonly certificates: readonly Certificate[];
  readonly cuts: readonly CutCertificate[];
  /** Of classes that are refused. */
  readonly answers: readonly PredictionReport[];
}

export function blindTable({ certificates, cuts, answers }: BlindRecords): BlindTable {
  const rows = [
    ...certificates.map((certificate) => rowOf(certificate, cuts)),
    ...answers.map(refusedRow),
  ].toSorted((a, b) => a.storageClass.localeCompare(b.storageClass));
  const isOfMode = ({ storageClass }: BlindRow): boolean => storageClass in strangerClasses;
  const count = (is: BlindRow['is']): number => rows.filter((row) => row.is === is).length;
  return {
    modes: new Set(rows.filter(isOfMode).map(({ truth }) => truth)).size,
    trials: certificates.reduce((sum, { trials }) => sum + trials.length, 0),
    cuts: cuts.length,
    ...{ wrong: count('wrong'), undecided: count('undecided'), rows },
  };
}

function rowOf(
  { storageClass: { name }, plan, trials }: Certificate,
  all: readonly CutCertificate[],
): BlindRow {
  const cuts = all.filter((cut) => cut.plan.volumeMode === plan.volumeMode).flatMap(findingsOf);
  const own = cuts.filter(({ storageClass }) => storageClass === name);
  const { modes } = judgedTrials(trials, plan).answer;
  const underCuts = modesOf(own);
  const answer = underCuts === undefined ? modes : modes.filter((mode) => underCuts.includes(mode));
  return {
    ...{ storageClass: name, volumeMode: plan.volumeMode, trials: trials.length, answer },
    ...{ cuts: own.length, ...judged(name, answer) },
  };
}

const findingsOf = ({ record, plan }: CutCertificate): CutFinding[] => classifyAll(record, plan);

function judged(name: string, answer: readonly string[]): Pick<BlindRow, 'truth' | 'is'> {
  const faulty = faultyClasses[name];
  if (faulty !== undefined) {
    const { detachMode = '', detachAnswer = 'honest', stageAnswer = 'honest' } = faulty;
    const how = detachAnswer === 'honest' ? `stage ${stageAnswer}` : `detach ${detachAnswer}`;
    return { truth: `${detachMode}, answers ${how}`, is: answer.length === 0 ? 'right' : 'wrong' };
  }
  const truth = strangerClasses[name]?.['detachMode'] ?? 'unknown';
  if (answer.length > 0 && !answer.includes(truth)) return { truth, is: 'wrong' };
  return { truth, is: answer.length === 1 ? 'right' : 'undecided' };
}

/** By whom a class is provided → why trials of it are refused. */
const refusals: Readonly<Record<string, string>> = {
  'nobody.acme.example': 'NO_CSI_DRIVER',
  'absent.acme.example': 'TOO_FEW_NODES',
  'kubernetes.io/no-provisioner': 'LOCAL_VOLUMES',
};

function refusedRow({ storageClass, refusal = '' }: PredictionReport): BlindRow {
  const provisioner = idleClasses[storageClass];
  const right = provisioner === undefined ? 'NO_ATTACHMENTS' : refusals[provisioner];
  const code = /^[A-Z_]+/.exec(refusal)?.[0] ?? 'none';
  return {
    ...{ storageClass, volumeMode: 'none', trials: 0, cuts: 0, answer: [code] },
    truth: provisioner ?? strangerClasses[storageClass]?.['detachMode'] ?? 'unknown',
    is: code === right ? 'right' : 'wrong',
  };
}
