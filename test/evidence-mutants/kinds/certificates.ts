/** Certificates: gone, of one moment only, of another action, too early, or contradicted. */
import { change, drop, faultAt, healAt, ofType, type Alteration } from '../edit.ts';
import type { CertificateRecord } from '../../../lib/history/records.ts';
import type { TimedRecord } from '../held-run.ts';
import { inconclusive, type EvidenceMutant } from '../mutant.ts';

const at =
  (...moments: readonly CertificateRecord['moment'][]) =>
  (record: TimedRecord): boolean =>
    record.type === 'certificate' && moments.includes(record.moment);
const any = ofType('certificate');

const alterations: readonly (readonly [string, Alteration])[] = [
  ['certificates-gone', drop(any)],
  ['certificates-before-gone', drop(at('before'))],
  ['certificates-during-gone', drop(at('during'))],
  ['certificates-after-gone', drop(at('after'))],
  [
    'certificates-of-another-fault',
    change(any, (record: CertificateRecord) => ({ ...record, fault: 'io-error' })),
  ],
  [
    'certificate-during-fails',
    change(at('during'), (record: CertificateRecord) => ({ ...record, holds: false })),
  ],
  [
    'certificate-before-fails',
    change(at('before'), (record: CertificateRecord) => ({ ...record, holds: false })),
  ],
  [
    'certificate-after-fails',
    change(at('after'), (record: CertificateRecord) => ({ ...record, holds: false })),
  ],
  [
    'certificates-during-asked-before-the-fault',
    change(at('during'), (record: CertificateRecord, run) => ({ ...record, t: faultAt(run) - 10 })),
  ],
  [
    'certificates-during-asked-after-the-heal',
    change(at('during'), (record: CertificateRecord, run) => ({
      ...record,
      t: healAt(run) + 5000,
    })),
  ],
  [
    'certificates-after-asked-before-the-heal',
    change(at('after'), (record: CertificateRecord, run) => ({
      ...record,
      t: faultAt(run) + 10_000,
    })),
  ],
  [
    'certificates-during-only-at-injection',
    drop((record, run) => at('during')(record) && record.t > faultAt(run) + 10_000),
  ],
  [
    'certificates-silent-before-the-heal',
    drop((record, run) => at('during')(record) && record.t > healAt(run) - 60_000),
  ],
  [
    'certificate-fails-after-a-minute',
    change(
      (record, run) => at('during')(record) && record.t > faultAt(run) + 30_000,
      (record: CertificateRecord) => ({ ...record, holds: false }),
    ),
  ],
];

export const certificates: readonly EvidenceMutant[] = [
  ...alterations.map(([name, alter]) => ({
    name,
    base: 'fenced' as const,
    right: inconclusive,
    alter,
  })),
  { name: 'certificates-of-a-crash-gone', base: 'crash', right: inconclusive, alter: drop(any) },
];
