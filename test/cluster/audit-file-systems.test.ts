/**
 * The audit of other disks than plain ext4, on bare loop devices: it has nothing to say of a
 * database that was crashed on them, and sees the commits that were lost and the file system's harm.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImageEvidence, LedgerRow } from '../../lib/history/evidence.ts';
import type { Judgement } from '../../lib/judge/checkers/index.ts';
import { realClock } from '../../lib/core/time.ts';
import { kindAuditor } from '../../lib/kind/testbed.ts';
import type { Filesystem } from '../../lib/scenario/disk-kinds.ts';
import { judge } from '../support/bare-images.ts';
import type { WriterRecord } from '../../lib/run/workload.ts';
import { BareHost } from './bare-host.ts';
import { missingForBareHost, testLoops } from './bare-lab.ts';
import type { BareVolume } from './bare-volume.ts';
import { mysql } from '../../lib/mysql/database.ts';

const reason = await missingForBareHost();
if (reason !== undefined) console.warn(`skipped: the audit of other file systems ${reason}`);

const seed = 'audit-file-systems';
const clock = realClock();

describe.skipIf(reason !== undefined)('the audit', { timeout: 900_000 }, () => {
  let host: BareHost;
  let volumes = 0;
  beforeAll(async () => {
    host = await BareHost.start((line) => console.log(`  ${line}`));
  });
  afterAll(() => host[Symbol.asyncDispose]());

  /** A volume whose server was killed while it wrote; `flags` are mysqld's. */
  async function crashed(
    filesystem: Filesystem,
    ...flags: string[]
  ): Promise<{ readonly volume: BareVolume; readonly records: readonly WriterRecord[] }> {
    volumes += 1;
    const volume = await host.newVolume(`volume${volumes}`, filesystem);
    const disk = await volume.attach('a');
    const server = await disk.startServer(...flags);
    const writer = server.write({ client: 'inside', connections: 4, rate: 'max' }, seed, clock);
    await sleep(2000);
    await server.signal('STOP');
    await disk.cut();
    await volume.copy('first');
    await server.kill();
    await writer.stop();
    await disk.detach();
    return { volume, records: writer.records };
  }

  async function audit(
    records: readonly WriterRecord[],
    { takenAtMs = clock.nowMs(), isDirectory = false } = {},
  ): Promise<Judgement & { readonly evidence: ImageEvidence }> {
    const rows: LedgerRow[] = [];
    const auditor = kindAuditor({
      real: mysql.real,
      lab: host.lab,
      loop: testLoops.audit,
      seed,
      isDirectory,
    });
    const evidence = await auditor.audit('first', (row) => rows.push(row));
    const judged = judge(seed, records, [{ image: 'first', takenAtMs, evidence, rows }]);
    for (const { code, summary } of judged.findings) console.log(`  ${code}: ${summary}`);
    return { ...judged, evidence };
  }

  test('replays XFS by a mount, checks it, and has nothing to say after a crash', async () => {
    const { records } = await crashed('xfs');
    const { findings, reconciliations, evidence } = await audit(records);
    expect(findings).toEqual([]);
    expect(reconciliations.get('first')).toMatchObject({ unread: undefined, lost: 0 });
    expect(evidence.fsckReplay?.command).toContain('mount -t xfs -o nouuid');
    expect(evidence.fsck).toMatchObject({ exitCode: 0 });
    expect(evidence.fsck?.command).toContain('xfs_repair -n');
  });

  test('calls a broken XFS broken', async () => {
    const { volume, records } = await crashed('xfs');
    // The first allocation group's inode tree, blocks 20 to 40.
    const scribble = 'dd if=/dev/urandom of="$1" bs=4096 seek=20 count=20 conv=notrunc status=none';
    await host.sh(scribble, volume.path);
    await volume.copy('first');
    const { findings } = await audit(records);
    expect(findings.map(({ code }) => code)).toContain('FSCK_ERRORS');
  });

  test('takes a mount that another process spoilt for a gap, not for damage', async () => {
    const { records } = await crashed('ext4');
    const spoils = [
      '#!/bin/sh',
      'for folder; do :; done',
      'rmdir "$folder"',
      'exec /bin/mount "$@"',
    ];
    const asMount = '/usr/local/bin/mount';
    await host.sh('echo "$1" >"$2" && chmod +x "$2"', spoils.join('\n'), asMount);
    try {
      const { findings, evidence } = await audit(records);
      expect(new Set(findings.map(({ level }) => level))).toEqual(new Set(['incomplete']));
      expect(evidence.failures).toContainEqual(expect.stringContaining('was taken from the audit'));
    } finally {
      await host.sh('rm "$1"', asMount);
    }
  });

  test('uses a copy with mount protection at once, and says what it cleared', async () => {
    const { records } = await crashed('ext4-mmp');
    const { findings, evidence } = await audit(records);
    expect(findings).toEqual([]);
    expect(evidence.mmpCleared).toMatchObject({ exitCode: 0 });
    expect(evidence.mmpCleared?.command).toContain('clear_mmp');
  });

  test('reads a shared directory without a device or a mount', async () => {
    const volume = await host.newVolume('files');
    const disk = await volume.attach('a');
    const server = await disk.startServer();
    const writer = server.write({ client: 'inside', connections: 4, rate: 'max' }, seed, clock);
    await sleep(2000);
    await server.signal('STOP');
    const takenAtMs = clock.nowMs();
    await host.copyFiles(disk, 'first');
    await server.signal('CONT');
    await writer.stop();
    await server.stop();
    await disk.detach();
    const { findings, evidence } = await audit(writer.records, { takenAtMs, isDirectory: true });
    expect(await host.auditLeftovers()).toBe('');
    expect(findings).toEqual([]);
    expect(evidence).toMatchObject({ isDirectory: true, mounted: true });
    expect(evidence.fsck).toBeUndefined();
  });
});
