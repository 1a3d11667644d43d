/**
 * What the trials said of a stranger's classes, judged again from the raw records: each class against
 * what its driver was made to do, which the trials were not told.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { strangerClasses } from '../../cluster/kind/stranger-objects.ts';
import { classify } from '../trials/classify.ts';
import { measure } from '../trials/measured.ts';
import { wholeCertificates } from './driver-file.ts';

const root = fileURLToPath(new URL('../../../certificates/', import.meta.url));
const certificates = wholeCertificates(root, 'block.acme.example', 'dac05a0c7485');

test('there are some', () => expect(certificates.length).toBe(7));

test.each(certificates.map((each) => [each.storageClass.name, each] as const))(
  '%s: the truth is among what agrees, and a single answer is it',
  (name, { trials, answer }) => {
    const truth = strangerClasses[name]?.['detachMode'];
    const again = measure(trials.map(classify));
    expect({ mode: again.mode, modes: again.modes }).toEqual({
      mode: answer.mode,
      modes: answer.modes,
    });
    expect(again.modes).toContain(truth);
    if (again.mode !== undefined) expect(again.mode).toBe(truth);
  },
);
