/** `--expect` and `--compare`: exit codes and JUnit rest on these. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parseArguments } from '../../cli/command.ts';
import { checkProbeFlags, probeCommand } from '../../cli/commands/probe.ts';
import { holdAnswer } from './measured.ts';
import { compareCertificates } from '../published/driver-file.ts';
import { readCertificate, unpacked } from '../certificate.ts';
import { renderCertificateJunit } from '../published/junit.ts';

const records = fileURLToPath(
  new URL('../../../test/fixtures/certificates/block.acme.example/dac05a0c7485/', import.meta.url),
);
const path = (name: string): string => join(records, `${name}.json.zst`);
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-expected-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fenced = { mode: 'fenced', modes: ['fenced'] } as const;
const alike = { mode: undefined, modes: ['unfenced', 'fence-if-out-of-service'] } as const;

test.each([
  ['the mode', fenced, ['fenced'], 'expected'],
  ['one of several', fenced, ['ack-early', 'fenced'], 'expected'],
  ['another mode', fenced, ['unfenced'], 'other'],
  ['all that the trials leave open', alike, ['fence-if-out-of-service', 'unfenced'], 'expected'],
  ['one of two that the trials leave open', alike, ['unfenced'], 'undecided'],
  ['none of those', alike, ['fenced'], 'other'],
  ['an undecided answer', { mode: undefined, modes: [] }, ['fenced'], 'undecided'],
  ['lost writes', { mode: undefined, modes: ['fenced'] }, ['fenced'], 'other'],
] as const)('%s', (_, answer, expected, is) => {
  expect(holdAnswer(answer, expected).is).toBe(is);
});

const counts = /tests="\d+"\s+failures="(\d)" errors="(\d)"/;

test('in JUnit another answer fails, an undecided one is an error', async () => {
  const basalt = readCertificate(unpacked(path('basalt')));
  const found = async (...expected: ('fenced' | 'unfenced')[]): Promise<string[] | undefined> =>
    counts
      .exec(await renderCertificateJunit(basalt, holdAnswer(basalt.answer, expected)))
      ?.slice(1);
  expect(await found('fenced')).toEqual(['0', '0']);
  expect(await found('unfenced')).toEqual(['1', '0']);
  const amber = readCertificate(unpacked(path('amber')));
  const open = await renderCertificateJunit(amber, holdAnswer(amber.answer, ['unfenced']));
  expect(counts.exec(open)?.slice(1)).toEqual(['0', '1']);
  expect(open).toContain('--expect unfenced,fence-if-out-of-service');
});

test('flags: modes that there are, and trials', () => {
  const expected = (words: string) =>
    checkProbeFlags(parseArguments(probeCommand(), ['-s', 'c', ...words.split(' ')]).opts()).expect;
  expect(expected('--run --expect fenced,ack-early')).toEqual(['fenced', 'ack-early']);
  const refused = expect.objectContaining({ code: 'BAD_FLAG' });
  for (const words of ['--expect fenced', '--run --expect locked', '--compare a']) {
    expect(() => expected(words)).toThrow(refused);
  }
});

test('two certificates of one answer are the same, whatever their times', () => {
  const copy = join(folder, 'copy.json');
  writeFileSync(copy, unpacked(path('basalt')));
  const same = compareCertificates(path('basalt'), copy);
  expect(same.isSame).toBe(true);
  expect(same.text).not.toContain('changed');
});

test('another answer is another one, and the table marks what changed', () => {
  const { isSame, text } = compareCertificates(path('basalt'), path('flint'));
  expect(isSame).toBe(false);
  expect(text).toMatch(/\| answer \| fenced \| reservation \| changed \|/);
  expect(text).toMatch(/\| Kubernetes \| (\S+) \| \1 \|  \|/);
});

test('what is no certificate is refused', () => {
  const other = join(folder, 'other.json');
  writeFileSync(other, '{}');
  expect(() => compareCertificates(other, other)).toThrow(
    expect.objectContaining({ code: 'NO_CERTIFICATE' }),
  );
});
