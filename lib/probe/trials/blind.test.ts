/**
 * What the trials said of a stranger's classes, judged again from the raw records: each class against
 * what its driver was made to do, which the trials were not told.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { strangerClasses } from '../../cluster/kind/stranger-objects.ts';
import { planHash } from '../plan.ts';
import type { Certificate } from './certificate.ts';
import { classify } from './classify.ts';
import { measure } from './measured.ts';

const folder = new URL('../../../reports/probe-blind/', import.meta.url);
const certificates = readdirSync(folder)
  .filter((name) => name.endsWith('.json.zst'))
  .map((name) => {
    const text = zstdDecompressSync(readFileSync(new URL(name, folder))).toString();
    return JSON.parse(text) as Certificate;
  });

test('there are some', () => expect(certificates.length).toBe(7));

test.each(certificates.map((each) => [each.storageClass.name, each] as const))(
  '%s: the truth is among what agrees, and a single answer is it',
  (name, { trials, answer, plan, planHash: hash }) => {
    const truth = strangerClasses[name]?.['detachMode'];
    const again = measure(trials.map(classify));
    expect({ mode: again.mode, modes: again.modes }).toEqual({
      mode: answer.mode,
      modes: answer.modes,
    });
    expect(again.modes).toContain(truth);
    if (again.mode !== undefined) expect(again.mode).toBe(truth);
    expect(hash).toBe(planHash(plan));
  },
);
