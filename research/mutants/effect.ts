/**
 * Proves that what was planted is there: bytes differ from the clean twin's, and MySQL's crash
 * recovery does not heal them. Nothing of the audit is used.
 */
import type { MutantCase } from './mutant-case.ts';
import type { BareVolume } from '../../test/cluster/bare-volume.ts';
import type { Base } from './bases.ts';
import type { Effect, Plot, Proof } from './mutant.ts';
import type { Workshop } from './workshop.ts';

/**
 * Offsets, one a line, at which files of two volumes differ; a byte that only one of them has
 * counts. Both are mounted read-only and without replay. $1 and $2: images, $3 and $4: numbers of
 * loop devices, then the files.
 */
const compareFiles = `
  one=$1 two=$2 a=$3 b=$4; shift 4
  options=ro,noload; [ "$(blkid -p -s TYPE -o value "$one")" != xfs ] || options=ro,norecovery,nouuid
  mkdir -p /mnt/a /mnt/b
  losetup -r /dev/loop$a "$one"; mount -o $options /dev/loop$a /mnt/a
  losetup -r /dev/loop$b "$two"; mount -o $options /dev/loop$b /mnt/b
  for file in "$@"; do
    [ -f "/mnt/a/$file" ] && left="/mnt/a/$file" || left=/dev/null
    [ -f "/mnt/b/$file" ] && right="/mnt/b/$file" || right=/dev/null
    cmp -l "$left" "$right" 2>/dev/null | awk -v f="$file" '{ print f ":" $1 }' || true
    from=$(stat -Lc %s "$left") to=$(stat -Lc %s "$right")
    [ "$from" -lt "$to" ] || { next=$from; from=$to; to=$next; }
    [ "$from" = "$to" ] || awk -v f="$file" -v i="$from" -v n="$to" 'BEGIN { while (i < n) print f ":" ++i }'
  done
  umount /mnt/a /mnt/b; losetup -d /dev/loop$a /dev/loop$b`;

const compareImages = `cmp -l "$1" "$2" | awk '{ print $1 }' || true`;
const countCommon = `sort "$1" > "$1.s"; sort "$2" > "$2.s"; comm -12 "$1.s" "$2.s" | wc -l`;

export async function proveEffect(
  plot: Plot,
  proof: Proof,
  { twin, mutant }: Readonly<Record<'twin' | 'mutant', MutantCase>>,
): Promise<Effect> {
  if (proof.by === 'files') return proveByFiles(plot, proof.files);
  if (proof.by === 'query') return proveByQuery(plot, proof);
  if (proof.by === 'image') return proveByImage(plot);
  if (proof.by === 'events') return { proven: proof.proven, seen: proof.seen };
  const changed = differingRecords(twin, mutant);
  return { proven: changed > 0, seen: `${changed} records of the history differ` };
}

/** Operations, rows and parts of the audit's record that only one of them has, or has otherwise. */
function differingRecords(twin: MutantCase, mutant: MutantCase): number {
  const recordsOf = ({ ops, copies }: MutantCase): readonly (readonly object[])[] => [
    ops.map(({ client, connection, session, seq, outcome }) => {
      return { client, connection, session, seq, outcome };
    }),
    copies.flatMap(({ rows }) => rows),
    copies.flatMap(({ evidence }) => Object.entries(evidence)),
  ];
  const missingIn = (some: readonly object[], others: readonly object[]): number => {
    const known = new Set(others.map((each) => JSON.stringify(each)));
    return some.filter((each) => !known.has(JSON.stringify(each))).length;
  };
  const [one, two] = [recordsOf(twin), recordsOf(mutant)];
  const differing = one.map((records, kind) => {
    const others = two[kind] ?? [];
    return Math.max(missingIn(records, others), missingIn(others, records));
  });
  return differing.reduce((sum, count) => sum + count, 0);
}

