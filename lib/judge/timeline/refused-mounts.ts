/** A node that was given the volume and could not mount it: fsck wrote to it all the same. */
import { countInWords, plural } from '../../core/index.ts';
import { note } from '../checkers/findings.ts';
import { csiCalls, isRefused, observed } from '../../history/index.ts';
import type { Access } from './access.ts';
import type { Story } from './story.ts';
import type { Finding, RefusedMount } from '../verdict/verdict.ts';

/** One for each node, in order of time. The victim's own come after the heal, if ever. */
export function refusedMountsOf(story: Story, accesses: readonly Access[]): RefusedMount[] {
  const { faultAtMs = 0, observations } = story;
  const since = observations.filter(({ t }) => t >= faultAtMs);
  const refusals = since.filter(isRefused(csiCalls.stage));
  const atS = (atMs: number): number => Math.round(atMs - faultAtMs) / 1000;
  const hasLog = accesses.some(({ bytesWritten }) => bytesWritten !== undefined);
  const nodes = new Set(refusals.flatMap(({ node }) => node ?? []));
  return [...nodes].flatMap((node): RefusedMount[] => {
    const mounted = since.find((seen) => seen.name === observed.mounted && seen.node === node)?.t;
    const refused = refusals.filter(({ t, node: on }) => on === node && t < (mounted ?? Infinity));
    const had = accesses.filter(
      (access) =>
        access.node === node && access.toMs > faultAtMs && access.fromMs < (mounted ?? Infinity),
    );
    const [first, last] = [refused[0], refused.at(-1)];
    if (first === undefined || last === undefined) return [];
    const said = new Set(refused.map(({ data }) => textOf(data.error)));
    return [
      {
        node,
        fromS: atS(Math.min(first.t, had[0]?.fromMs ?? Infinity)),
        bytesWritten: writtenIn(had, mounted, hasLog),
        times: refused.length,
        ...{ firstS: atS(first.t), lastS: atS(last.t) },
        mountedS: mounted === undefined ? null : atS(mounted),
        errors: [...said].slice(0, errorsShown),
      },
    ];
  });
}

/** Null where nobody can tell what was written before the mount. */
function writtenIn(
  had: readonly Access[],
  mountedMs: number | undefined,
  hasLog: boolean,
): number | null {
  const isSplit = had.some(({ toMs }) => mountedMs !== undefined && toMs > mountedMs);
  if (!hasLog || isSplit) return null;
  return had.reduce((sum, { bytesWritten = 0 }) => sum + bytesWritten, 0);
}

const errorsShown = 3;
const textOf = (error: unknown): string =>
  typeof error === 'string' ? error : JSON.stringify(error);

export const refusedMountFindings = (refused: readonly RefusedMount[]): Finding[] =>
  refused.map((each) => note('MOUNT_REFUSED', refusedInWords(each), each.errors));

/** Who had the volume, from when on, what he wrote, and how often he was refused. */
export function refusedInWords(refused: RefusedMount): string {
  const { node, fromS, bytesWritten, times, mountedS } = refused;
  const wrote =
    bytesWritten === null
      ? ''
      : `, wrote ${bytesWritten === 0 ? 'nothing' : `${countInWords(bytesWritten)} bytes`}`;
  const came = mountedS === null ? '' : ` until +${mountedS.toFixed(1)} s`;
  return (
    `node ${node} had the volume from +${fromS.toFixed(1)} s on${wrote}, and was refused the mount ` +
    `${plural(times, 'time')}${came}`
  );
}
