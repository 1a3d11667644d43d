/** What the disk's actors show to observers. */
import { observed } from '../../../history/observations.ts';
import { volumeName } from '../api-objects.ts';
import type { Path } from '../disk/path.ts';
import type { Volume } from '../disk/volume.ts';
import { msUs } from '../timings.ts';
import type { World } from '../world.ts';

/** A CSI call that has just ended; like the driver's own log it is dated when it came in. */
export function seeCall(
  world: World,
  call: string,
  node: string,
  beganAtUs: number,
  more: Readonly<Record<string, unknown>> = {},
): void {
  if (world.see === undefined) return;
  // Of whole microseconds, as a history dates what it holds: else a call seems to end before its effects.
  const durationMs = (Math.round(world.kernel.nowUs) - Math.round(beganAtUs)) / msUs;
  const data = { call, volume: volumeName(0), durationMs, ...more };
  world.see({ source: 'csi', name: observed.csiCall, node, data, atUs: beganAtUs });
}

/** Bytes written through each path so far. */
export function seeWritten(world: World, volume: Volume): void {
  if (world.see === undefined) return;
  for (const { node, device, generation, bytesWritten } of volume.paths) {
    const data = { device, generation, bytesWritten };
    world.see({ source: 'devices', name: observed.deviceWritten, node, data });
  }
}

export function seeCut(world: World, { node, device, generation }: Path): void {
  world.see?.({ source: 'devices', name: observed.deviceCut, node, data: { device, generation } });
}

/** What a sidecar writes to its log (lib/self-fence/main.ts). */
export function seeSelfFence(world: World, node: string, text: string): void {
  const data = { line: `self-fence: ${text}` };
  world.see?.({ source: 'self-fence', name: observed.selfFence, node, data });
}
