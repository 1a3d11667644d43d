/** What a cut leaves for others: what was asked, what was done, what came, and the raw records. */
import { harnessVersion } from '../../images/harness-version.ts';
import type { Facts } from '../facts.ts';
import { nodesTold, type NodeTold } from '../trials/certificate.ts';
import type { CutFinding } from './classify.ts';
import type { CutPlan } from './cut-plan.ts';
import type { CutRecord } from './record.ts';
import { storagePathOf, type StoragePath } from './storage-path.ts';

/** Version of the file's form: it changes where a reader of older ones would err. */
export const cutCertificateVersion = 1;

export interface CutCertificate {
  readonly schemaVersion: typeof cutCertificateVersion;
  readonly kind: 'cut-certificate';
  readonly forcedetach: string;
  readonly beganAt: string;
  readonly endedAt: string;
  readonly kubernetes: string;
  /** Timers of the controller manager, where they could be read; empty: the stock ones. */
  readonly timers: readonly string[];
  readonly classes: readonly {
    readonly name: string;
    readonly driver: string;
    readonly parameters: Readonly<Record<string, string>>;
    /** Whether the node still reached its volume. Certificates from before do not say. */
    readonly storagePath?: StoragePath;
  }[];
  readonly nodes: readonly NodeTold[];
  readonly planHash: string;
  readonly plan: CutPlan;
  readonly findings: readonly CutFinding[];
  readonly record: CutRecord;
  /** What could not be read, and so has no part in it. Certificates from before do not say. */
  readonly refused?: Facts['refused'];
  /** What could not be removed afterwards. */
  readonly left?: string;
}

interface Parts extends Pick<CutCertificate, 'plan' | 'record' | 'findings'> {
  readonly facts: readonly Facts[];
  readonly hash: string;
  readonly beganAt: Date;
}

const timing = /grace-period|monitor-period|attach-detach|eviction/;

export function cutCertificateOf(parts: Parts): CutCertificate {
  const { facts, plan, hash, beganAt, record, findings } = parts;
  const [some] = facts;
  return {
    ...{ schemaVersion: cutCertificateVersion, kind: 'cut-certificate' },
    forcedetach: harnessVersion(),
    ...{ beganAt: beganAt.toISOString(), endedAt: new Date().toISOString() },
    kubernetes: some?.kubernetes ?? '',
    timers: some?.controllerManager?.filter((arg) => timing.test(arg)) ?? [],
    classes: facts.map(({ storageClass }) => ({
      name: storageClass?.metadata?.name ?? '',
      driver: storageClass?.provisioner ?? '',
      parameters: storageClass?.parameters ?? {},
      storagePath: storagePathOf(record, storageClass?.metadata?.name ?? ''),
    })),
    nodes: nodesTold({ nodes: some?.nodes ?? [] }, plan.nodes),
    ...{ planHash: hash, plan, findings, record, refused: some?.refused ?? [] },
  };
}
