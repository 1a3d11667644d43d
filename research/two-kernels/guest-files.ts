/**
 * What a guest boots from: a kernel of Debian's, an initramfs of busybox and the modules that the guest
 * needs, and a read-only root. Made once, kept in the cache folder.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtempDisposable, readdir, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { $, engine, run, cacheFolder } from '../../lib/kind/index.ts';
import { InfrastructureError } from '../../lib/core/index.ts';

export interface GuestFiles {
  readonly kernel: string;
  readonly initramfs: string;
  /** ext4, never written: any number of guests may share it. */
  readonly root: string;
}

export interface GuestRecipe {
  /** A metapackage, e.g. `linux-image-amd64`. */
  readonly kernel: string;
  /** What they depend on comes by itself. */
  readonly modules: readonly string[];
  readonly root: GuestRoot;
  readonly onProgress: (line: string) => void;
}

export interface GuestRoot {
  readonly name: string;
  /** The same for the same content. */
  readonly key: string;
  /** Fills the folder `root` in the scratch folder; needs `socat`, by which a guest runs scripts. */
  make(scratch: string): Promise<void>;
}

export const machineModules = ['virtio_pci', 'virtio_blk', 'virtio_net', 'ext4', 'crc32c_generic'];
/** Sparse: a tools image takes 0.6 GB of it. */
const rootSize = '2G';
const initScript = fileURLToPath(new URL('guest-init.sh', import.meta.url));

/** The tools image: guests run the same programs as containers do. */
async function imageRoot(image: string): Promise<GuestRoot> {
  const imageId = await run(engine.imageIds([image]));
  return {
    name: image,
    key: imageId.replace('sha256:', '').slice(0, 12),
    async make(scratch) {
      const container = await run(engine.create([], image, 'true'));
      const here = $({ quiet: true, cwd: scratch });
      try {
        await mkdir(join(scratch, 'root'));
        await here`${engine.exportFiles(container)} | tar --extract --directory root`;
      } finally {
        await run(engine.remove(container));
      }
    },
  };
}

/** Those of two-kernels. */
export const toolsGuest = async (
  image: string,
  onProgress: GuestRecipe['onProgress'],
): Promise<GuestFiles> =>
  guestFiles({
    kernel: 'linux-image-cloud-amd64',
    modules: [...machineModules, 'xfs'],
    root: await imageRoot(image),
    onProgress,
  });

/** Throws InfrastructureError: GUEST_TOOL_MISSING, GUEST_ARCHITECTURE, COMMAND_FAILED. */
export async function guestFiles(recipe: GuestRecipe): Promise<GuestFiles> {
  const { kernel, modules, root, onProgress } = recipe;
  await mustHaveTools();
  const cache = join(cacheFolder(), 'guest');
  await mkdir(cache, { recursive: true });
  const kernelName = await newestKernel(kernel);
  const made = hash('sha256', `${await readFile(initScript, 'utf8')}${modules.join()}`);
  const files = {
    kernel: join(cache, `${kernelName}.vmlinuz`),
    initramfs: join(cache, `${kernelName}-${made.slice(0, 12)}.initramfs`),
    root: join(cache, `${root.key}.ext4`),
  };
  if (!existsSync(files.kernel) || !existsSync(files.initramfs)) {
    onProgress(`guest: fetching ${kernelName} and busybox-static`);
    await inScratch(cache, (scratch) => makeKernel(scratch, kernelName, modules, files));
  }
  if (!existsSync(files.root)) {
    onProgress(`guest: making a root file system of ${root.name}`);
    await inScratch(cache, (scratch) => makeRoot(scratch, root, files.root));
  }
  return files;
}

async function mustHaveTools(): Promise<void> {
  if (process.arch !== 'x64') {
    throw new InfrastructureError('GUEST_ARCHITECTURE', `guests do not run on ${process.arch}`, {
      hint: 'guests are amd64 only; --hosts loops needs none',
    });
  }
  const tools = ['qemu-system-x86_64', 'apt-get', 'dpkg-deb', 'mkfs.ext4', 'setpriv'];
  const found = await $({ quiet: true, nothrow: true })`which ${tools}`;
  const missing = tools.filter((tool) => !found.stdout.includes(`/${tool}\n`));
  if (missing.length === 0) return;
  throw new InfrastructureError('GUEST_TOOL_MISSING', `not installed: ${missing.join(', ')}`, {
    hint: 'Debian has the packages; --hosts loops needs none',
    command: 'apt-get install -y --no-install-recommends qemu-system-x86',
  });
}

