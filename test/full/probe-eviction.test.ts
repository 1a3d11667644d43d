/**
 * A cut in which nobody deletes the pod: Kubernetes evicts it after five minutes and detaches its volume by
 * force six minutes later. Twelve minutes with stock timers; the first test has shorter ones.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CutCertificate } from '../../lib/probe/certificate.ts';
import { probeFolder, runProbe, strangersLab } from './probe-lab.ts';
import { changedSince, stateOf } from './probe-state.ts';

/** Of the toleration that every pod is given, from not Ready on; the eviction comes some seconds later. */
const evictedMs = { leastMs: 295_000, mostMs: 330_000 };

interface Pace {
  readonly pace: 'short' | 'stock';
  readonly healAfter: readonly string[];
  /** From the end of the pod to the end of its attachment. */
  readonly detachedMs: { readonly leastMs: number; readonly mostMs: number };
}

const paces: readonly Pace[] = [
  {
    ...{ pace: 'short', healAfter: ['--heal-after', '10m'] },
    detachedMs: { leastMs: 55_000, mostMs: 100_000 },
  },
  { pace: 'stock', healAfter: [], detachedMs: { leastMs: 355_000, mostMs: 400_000 } },
];

test.each(paces)(
  '$pace timers: evicted, detached by force, and two write where nothing fences',
  async ({ pace, healAfter, detachedMs }) => {
    await using lab = await strangersLab('evicted', pace);
    const [node] = lab.workers;
    const before = await stateOf(lab, true);
    const out = join(probeFolder(), 'cut.json');
    const { code, output } = await runProbe(lab.kubeconfig, [
      ...['-s', 'amber,basalt', '--image', lab.image, '--nodes', lab.workers.join(',')],
      ...['--cut', node, '--yes', node, '--remedy', 'eviction', '--volume-mode', 'Filesystem'],
      ...healAfter,
      ...['--out', out],
    ]);
    console.log(output);
    expect(code, output).toBe(0);
    const { record, findings, timers } = JSON.parse(readFileSync(out, 'utf8')) as CutCertificate;
    expect(timers.some((each) => each.includes('node-monitor-grace-period'))).toBe(
      pace === 'short',
    );
    const [amber, basalt] = findings;
    expect(amber).toMatchObject({ outcome: 'both-wrote', storageClass: 'amber' });
    expect(basalt?.modes).toContain('fenced');
    expect(record.checked).toBe(true);
    for (const { podGoneMs = 0, detachedMs: gone = 0 } of findings) {
      expect(podGoneMs).toBeGreaterThan(evictedMs.leastMs);
      expect(podGoneMs).toBeLessThan(evictedMs.mostMs);
      expect(gone - podGoneMs).toBeGreaterThan(detachedMs.leastMs);
      expect(gone - podGoneMs).toBeLessThan(detachedMs.mostMs);
    }
    expect((await changedSince(lab, before, { wasAway: true })).join('\n')).toBe('');
  },
);
