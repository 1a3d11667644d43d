/**
 * `inspect` on what public reports have of their records: names replaced, times kept, nothing added. The answer goes
 * with the conclusion of those who maintain what failed, and names what is missing.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { mysql } from '../../lib/mysql/database.ts';
import { type Inspection, inspectFolder } from '../../lib/probe/inspect/inspect.ts';
import { inspectionText, stepsFor } from '../../lib/probe/inspect/words.ts';

const factsSchema = z.strictObject({
  report: z.url(),
  year: z.int(),
  conclusion: z.string(),
  answer: z.enum(['two could write', 'only one could', 'cannot be told']),
  /** Nodes that had each volume, in order. */
  volumes: z.record(z.string(), z.array(z.string())),
  /** Parts of what the answer names as missing. */
  because: z.array(z.string()).default([]),
  /** Parts of the next steps. */
  next: z.array(z.string()).min(1),
  homeless: z.array(z.string()).default([]),
  /** Of what the report has. */
  lacks: z.string().optional(),
});

const root = 'test/incidents';
const out = mkdtempSync(join(tmpdir(), 'incidents-'));
afterAll(() => rmSync(out, { recursive: true }));

const holders = ({ volumes }: Inspection): [string, string[]][] =>
  volumes.map(({ volume, stints }) => [volume.name, stints.map(({ node }) => node)]);

/** Without the name of a driver that no document is about. */
const storages = ({ volumes }: Inspection): string[] =>
  volumes.map(({ storage }) => storage.words.replace(/ about \S+/, ''));

test.each(readdirSync(root))('%s', async (name) => {
  const facts = factsSchema.parse(parse(readFileSync(join(root, name, 'facts.yaml'), 'utf8')));
  const folder = join(root, name, 'collected');
  const redact = join(out, name);
  const found = await inspectFolder({ folder, redact, database: mysql });
  expect(found.answer).toBe(facts.answer);
  expect(Object.fromEntries(holders(found))).toEqual(facts.volumes);
  expect(found.homeless).toEqual(facts.homeless);
  expect(found.files.filter(({ records }) => records === 0)).toEqual([]);
  const because = found.volumes.flatMap((each) => each.because).join('\n');
  for (const part of facts.because) expect(because).toContain(part);
  const missing = [...found.missing, ...found.volumes.flatMap((each) => each.because)];
  expect(missing.filter((line) => stepsFor([line]).length === 0)).toEqual([]);
  expect(missing.length).toBeGreaterThan(0);
  const next = inspectionText(found).split('\nNext:\n')[1] ?? '';
  for (const part of facts.next) expect(next).toContain(part);
  const redacted = await inspectFolder({ folder: redact, database: mysql });
  expect(redacted.answer).toBe(found.answer);
  expect(storages(redacted)).toEqual(storages(found));
  expect(holders(redacted).map(([, nodes]) => nodes.length)).toEqual(
    holders(found).map(([, nodes]) => nodes.length),
  );
});