/** The package that the metapackage asks for today, e.g. `linux-image-6.1.0-56-cloud-amd64`. */
async function newestKernel(kernelPackage: string): Promise<string> {
  const said = await run(['apt-cache', 'depends', kernelPackage]);
  const name = /Depends: (linux-image-\S+)/.exec(said)?.[1];
  if (name !== undefined) return name;
  throw new InfrastructureError('GUEST_KERNEL_MISSING', `apt does not find ${kernelPackage}`, {
    hint: 'guests need the Debian kernel for virtual machines',
    command: 'apt-get update',
  });
}

/** Downloads and unpacks; nothing is installed, so the machine's own kernel stays what it is. */
async function makeKernel(
  scratch: string,
  kernelName: string,
  modules: readonly string[],
  files: GuestFiles,
): Promise<void> {
  const packages = [kernelName, 'busybox-static'];
  const here = $({ quiet: true, cwd: scratch });
  await here`apt-get download ${packages}`;
  await here`for package in *.deb; do dpkg-deb --extract "$package" tree; done`;
  const release = kernelName.replace('linux-image-', '');
  const own = join(scratch, 'tree/lib/modules', release, 'kernel');
  const folders = ['bin', 'dev', 'modules', 'proc', 'root'].map((name) =>
    join(scratch, 'init', name),
  );
  for (const folder of folders) await mkdir(folder, { recursive: true });
  for (const [index, path] of (await withNeeded(own, modules)).entries()) {
    const name = `${String(index).padStart(2, '0')}-${basename(path)}`;
    await copyFile(path, join(scratch, 'init/modules', name));
  }
  await copyFile(join(scratch, 'tree/bin/busybox'), join(scratch, 'init/bin/busybox'));
  await copyFile(initScript, join(scratch, 'init/init'));
  await here`chmod 0755 init/init init/bin/busybox`;
  await here`cd init && find . | bin/busybox cpio -o -H newc >../initramfs`;
  await rename(join(scratch, 'initramfs'), files.initramfs);
  await rename(join(scratch, 'tree/boot', `vmlinuz-${release}`), files.kernel);
}

/** Their files and those of all that they depend on, in the order in which each finds what it needs. */
async function withNeeded(folder: string, wanted: readonly string[]): Promise<string[]> {
  const underscored = (name: string): string => name.replaceAll('-', '_');
  const files = new Map<string, string>();
  for (const file of await readdir(folder, { recursive: true })) {
    if (file.endsWith('.ko')) files.set(underscored(basename(file, '.ko')), join(folder, file));
  }
  const ordered = new Set<string>();
  const add = async (name: string): Promise<void> => {
    const path = files.get(underscored(name));
    // It is part of the kernel itself.
    if (path === undefined || ordered.has(path)) return;
    const [, needed = ''] = /\0depends=([^\0]*)\0/.exec(await readFile(path, 'latin1')) ?? [];
    for (const each of needed.split(',').filter(Boolean)) await add(each);
    ordered.add(path);
  };
  for (const name of wanted) await add(name);
  return [...ordered];
}

async function makeRoot(scratch: string, root: GuestRoot, file: string): Promise<void> {
  await root.make(scratch);
  const here = $({ quiet: true, cwd: scratch });
  await here`truncate --size=${rootSize} root.ext4`;
  await here`mkfs.ext4 -q -F -O ^has_journal -m 0 -d root root.ext4`;
  await rename(join(scratch, 'root.ext4'), file);
}

async function inScratch(parent: string, work: (scratch: string) => Promise<void>): Promise<void> {
  await using scratch = await mkdtempDisposable(join(parent, 'scratch-'));
  await work(scratch.path);
}