async function proveByFiles(plot: Plot, files: readonly string[]): Promise<Effect> {
  const bytesChanged = await differing(plot, plot.base.volume, plot.volume, files, 'planted');
  const { twin, mutant } = await recovered(plot);
  await differing(plot, twin.volume, mutant.volume, files, 'left');
  const bytesLeft = await common(plot);
  await plot.workshop.discard(mutant.volume);
  return { ...bytes(bytesChanged, bytesLeft), proven: bytesChanged > 0 && bytesLeft > 0 };
}

async function proveByQuery(
  plot: Plot,
  { files, query }: Extract<Proof, { by: 'query' }>,
): Promise<Effect> {
  const bytesChanged = await differing(plot, plot.base.volume, plot.volume, files, 'planted');
  const { twin, mutant } = await recovered(plot, query);
  await plot.workshop.discard(mutant.volume);
  const seen = `MySQL says ${mutant.answer}; of the twin ${twin.answer}`;
  return { bytesChanged, seen, proven: bytesChanged > 0 && twin.answer !== mutant.answer };
}

async function proveByImage({ workshop, base, volume }: Plot): Promise<Effect> {
  const { host } = workshop;
  const compare = async (image: BareVolume, to: string): Promise<number> =>
    Number(
      await host.sh(`{ ${compareImages}; } > ${to}; wc -l < ${to}`, base.volume.path, image.path),
    );
  const bytesChanged = await compare(volume, '/tmp/planted');
  const replayed = await workshop.copyOf(volume);
  await host.sh('e2fsck -y -E journal_only "$1" || true', replayed.path);
  await compare(replayed, '/tmp/left');
  const bytesLeft = await common({ workshop });
  await workshop.discard(replayed);
  return { ...bytes(bytesChanged, bytesLeft), proven: bytesChanged > 0 && bytesLeft > 0 };
}

const bytes = (bytesChanged: number, bytesLeft: number): Omit<Effect, 'proven'> => ({
  bytesChanged,
  bytesLeft,
  seen: `${bytesChanged} bytes differ, ${bytesLeft} of them after recovery still`,
});

async function differing(
  { workshop: { host } }: Plot,
  one: BareVolume,
  two: BareVolume,
  files: readonly string[],
  name: 'planted' | 'left',
): Promise<number> {
  const script = `{ ${compareFiles}; } > /tmp/${name}; wc -l < /tmp/${name}`;
  const { a, b } = host.loops;
  return Number(await host.sh(script, one.path, two.path, a, b, ...files));
}

const common = async ({ workshop: { host } }: Pick<Plot, 'workshop'>): Promise<number> =>
  Number(await host.sh(countCommon, '/tmp/planted', '/tmp/left'));

/** A copy on which a server was started, asked, and killed. */
interface Recovered {
  readonly volume: BareVolume;
  /** To the query; `no answer` where the server did not start or refused. */
  readonly answer: string;
}

/** Recovery of a twin costs as much as that of a mutant, and each twin has many mutants. */
const twins = new WeakMap<Base, Map<string, Promise<Recovered>>>();

async function recovered(
  { workshop, base, volume }: Plot,
  query = 'SELECT 1',
): Promise<{ readonly twin: Recovered; readonly mutant: Recovered }> {
  const known = twins.get(base) ?? new Map<string, Promise<Recovered>>();
  twins.set(base, known);
  const twin = known.get(query) ?? recover(workshop, base.volume, query);
  known.set(query, twin);
  return { twin: await twin, mutant: await recover(workshop, volume, query) };
}

async function recover(workshop: Workshop, volume: BareVolume, query: string): Promise<Recovered> {
  const copy = await workshop.copyOf(volume);
  const answer = await workshop.mounted(copy, async (disk) => {
    const server = await disk.startServer().catch(() => undefined);
    if (server === undefined) return 'no answer';
    try {
      return inWords(await server.query(query));
    } catch {
      return 'no answer';
    } finally {
      await server.kill();
    }
  });
  return { volume: copy, answer };
}

const inWords = (rows: readonly object[]): string =>
  rows.flatMap((row) => Object.entries(row).map(([name, value]) => `${name} ${value}`)).join(', ');
