/** What a cut leaves for others: what was asked, what was done, what came, and the raw records. */
import { harnessVersion } from '../../images/harness-version.ts';
import type { Facts } from '../facts.ts';
import { nodesTold, type CertificateHead } from '../trials/certificate.ts';
import type { CutFinding } from './classify.ts';
import type { CutPlan } from './cut-plan.ts';
import type { CutRecord } from './record.ts';
import { storagePathOf, type StoragePath } from './storage-path.ts';

/** Version of the file's form: it changes where a reader of older ones would err. */
export const cutCertificateVersion = 1;

export interface CutCertificate extends CertificateHead {
  readonly schemaVersion: typeof cutCertificateVersion;
  readonly kind: 'cut-certificate';
  /** Timers of the controller manager, where they could be read; empty: the stock ones. */
  readonly timers: readonly string[];
  readonly classes: readonly {
    readonly name: string;
    readonly driver: string;
    readonly parameters: Readonly<Record<string, string>>;
    /** Whether the node still reached its volume. Certificates from before do not say. */
    readonly storagePath?: StoragePath;
  }[];
  readonly plan: CutPlan;
  readonly findings: readonly CutFinding[];
  readonly record: CutRecord;
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
    classes: facts.map(({ storageClass, driver }) => ({
      name: storageClass?.metadata?.name ?? '',
      driver,
      parameters: storageClass?.parameters ?? {},
      storagePath: storagePathOf(record, storageClass?.metadata?.name ?? ''),
    })),
    nodes: nodesTold({ nodes: some?.nodes ?? [] }, plan.nodes),
    ...{ planHash: hash, plan, findings, record, refused: some?.refused ?? [] },
  };
}
