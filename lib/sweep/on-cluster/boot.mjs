/**
 * The first program of a shard's pod, with nothing but Node at hand: lays out the files of the
 * bundle, and runs the shard. Arguments: the folder that has bundle and plan, a folder to write to.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

const [given = '', root = ''] = process.argv.slice(2);
const bundle = gunzipSync(readFileSync(join(given, 'bundle.json.gz')));
/** @type {Record<string, string>} */
const files = JSON.parse(bundle.toString());
for (const [path, text] of Object.entries(files)) {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
const { runShard } = await import(pathToFileURL(join(root, 'lib/sweep/on-cluster/shard.ts')).href);
await runShard(given);
