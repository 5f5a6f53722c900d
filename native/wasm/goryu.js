/** Goryu's engine in JavaScript: loads goryu.wasm and gives its functions texts and arrays.
 *
 * `goryu.h` says what the functions do; here they have the same names without `goryu_`. Works in a worker, in a page
 * and in Node.js. An engine is one instance of the module, and blocks while it computes: `go` a few positions at
 * a time.
 */

const TEXTS = new Set(["error", "sfen", "move", "line", "mate_line"]);

/** Compiles the module; several engines may come from it. source: a Response (or a promise of one), or its bytes. */
export async function compile(source) {
    const bytes = await source;
    return bytes instanceof Uint8Array || bytes instanceof ArrayBuffer
        ? WebAssembly.compile(bytes)
        : WebAssembly.compileStreaming(bytes);
}

const STATS = ["playouts", "evaluations", "depthSum", "depth", "nodes", "hashfull", "isProven", "isExhausted", "isOver"];

/** What the C library asks of its system: a clock, and nothing else. */
function system(memory) {
    const refuse = () => 8; // EBADF
    const known = {
        clock_time_get: (_id, _precision, at) => {
            memory().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        proc_exit: (status) => {
            throw new Error(`exit ${status}`);
        },
        environ_sizes_get: (count, size) => {
            memory().setUint32(count, 0, true);
            memory().setUint32(size, 0, true);
            return 0;
        },
        environ_get: () => 0,
    };
    return (name) => known[name] ?? refuse;
}

export class Engine {
    /** Asked by a mate search; returns whether it should end. It must not throw. */
    shouldStop = () => false;

    /** module: by `compile`. */
    static async create(module) {
        return new Engine(module);
    }

    /** As `create`, at once: for a worker, as a page may refuse it. */
    constructor(module) {
        const wasi = system(() => new DataView(this.memory.buffer));
        const names = WebAssembly.Module.imports(module).map(({ name }) => [name, wasi(name)]);
        const env = { goryu_should_stop: () => Number(this.shouldStop()) };
        const instance = new WebAssembly.Instance(module, { env, wasi_snapshot_preview1: Object.fromEntries(names) });
        this.memory = instance.exports.memory;
        this.functions = instance.exports;
        instance.exports._initialize?.();
    }

    /** Calls a function of goryu.h. Texts among the arguments are copied, and a text comes back as one. */
    call(name, ...given) {
        const texts = [];
        const values = given.map((value) => {
            if (typeof value !== "string") return value;
            texts.push(this.copy(new TextEncoder().encode(`${value}\0`)));
            return texts.at(-1);
        });
        try {
            const result = this.functions[`goryu_${name}`](...values);
            return TEXTS.has(name) ? this.text(result) : result;
        } catch (error) {
            if (!(error instanceof WebAssembly.RuntimeError)) throw error;
            throw new Error(this.text(this.functions.goryu_error()) || error.message, { cause: error });
        } finally {
            for (const at of texts) this.functions.goryu_release(at);
        }
    }

    /** Calls a function that returns 0 if it fails, and throws an Error then. */
    must(name, ...given) {
        const result = this.call(name, ...given);
        if (result === 0) throw new Error(this.call("error"));
        return result;
    }

    /** Takes a packed network, a Uint8Array; without one the hashed evaluator. */
    loadNetwork(bytes = new Uint8Array()) {
        const at = this.copy(bytes);
        try {
            this.must("load_network", at, bytes.length);
        } finally {
            this.functions.goryu_release(at);
        }
    }

    setOptions(options) {
        for (const [name, value] of Object.entries(options)) this.must("set_option", name, Number(value));
    }

    /** Returns the network's logits, a Float32Array of 2187, and the value of the position. */
    evaluate() {
        const at = this.functions.goryu_allocate(4 * 2187);
        const value = this.functions.goryu_evaluate(at);
        const logits = new Float32Array(this.memory.buffer.slice(at, at + 4 * 2187));
        this.functions.goryu_release(at);
        return { logits, value };
    }

    /** Returns the moves of the search so far, the best first; the first `lines` have their continuation. */
    moves(lines = 1) {
        return Array.from({ length: this.call("rank") }, (_, i) => ({
            move: this.call("move", i),
            code: this.call("move_code", i),
            visits: this.call("move_visits", i),
            prior: this.call("move_prior", i),
            value: this.call("move_value", i),
            mate: this.call("move_mate", i),
            line: i < lines ? this.call("line", i) : "",
        }));
    }

    /** Returns the counters of the search so far, by the names in STATS. */
    stats() {
        const counters = new Float64Array(this.memory.buffer, this.call("stats"), STATS.length);
        return Object.fromEntries(STATS.map((name, i) => [name, counters[i]]));
    }

    copy(bytes) {
        const at = this.functions.goryu_allocate(bytes.length);
        this.view(at, bytes.length).set(bytes);
        return at;
    }

    /** Returns memory of the module as it is until the next call of a function. */
    view(at, length) {
        return new Uint8Array(this.memory.buffer, at, length);
    }

    text(at) {
        const memory = new Uint8Array(this.memory.buffer);
        return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
    }
}
