// Files of Python that the browser keeps for this site: an SQLite database with its journals.
//
// Each lies in the origin's private file system and is read and written there directly, so that what Python has
// written is not lost when the tab is closed. Only one tab can have them open.

const FULL = 51; // ENOSPC of Emscripten.

/** Opens the files, and makes them; throws a DOMException: "NoModificationAllowedError" if another tab has them. */
export async function openKept(names) {
  const folder = await navigator.storage.getDirectory();
  const kept = new Map();
  for (const name of names) {
    const file = /** @type {any} */ (await folder.getFileHandle(name, { create: true })); // Types know its next method in workers only.
    kept.set(name, await file.createSyncAccessHandle());
  }
  return kept;
}

/** Lets Python find opened files in a new folder. For Python an empty one does not exist. */
export function mountKept(FS, path, kept) {
  FS.mkdirTree(path);
  const folder = FS.lookupPath(path).node;
  const { mknod, unlink } = folder.node_ops;
  folder.node_ops = {
    ...folder.node_ops,
    mknod(parent, name, ...rest) {
      const node = mknod(parent, name, ...rest);
      if (kept.has(name)) bind(FS, node, kept.get(name));
      return node;
    },
    unlink(parent, name) {
      unlink(parent, name);
      kept.get(name)?.truncate(0);
    },
  };
  for (const [name, handle] of kept) if (handle.getSize()) FS.mknod(`${path}/${name}`, 0o100644, 0);
}

/** Lets a file of Emscripten's memory read and write an opened one. */
function bind(FS, node, handle) {
  const full = (work) => {
    try {
      return work();
    } catch (error) {
      throw error.name === "QuotaExceededError" ? new FS.ErrnoError(FULL) : error;
    }
  };
  const { getattr, setattr } = node.node_ops;
  node.node_ops = {
    ...node.node_ops,
    getattr: (one) => ({ ...getattr(one), size: handle.getSize() }),
    setattr(one, { size, ...others }) {
      setattr(one, others);
      if (size !== undefined) full(() => handle.truncate(size));
    },
  };
  const part = (buffer, offset, length) => buffer.subarray(offset, offset + length);
  node.stream_ops = {
    ...node.stream_ops,
    llseek: (stream, offset, whence) => offset + [0, stream.position, handle.getSize()][whence],
    read: (_stream, buffer, offset, length, at) => handle.read(part(buffer, offset, length), { at }),
    write: (_stream, buffer, offset, length, at) => full(() => handle.write(part(buffer, offset, length), { at })),
    fsync: () => handle.flush(),
  };
}
