/** Does the machine keep time? A timer's lag and the kernel's pressure figures, once a second. */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { guarded } from '../../../history/observers.ts';
import type { Recorder } from '../../../history/port.ts';

const everyMs = 1000;

export function observeMachine(recorder: Recorder): Disposable {
  let dueMs = performance.now() + everyMs;
  const look = (): void => {
    const nowMs = performance.now();
    const timerLagMs = Math.max(0, Math.round(nowMs - dueMs));
    dueMs = nowMs + everyMs;
    const cpuPressure = pressure('cpu');
    const ioPressure = pressure('io');
    const memoryPressure = pressure('memory');
    recorder.record({
      type: 'machine',
      timerLagMs,
      ...(cpuPressure === undefined ? {} : { cpuPressure }),
      ...(ioPressure === undefined ? {} : { ioPressure }),
      ...(memoryPressure === undefined ? {} : { memoryPressure }),
      load: loadavg()[0] ?? 0,
    });
  };
  const timer = setInterval(guarded(recorder, 'the machine', look), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Percent of the last ten seconds in which some task waited; undefined where PSI is off. */
function pressure(resource: 'cpu' | 'io' | 'memory'): number | undefined {
  try {
    const text = readFileSync(`/proc/pressure/${resource}`, 'utf8');
    const avg10 = /some avg10=([\d.]+)/.exec(text)?.[1];
    return avg10 === undefined ? undefined : Number(avg10);
  } catch {
    return undefined;
  }
}
