/** Staging the volume on a node: what the driver's NodeStage does before the mount, and refuses. */
import type { NodeMachine } from '../machine.ts';
import { decideStage } from '../disk/modes.ts';
import { Mount } from '../disk/mount.ts';
import type { Path } from '../disk/path.ts';
import type { Volume } from '../disk/volume.ts';
import { csiCalls } from '../../../history/observations.ts';
import { measuredTimes } from '../timings.ts';
import { draw, type World } from '../world.ts';
import { seeCall, seeWritten } from './sightings.ts';

interface StagingRequest {
  readonly world: World;
  readonly machine: NodeMachine;
  readonly volume: Volume;
  readonly path: Path;
  /** Undefined where the disk or the file system refused. */
  readonly done: (mount: Mount | undefined) => void;
}

export function stage({ world, machine, volume, path, done }: StagingRequest): void {
  const { kernel } = world;
  const { name } = machine;
  const beganAtUs = kernel.nowUs;
  const refuse = (error: string): void => {
    seeCall(world, volume.index, csiCalls.stage, name, beganAtUs, { error });
    done(undefined);
  };
  const mount = (): void => {
    seeWritten(world, volume);
    const mounted = new Mount(volume, path);
    const { generation, device } = path;
    seeCall(world, volume.index, csiCalls.stage, name, beganAtUs, {
      generation,
      device,
      fsck: mounted.fsck,
    });
    done(mounted);
  };
  machine.after(draw(world, measuredTimes.stage), () => {
    const refusal = decideStage({ world, volume, node: name });
    if (refusal !== undefined) return refuse(refusal);
    if (world.of(volume.index).filesystem !== 'ext4-mmp' || volume.clean) return mount();
    lookTwice({ world, machine, volume }, (rival) => {
      if (rival === undefined) mount();
      else refuse(`MMP: the file system is renewed by ${rival.node} (model)`);
    });
  });
}

/**
 * ext4's multiple mount protection: a mount waits whether another one renews the block, claims it,
 * and waits again (fs/ext4/mmp.c ext4_multi_mount_protect).
 */
function lookTwice(
  { world, machine, volume }: Pick<StagingRequest, 'world' | 'machine' | 'volume'>,
  answer: (rival: Path | undefined) => void,
): void {
  const look = (then: () => void): void =>
    machine.after(draw(world, measuredTimes.mmpLook), () => {
      const rival = volume.others(machine.name).find(({ writes }) => writes);
      if (rival === undefined) then();
      else answer(rival);
    });
  look(() => look(() => answer(undefined)));
}
