/** A node that was given the volume and could not mount it: fsck wrote to it all the same. */
import { note, plural } from '../checkers/findings.ts';
import { csiCalls, observed } from '../history/observations.ts';
import type { Access } from '../timeline/access.ts';
import type { Story } from '../timeline/story.ts';
import type { Finding } from './verdict.ts';

/** One finding a node: when it had the volume, how often its mount was refused, what it wrote. */
export function refusedMounts(story: Story, accesses: readonly Access[]): Finding[] {
  const { faultAtMs = 0, observations } = story;
  const refusals = observations.filter(
    ({ t, name, data }) =>
      t >= faultAtMs &&
      name === observed.csiCall &&
      data['call'] === csiCalls.stage &&
      data['error'] !== undefined,
  );
  const nodes = new Set(refusals.flatMap(({ node }) => node ?? []));
  return [...nodes].flatMap((node) => {
    const had = accesses.filter((access) => access.node === node && access.toMs > faultAtMs);
    const [first] = had;
    const mounted = observations.find(
      ({ t, name, node: on }) => t >= faultAtMs && name === observed.mounted && on === node,
    );
    const refused = refusals.filter(
      ({ t, node: on }) => on === node && t < (mounted?.t ?? Infinity),
    );
    if (first === undefined || refused.length === 0) return [];
    const bytes = had
      .filter(({ fromMs }) => fromMs < (mounted?.t ?? Infinity))
      .reduce((sum, { bytesWritten = 0 }) => sum + bytesWritten, 0);
    const atS = ((first.fromMs - faultAtMs) / 1000).toFixed(1);
    const wrote = first.bytesWritten === undefined ? '' : ` and wrote ${count(bytes)} bytes`;
    const summary =
      `${node} had the volume from +${atS} s${wrote}, and its mount was refused ` +
      `${plural(refused.length, 'time')}${mounted === undefined ? '' : ' before it came'}`;
    const said = refused.slice(0, errorsShown).map(({ data }) => JSON.stringify(data['error']));
    return [note('MOUNT_REFUSED', summary, said)];
  });
}

const errorsShown = 3;
const count = (n: number): string => n.toLocaleString('en-US');
