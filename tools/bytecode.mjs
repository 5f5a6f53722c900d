// Replaces sources of Python by bytecode in two archives, so that a browser need not compile them at each start.
//
// node bytecode.mjs PYODIDE ARCHIVE MODULE: a folder with Pyodide, unpacked; an archive, which gets bytecode
// only; and a module in it. Of the standard library the modules that this one imports get bytecode.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, archive, module] = process.argv.slice(2);
const library = `${folder}/python_stdlib.zip`;
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${folder}/` });
const paths = { "/archive.zip": archive, "/library.zip": library };
for (const [name, path] of Object.entries(paths)) python.FS.writeFile(name, new Uint8Array(readFileSync(path)));
python.globals.set("module", module);
const run = (code) => {
  try {
    python.runPython(code);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
};
run(`
import importlib
import marshal
import sys
import zipfile
from importlib.util import MAGIC_NUMBER

UNCHECKED = (1).to_bytes(4, "little") + bytes(8)  # A flag of PEP 552, and no hash.

def replace(path, is_wanted):
    with zipfile.ZipFile(path) as old:
        files = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name, content in files.items():
            if name.endswith(".py") and is_wanted(name):
                content = MAGIC_NUMBER + UNCHECKED + marshal.dumps(compile(content, name, "exec", dont_inherit=True))
                name += "c"
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)

with zipfile.ZipFile("/archive.zip") as packed:
    packed.extractall("/archive")
sys.path.insert(0, "/archive")
importlib.import_module(module)
home = f"/lib/python{sys.version_info[0]}{sys.version_info[1]}.zip/"
loaded = {str(getattr(one, "__file__", None)).removeprefix(home) for one in sys.modules.values()}
replace("/library.zip", loaded.__contains__)
replace("/archive.zip", lambda name: True)
`);
for (const [name, path] of Object.entries(paths)) writeFileSync(path, python.FS.readFile(name));
