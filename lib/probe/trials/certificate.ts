/** What trials leave for others: who was asked, what was done, what came, and the raw records. */
import { harnessVersion } from '../../images/harness-version.ts';
import type { Facts, NodeFacts } from '../facts.ts';
import type { TrialPlan } from '../trial-plan.ts';
import type { PredictedMode } from '../documented.ts';
import type { JudgedTrials } from './judge-trials.ts';
import type { TrialRecord } from './record.ts';

/** Version of the file's form: it changes where a reader of older ones would err. */
export const certificateVersion = 1;

/** What is said of every run of the probe. */
export interface CertificateHead {
  readonly forcedetach: string;
  readonly beganAt: string;
  readonly endedAt: string;
  readonly kubernetes: string;
  readonly nodes: readonly NodeTold[];
  /** Hash of `plan`, made before anything was done. */
  readonly planHash: string;
  /** What could not be read, and so has no part in it. Certificates from before do not say. */
  readonly refused?: Facts['refused'];
  /** What could not be removed afterwards. */
  readonly left?: string;
}

/** The nodes are the writer's and the next one's. */
export interface Certificate extends CertificateHead, JudgedTrials {
  readonly schemaVersion: typeof certificateVersion;
  readonly kind: 'detach-certificate';
  readonly driver: { readonly name: string; readonly images: readonly string[] };
  readonly storageClass: {
    readonly name: string;
    readonly parameters: Readonly<Record<string, string>>;
    readonly binding: string;
  };
  readonly plan: TrialPlan;
  /** Why volumes were not asked for as raw ones. */
  readonly noBlock?: string;
  /** From documents and settings, before the trials. */
  readonly predicted: string | null;
  readonly trials: readonly TrialRecord[];
}

export type NodeTold = Pick<NodeFacts, 'name' | 'kernel' | 'kubelet' | 'osImage' | 'runtime'>;

/** Facts of the nodes of a plan, in its order. */
export const nodesTold = (facts: Pick<Facts, 'nodes'>, names: readonly string[]): NodeTold[] =>
  names
    .flatMap((name) => facts.nodes.filter((node) => node.name === name))
    .map(({ name, kernel, kubelet, osImage, runtime }) => ({
      ...{ name, kernel, kubelet, osImage, runtime },
    }));

interface Parts extends Pick<Certificate, 'plan' | 'noBlock'> {
  readonly facts: Facts;
  readonly hash: string;
  readonly beganAt: Date;
  readonly records: readonly TrialRecord[];
  readonly judged: JudgedTrials;
  readonly prediction: PredictedMode;
}

export function certificateOf(parts: Parts): Certificate {
  const { facts, plan, hash, beganAt, records, judged, prediction, noBlock } = parts;
  const { storageClass } = facts;
  const containers = facts.driverPods.flatMap((pod) => pod.containers);
  return {
    ...{ schemaVersion: certificateVersion, kind: 'detach-certificate' },
    forcedetach: harnessVersion(),
    ...{ beganAt: beganAt.toISOString(), endedAt: new Date().toISOString() },
    driver: {
      name: facts.driver,
      images: [...new Set(containers.map(({ image }) => image))],
    },
    storageClass: {
      name: plan.storageClass,
      parameters: storageClass?.parameters ?? {},
      binding: storageClass?.volumeBindingMode ?? 'Immediate',
    },
    kubernetes: facts.kubernetes,
    nodes: nodesTold(facts, plan.nodes),
    ...{ planHash: hash, plan, predicted: prediction.mode ?? null, refused: facts.refused },
    ...(noBlock === undefined ? {} : { noBlock }),
    ...{ ...judged, trials: records },
  };
}
