/** The controller manager, stopped as an operator would: kubelet runs what lies in its folder. */
import * as engine from '../../engine/commands.ts';
import { run } from '../../engine/run.ts';
import { waitFor } from '../../cluster/kind/wait.ts';

const manifest = '/etc/kubernetes/manifests/kube-controller-manager.yaml';
const aside = '/etc/kubernetes/kube-controller-manager.yaml';
const program = 'kube-controller-manager';

export class ControllerManager {
  readonly #node: string;

  constructor(controlPlane: string) {
    this.#node = controlPlane;
  }

  /** Resolves once it is gone. */
  async stop(): Promise<void> {
    await this.#sh(`if [ -e ${manifest} ]; then mv ${manifest} ${aside}; fi`);
    await this.#until('ended', '');
  }

  /** Resolves once there is one again; it leads some seconds later. Idempotent. */
  async start(): Promise<void> {
    await this.#sh(`if [ -e ${aside} ]; then mv ${aside} ${manifest}; fi`);
    await this.#until('runs', '[0-9]+');
  }

  /** What its program says to these flags, and its exit code. */
  async tryFlags(...flags: readonly string[]): Promise<{ exitCode: number; said: string }> {
    const script =
      `pid=$(pidof ${program}) && chroot "/proc/\${pid%% *}/root" ${program} "$@" 2>&1; ` +
      'echo "exit $?"';
    const said = await run(engine.shell(this.#node, script, 'sh', ...flags));
    const lines = said.trim().split('\n');
    const exitCode = Number(/^exit (\d+)$/.exec(lines.at(-1) ?? '')?.[1]);
    return { exitCode, said: lines.slice(0, -1).join('\n') };
  }

  async #until(what: string, pattern: string): Promise<void> {
    const wait = { what: `the controller manager ${what}`, timeoutMs: 60_000 };
    await waitFor(wait, async () => {
      const pids = await this.#sh(`pidof ${program} || true`);
      return new RegExp(`^${pattern}$`).test(pids.trim()) || `its processes: ${pids}`;
    });
  }

  #sh(script: string): Promise<string> {
    return run(engine.shell(this.#node, script));
  }
}
