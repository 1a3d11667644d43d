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
  volume: number,
  call: string,
  node: string,
  beganAtUs: number,
  more: Readonly<Record<string, unknown>> = {},
): void {
  if (world.see === undefined) return;
  // Of whole microseconds, as a history dates what it holds: else a call seems to end before its effects.
  const durationMs = (Math.round(world.kernel.nowUs) - Math.round(beganAtUs)) / msUs;
  const data = { call, volume: volumeName(volume), durationMs, ...more };
  world.see({ source: 'csi', name: observed.csiCall, node, volume, data, atUs: beganAtUs });
}

/** Bytes written through each path so far. */
export function seeWritten(world: World, volume: Volume): void {
  if (world.see === undefined) return;
  for (const { node, device, generation, bytesWritten } of volume.paths) {
    const data = { device, generation, bytesWritten };
    const { index } = volume;
    world.see({ source: 'devices', name: observed.deviceWritten, node, volume: index, data });
  }
}

export function seeCut(world: World, volume: number, { node, device, generation }: Path): void {
  const data = { device, generation };
  world.see?.({ source: 'devices', name: observed.deviceCut, node, volume, data });
}

/** What a sidecar writes to its log (lib/self-fence/main.ts). */
export function seeSelfFence(world: World, node: string, volume: number, text: string): void {
  const data = { line: `self-fence: ${text}` };
  world.see?.({ source: 'self-fence', name: observed.selfFence, node, volume, data });
}
