/**
 * What .github/workflows/nightly.yml runs, and anybody else may: `shard` runs one part of the
 * default matrix on one Kubernetes, `merge` joins the parts of that one, shows the table as the
 * job's summary and judges them. A shard fails only where it left no batch; the merge fails on a changed
 * verdict (one that was not expected), on an inconclusive batch and on a shard that is missing.
 *
 *   FORCEDETACH_KUBERNETES=1.36 FORCEDETACH_SHARD=1/4 node scripts/nightly.ts shard [flags of matrix.mjs]
 *   FORCEDETACH_KUBERNETES=1.36 FORCEDETACH_SHARDS=4 node scripts/nightly.ts merge
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'zx';
import { z } from 'zod';
import {
  isKubernetes,
  kubernetesDefault,
  kubernetesWords,
  minorOf,
} from '../lib/kubernetes-versions.ts';

const settings = z
  .object({
    FORCEDETACH_SEED: z.string().default('nightly'),
    FORCEDETACH_KUBERNETES: z
      .string()
      .refine(isKubernetes, `give ${kubernetesWords}`)
      .default(kubernetesDefault),
    FORCEDETACH_SHARD: z
      .string()
      .regex(/^\d+\/\d+$/)
      .default('1/1'),
    FORCEDETACH_SHARDS: z.coerce.number().int().positive().default(1),
    /** Has a folder for each minor, with its shards and its merged batch. */
    FORCEDETACH_FOLDER: z.string().default('reports/nightly'),
    /** The job's summary: a Markdown file that is appended to. */
    GITHUB_STEP_SUMMARY: z.string().optional(),
  })
  .parse(process.env);
const kubernetes = settings.FORCEDETACH_KUBERNETES;
const folder = join(settings.FORCEDETACH_FOLDER, minorOf(kubernetes));
const shardFolder = (number: number | string): string => join(folder, `shard-${number}`);

const run = $({ nothrow: true, stdio: 'inherit' });
const [task, ...flags] = process.argv.slice(2);
if (task === 'shard') process.exitCode = await runShard();
else if (task === 'merge') process.exitCode = await merge();
else {
  process.stderr.write('usage: node scripts/nightly.ts shard|merge\n');
  process.exitCode = 2;
}

async function runShard(): Promise<number> {
  const shard = settings.FORCEDETACH_SHARD;
  const out = shardFolder(shard.split('/')[0] ?? shard);
  const words = ['--kubernetes', kubernetes, '--shard', shard];
  words.push('--seed', settings.FORCEDETACH_SEED, '--out', out);
  const { exitCode } =
    await run`npx zx experiments/matrix.mjs ${flags} ${words} --reports unexpected`;
  return existsSync(join(out, 'batch.json')) ? 0 : (exitCode ?? 4);
}

async function merge(): Promise<number> {
  const numbers = Array.from({ length: settings.FORCEDETACH_SHARDS }, (_, index) => index + 1);
  const shards = numbers.map(shardFolder).filter((each) => existsSync(join(each, 'batch.json')));
  const out = join(folder, 'batch');
  if (shards.length > 0) await run`npx zx experiments/merge-batches.mjs ${out} ${shards}`;
  const missing = numbers.length - shards.length;
  const lines = missing === 0 ? [] : [`${missing} of ${numbers.length} shards left no batch.`];
  if (!existsSync(join(out, 'batch.json'))) {
    summarize(lines);
    return 4;
  }
  summarize([...lines, readFileSync(join(out, 'summary.md'), 'utf8')]);
  const batch = z
    .object({ verdict: z.enum(['expected', 'unexpected', 'inconclusive']) })
    .parse(JSON.parse(readFileSync(join(out, 'batch.json'), 'utf8')));
  if (batch.verdict === 'unexpected') return 1;
  return batch.verdict === 'inconclusive' || missing > 0 ? 3 : 0;
}

function summarize(lines: readonly string[]): void {
  // All merges of a night share one page: each says which it is.
  const text = `${[`## Kubernetes ${kubernetes}`, ...lines].join('\n\n')}\n`;
  if (settings.GITHUB_STEP_SUMMARY === undefined) process.stdout.write(text);
  else appendFileSync(settings.GITHUB_STEP_SUMMARY, text);
}
