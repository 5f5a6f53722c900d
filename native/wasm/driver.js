/** Runs jobs of tests and measurements on the module: in Node.js, or in a page that asks for `answer`. */

import { compile, Engine } from "./goryu.js";

/** The bits of a double, as 16 hexadecimal digits: JSON would lose the sign of zero. */
function bits(value) {
    return new BigUint64Array(new Float64Array([value]).buffer)[0].toString(16).padStart(16, "0");
}

/** Searches a position to the end in slices, and returns the root. */
function searched(engine, { position, playouts, slice = 7 }) {
    engine.must("set_position", position);
    engine.must("begin", playouts, Number.POSITIVE_INFINITY);
    while (engine.call("go", slice));
    const moves = engine.moves(1).map((move) => ({ ...move, value: bits(move.value) }));
    return { moves, value: bits(engine.call("value")), nodes: engine.stats().nodes, sfen: engine.call("sfen") };
}

/** Milliseconds of CPU time in Node.js; a page has only the clock. */
function spent() {
    const used = globalThis.process?.cpuUsage();
    return used ? (used.user + used.system) / 1000 : performance.now();
}

/** Evaluations a second in the best tenth of the time: others may use the processor meanwhile. */
function rate(seconds, evaluate) {
    let best = 0;
    for (let i = 0; i < 10; ++i) {
        const started = spent();
        let count = 0;
        while (spent() - started < 100 * seconds) count += evaluate();
        best = Math.max(best, (1000 * count) / (spent() - started));
    }
    return best;
}

const JOBS = {
    options: (engine, { options }) => engine.setOptions(options),
    search: searched,
    perft: (engine, { position, depth }) => {
        engine.must("set_position", position);
        return engine.call("perft", depth);
    },
    evaluate: (engine, { position }) => {
        engine.must("set_position", position);
        const { logits, value } = engine.evaluate();
        return { logits: [...new Uint32Array(logits.buffer)], value: bits(value) };
    },
    solve: (engine, { position, nodes }) => {
        engine.must("set_position", position);
        const verdict = engine.call("solve", nodes, 0, 0);
        return { verdict, line: engine.call("mate_line"), nodes: engine.call("mate_nodes") };
    },
    rates: (engine, { position, seconds }) => {
        engine.must("set_position", position);
        engine.evaluate();
        const kernel = rate(seconds, () => (engine.evaluate(), 1));
        engine.must("begin", Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
        let before = 0;
        const search = rate(seconds, () => {
            engine.must("go", 20);
            const done = engine.stats().evaluations - before;
            before += done;
            return done;
        });
        return { kernel, search, megabytes: engine.memory.buffer.byteLength / 2 ** 20 };
    },
};

/** Returns what the USI engine says to commands. `poll` goes on until the command before it is answered. */
async function usi({ commands }, read) {
    const { default: createEngine } = await import("./shogihome/goryu.js");
    const engine = await createEngine();
    const lines = [];
    engine.addMessageListener((line) => lines.push(line));
    engine.FS.writeFile("/network.bin", await read("shogihome/network.bin"));
    let told = 0;
    for (const command of commands) {
        if (command === "poll") {
            while (!lines.slice(told).some((line) => /^(bestmove|checkmate)/.test(line))) engine.poll();
        } else {
            told = lines.length;
            engine.postMessage(command);
        }
    }
    return lines;
}

/** Returns the result of each job; those that fail have { error }. read: returns the bytes of a file, by its name. */
export async function answer(jobs, read) {
    const module = await compile(read("goryu.wasm"));
    let engine = await Engine.create(module);
    const results = [];
    for (const job of jobs) {
        try {
            if (job.do === "network") {
                engine = await Engine.create(module);
                engine.loadNetwork(job.file ? (await read(job.file)).subarray(0, job.size) : undefined);
                results.push(null);
            } else if (job.do === "usi") {
                results.push(await usi(job, read));
            } else {
                results.push(JOBS[job.do](engine, job) ?? null);
            }
        } catch (error) {
            results.push({ error: error.message });
        }
    }
    return results;
}

/** In Node.js: reads jobs as JSON from stdin, and files from the folder of this one. */
if (globalThis.process?.argv?.[1]?.endsWith("driver.js")) {
    const { readFile } = await import("node:fs/promises");
    let text = "";
    for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
    const results = await answer(JSON.parse(text), (name) => readFile(new URL(name, import.meta.url)));
    process.stdout.write(`${JSON.stringify(results)}\n`);
}
