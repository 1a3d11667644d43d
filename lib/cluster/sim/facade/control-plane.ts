/** The control-plane port on the model. */
import type { ControlPlane } from '../../port.ts';
import type { Model } from '../model.ts';
import { measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { Driver } from './driver.ts';

export function simControlPlane({ world, controlPlane }: Model, driver: Driver): ControlPlane {
  const command = <T>(work: () => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.controlPlaneCommand), work);
  return {
    kill: (component) => command(() => controlPlane.kill(component)),
    stall: (component) => command(() => controlPlane.stall(component)),
    resume: (component) => command(() => controlPlane.resume(component)),
    look: (component) => command(() => controlPlane.look(component)),
  };
}
