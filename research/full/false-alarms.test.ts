/**
 * Clean volumes, mysqld on the disk alone under load: the audit must have nothing to say of any.
 * With FORCEDETACH_NOTE=1 each volume is one line of data/measurements.jsonl; those that
 * are there are not made again, so it can be ended and goes on where it was. FORCEDETACH_VOLUMES=n: how many there
 * are to be (default 240); with `kind` runs (research/false-alarms.mjs) they make 300.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LedgerRow } from '../../lib/history/evidence.ts';
import { mysql } from '../../lib/mysql/database.ts';
import { realClock } from '../../lib/core/time.ts';
import { kindAuditor } from '../../lib/kind/index.ts';
import { saidOf, volumeSchema, type CleanVolume } from '../false-alarms/volume.ts';
import { linesOf, noteLines, versionsOf } from '../../lib/batch/measurements.ts';
import { judge } from '../../test/support/bare-images.ts';
import { isNoting } from '../../test/support/noting.ts';
import { BareHost } from '../../test/cluster/bare-host.ts';
import { Life, planned, stories, type Planned } from './clean-stories.ts';

const count = Number(process.env['FORCEDETACH_VOLUMES'] ?? 240);
const volumeMs = 5 * 60_000;
const loops = { a: 5120, b: 5121, audit: 5122 };

const done = new Set(linesOf(volumeSchema).map(({ id }) => id));
const missing = planned(count).filter(({ key }) => !done.has(key));

let host: BareHost;
beforeAll(async () => {
  host = await BareHost.start((line) => console.log(`  ${line}`), loops);
});
afterAll(() => host[Symbol.asyncDispose]());

test.each(missing)('$key', { timeout: volumeMs }, async (plan) => {
  const volume = await auditedVolume(plan);
  if (isNoting) noteLines([volume]);
  expect(volume.outcome.acked).toBeGreaterThan(0);
  expect(volume.outcome).toMatchObject({ flagged: [], incomplete: [] });
});

test.runIf(isNoting || missing.length === 0)('there are as many volumes as were asked for', () => {
  const volumes = linesOf(volumeSchema).filter(({ scenario }) => scenario.via === 'disk');
  expect(volumes.length).toBeGreaterThanOrEqual(count);
});

async function auditedVolume({ key, story, load }: Planned): Promise<CleanVolume> {
  const clock = realClock();
  const seed = `false-alarms/${key}`;
  const name = key.slice(0, 3);
  const volume = await host.newVolume(name, load.filesystem);
  const life = new Life(volume, clock, seed, load);
  await stories[story]?.(life);
  const takenAtMs = clock.nowMs();
  await volume.copy(name);
  await life.end();
  const rows: LedgerRow[] = [];
  const auditor = kindAuditor({
    real: mysql.real,
    ...{ lab: host.lab, loop: host.loops.audit, seed },
    copyLabel: () => name,
  });
  const evidence = await auditor.audit('second', (row) => rows.push(row));
  await host.removeVolume(name);
  const copies = [{ image: 'second' as const, takenAtMs, evidence, rows }];
  const { findings, reconciliations } = judge(seed, life.records, copies);
  return {
    ...{ kind: 'clean-volume', id: key, seed, basis: 'measured' },
    scenario: { via: 'disk', story, filesystem: load.filesystem },
    outcome: {
      images: 1,
      acked: reconciliations.get('second')?.acked ?? 0,
      ...saidOf(findings),
    },
    versions: versionsOf({ [mysql.name]: await host.sh('mysqld --version') }),
    source: 'npx vitest run --project research research/full/false-alarms.test.ts',
    date: new Date().toISOString(),
  };
}
