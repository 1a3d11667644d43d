/**
 * What a guest boots from: Debian's cloud kernel, an initramfs of busybox and the modules that the
 * guest's disks need, and the tools image as a read-only root. Made once, kept in the cache folder.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtempDisposable, readFile, rename } from 'node:fs/promises';
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

export interface GuestFilesRequest {
  /** The tools image: guests run the same programs as containers do. */
  readonly image: string;
  readonly onProgress: (line: string) => void;
}

/** In the order in which each finds what it needs; folders below the kernel's own. */
const modules = [
  'drivers/virtio/virtio_ring',
  'drivers/virtio/virtio',
  'drivers/virtio/virtio_pci_legacy_dev',
  'drivers/virtio/virtio_pci_modern_dev',
  'drivers/virtio/virtio_pci',
  'drivers/block/virtio_blk',
  'net/core/failover',
  'drivers/net/net_failover',
  'drivers/net/virtio_net',
  'lib/libcrc32c',
  'fs/xfs/xfs',
];
/** Sparse: a tools image takes 0.6 GB of it. */
const rootSize = '2G';
const kernelPackage = 'linux-image-cloud-amd64';
const initScript = fileURLToPath(new URL('guest-init.sh', import.meta.url));

/** Throws InfrastructureError: GUEST_TOOL_MISSING, GUEST_ARCHITECTURE, COMMAND_FAILED. */
export async function guestFiles({ image, onProgress }: GuestFilesRequest): Promise<GuestFiles> {
  await mustHaveTools();
  const cache = join(cacheFolder(), 'guest');
  await mkdir(cache, { recursive: true });
  const kernelName = await newestKernel();
  const recipe = hash('sha256', `${await readFile(initScript, 'utf8')}${modules.join()}`);
  const imageId = await run(engine.imageIds([image]));
  const files = {
    kernel: join(cache, `${kernelName}.vmlinuz`),
    initramfs: join(cache, `${kernelName}-${recipe.slice(0, 12)}.initramfs`),
    root: join(cache, `${imageId.replace('sha256:', '').slice(0, 12)}.ext4`),
  };
  if (!existsSync(files.kernel) || !existsSync(files.initramfs)) {
    onProgress(`guest: fetching ${kernelName} and busybox-static`);
    await inScratch(cache, (scratch) => makeKernel(scratch, kernelName, files));
  }
  if (!existsSync(files.root)) {
    onProgress(`guest: making a root file system of ${image}`);
    await inScratch(cache, (scratch) => makeRoot(scratch, image, files.root));
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
async function newestKernel(): Promise<string> {
  const said = await run(['apt-cache', 'depends', kernelPackage]);
  const name = /Depends: (linux-image-\S+)/.exec(said)?.[1];
  if (name !== undefined) return name;
  throw new InfrastructureError('GUEST_KERNEL_MISSING', `apt does not find ${kernelPackage}`, {
    hint: 'guests need the Debian kernel for virtual machines',
    command: 'apt-get update',
  });
}

/** Downloads and unpacks; nothing is installed, so the machine's own kernel stays what it is. */
async function makeKernel(scratch: string, kernelName: string, files: GuestFiles): Promise<void> {
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
  for (const [index, module] of modules.entries()) {
    const name = `${String(index).padStart(2, '0')}-${basename(module)}.ko`;
    await copyFile(join(own, `${module}.ko`), join(scratch, 'init/modules', name));
  }
  await copyFile(join(scratch, 'tree/bin/busybox'), join(scratch, 'init/bin/busybox'));
  await copyFile(initScript, join(scratch, 'init/init'));
  await here`chmod 0755 init/init init/bin/busybox`;
  await here`cd init && find . | bin/busybox cpio -o -H newc >../initramfs`;
  await rename(join(scratch, 'initramfs'), files.initramfs);
  await rename(join(scratch, 'tree/boot', `vmlinuz-${release}`), files.kernel);
}

async function makeRoot(scratch: string, image: string, file: string): Promise<void> {
  const container = await run(engine.create([], image, 'true'));
  const here = $({ quiet: true, cwd: scratch });
  try {
    await mkdir(join(scratch, 'root'));
    await here`${engine.exportFiles(container)} | tar --extract --directory root`;
  } finally {
    await run(engine.remove(container));
  }
  await here`truncate --size=${rootSize} root.ext4`;
  await here`mkfs.ext4 -q -F -O ^has_journal -m 0 -d root root.ext4`;
  await rename(join(scratch, 'root.ext4'), file);
}

async function inScratch(parent: string, work: (scratch: string) => Promise<void>): Promise<void> {
  await using scratch = await mkdtempDisposable(join(parent, 'scratch-'));
  await work(scratch.path);
}
