/** Goryu as a USI engine in other people's page: ShogiHome's interface for web engines, version 2.
 *
 * The default export makes an engine with `postMessage` (a USI command), listeners of its lines, `terminate`, and `poll`,
 * which searches for a moment: ShogiHome calls it every 10 ms after `go`. The network comes by `FS.writeFile`, as the
 * manifest `engine.json` says. Specification: specs/wasm-engine-abi.md of sunfish-shogi/shogihome.
 */

import { compile, Engine } from "./goryu.js";

const NETWORK = "/network.bin";
const POLL_MS = 30; // How long a call of `poll` searches.
const SLICE = 8; // Positions between two looks at the clock.
const INFO_MS = 500;
const MARGIN_MS = 300; // For the way of a move to the clock.
const MOVES_AHEAD = 40; // The main time is for as many moves.
const EVAL_COEF = 285; // Centipawns at which the odds to win are e : 1.
const MATE_NODES = 1000; // A slice of `go mate`.

/** The options that `usi` lists; the manifest has the same. */
export const OPTIONS = [
    { name: "USI_Ponder", type: "check", default: false },
    { name: "USI_Hash", type: "spin", default: 64, min: 16, max: 1024 },
    { name: "NodesLimit", type: "spin", default: 0, min: 0, max: 2147483647 },
];
const NODES_PER_MB = 5000;

/** Returns the words of a `go` command as numbers by name; those without a number are 1. */
function readGo(words) {
    const limits = {};
    for (let i = 0; i < words.length; ++i) {
        const number = Number.parseInt(words[i + 1], 10);
        limits[words[i]] = Number.isNaN(number) ? (words[i + 1] === "infinite" ? Infinity : 1) : number;
        if (words[i + 1] === "infinite" || !Number.isNaN(number)) ++i;
    }
    return limits;
}

/** Returns how long the side may think. */
function thinkingTime(limits, isWhite) {
    if (limits.infinite || limits.nodes) return Infinity;
    if (limits.movetime) return limits.movetime;
    const left = limits[isWhite ? "wtime" : "btime"] ?? 0;
    const each = (limits[isWhite ? "winc" : "binc"] ?? 0) + (limits.byoyomi ?? 0);
    if (left + each === 0) return limits.btime === undefined ? 1000 : 50;
    return Math.max(50, Math.min(left / MOVES_AHEAD + each, left + each) - MARGIN_MS);
}

function score({ mate, value }) {
    if (mate) return `mate ${mate}`;
    const odds = (1 + value) / Math.max(1 - value, 1e-6);
    return `cp ${Math.round(EVAL_COEF * Math.log(Math.max(odds, 1e-6)))}`;
}

class UsiEngine {
    #listeners = new Set();
    #files = new Map();
    #engine;
    #options = Object.fromEntries(OPTIONS.map((option) => [option.name, option.default]));
    #problem = "";
    #search = null; // What `go` has begun.
    #isOver = false;

    constructor(engine) {
        this.#engine = engine;
    }

    FS = { mkdirTree: () => {}, writeFile: (path, data) => this.#files.set(path, new Uint8Array(data)) };

    addMessageListener(listener) {
        this.#listeners.add(listener);
    }

    removeMessageListener(listener) {
        this.#listeners.delete(listener);
    }

    terminate() {
        this.#isOver = true;
        this.#search = null;
        this.#listeners.clear();
    }

    postMessage(command) {
        const [name, ...words] = command.trim().split(/\s+/);
        try {
            if (!this.#isOver) this.#commands[name]?.(words);
        } catch (error) {
            this.#fail(error);
        }
    }

    /** Searches for a moment, if there is a search. */
    poll() {
        try {
            if (this.#search) this.#step(this.#search);
        } catch (error) {
            this.#fail(error);
        }
    }

    /** A search that failed still gets its answer. */
    #fail(error) {
        this.#send(`info string ${error.message}`);
        if (this.#search) this.#answer(this.#search.mate ? "checkmate timeout" : "bestmove resign");
    }

    #send(line) {
        for (const listener of this.#listeners) listener(line);
    }

    #commands = {
        usi: () => {
            this.#send("id name Goryu");
            this.#send("id author the Goryu authors");
            for (const { name, type, default: value, min, max } of OPTIONS) {
                const range = min === undefined ? "" : ` min ${min} max ${max}`;
                this.#send(`option name ${name} type ${type} default ${value}${range}`);
            }
            this.#send("usiok");
        },
        isready: () => {
            const network = this.#files.get(NETWORK);
            if (network) {
                this.#files.delete(NETWORK);
                this.#engine.loadNetwork(network);
                this.#engine.setOptions({ capacity: this.#options.USI_Hash * NODES_PER_MB });
            }
            this.#send("readyok");
        },
        setoption: (words) => {
            const at = words.indexOf("value");
            const name = words.slice(1, at < 0 ? undefined : at).join(" ");
            const option = OPTIONS.find((each) => each.name === name);
            if (!option) return;
            const number = Number.parseInt(words[at + 1], 10);
            if (option.type === "check") this.#options[name] = words[at + 1] === "true";
            else if (number >= option.min && number <= option.max) this.#options[name] = number;
            if (name === "USI_Hash") this.#engine.setOptions({ capacity: this.#options[name] * NODES_PER_MB });
        },
        position: (words) => {
            this.#problem = this.#engine.call("set_position", words.join(" ")) ? "" : this.#engine.call("error");
        },
        go: (words) => this.#go(readGo(words)),
        stop: () => this.#search && this.#finish(),
        ponderhit: () => {
            if (this.#search) Object.assign(this.#search, { startedAt: performance.now(), isPondering: false });
        },
        gameover: () => {
            this.#search = null;
        },
        quit: () => this.terminate(),
    };

    #go(limits) {
        const engine = this.#engine;
        if (this.#search) this.#finish();
        const isWhite = engine.call("sfen").split(" ")[1] === "w";
        const mate = limits.mate;
        const ms = mate ? (mate === 1 ? Infinity : mate) : thinkingTime(limits, isWhite);
        const now = performance.now();
        const [isPondering, isEndless] = [Boolean(limits.ponder), Boolean(limits.infinite)];
        this.#search = { ms, mate, startedAt: now, toldAt: now, nodes: MATE_NODES, isPondering, isEndless };
        if (this.#problem) throw new Error(this.#problem);
        if (mate) return;
        if (engine.call("can_declare")) this.#answer("bestmove win");
        else if (!engine.call("begin", Infinity, limits.nodes || this.#options.NodesLimit || Infinity)) {
            this.#answer("bestmove resign");
        }
    }

    #step(search) {
        const started = performance.now();
        if (search.mate) {
            this.#stepMate(search);
            return;
        }
        let goesOn = true;
        let now = started;
        const end = search.isPondering ? Infinity : search.startedAt + search.ms;
        for (; goesOn && now - started < POLL_MS && now < end; now = performance.now()) {
            goesOn = this.#engine.call("go", SLICE) === 1;
        }
        if (now - search.toldAt >= INFO_MS) {
            search.toldAt = now;
            this.#tell(search, this.#engine.moves()[0]);
        }
        // An endless search waits for `stop`, even when it has nothing left to do.
        if (now >= end || !(goesOn || search.isPondering || search.isEndless)) this.#finish();
    }

    #tell(search, best) {
        const ms = Math.max(1, Math.round(performance.now() - search.startedAt));
        const { evaluations: nodes, depth } = this.#engine.stats();
        const words = `depth ${depth} nodes ${nodes} nps ${Math.round((1000 * nodes) / ms)}`;
        this.#send(`info ${words} time ${ms} score ${score(best)} pv ${best.line}`);
    }

    #finish() {
        const search = this.#search;
        if (search.mate) {
            this.#answer("checkmate timeout");
            return;
        }
        const [best] = this.#engine.moves();
        this.#tell(search, best);
        const reply = best.line.split(" ")[1];
        this.#answer(`bestmove ${best.move}${reply && this.#options.USI_Ponder ? ` ponder ${reply}` : ""}`);
    }

    /** Looks for a mate with twice the nodes of the last time. */
    #stepMate(search) {
        const verdict = this.#engine.call("solve", search.nodes, search.nodes, 0);
        search.nodes *= 2;
        if (verdict === 1) this.#answer(`checkmate ${this.#engine.call("mate_line")}`);
        else if (verdict === 0) this.#answer("checkmate nomate");
        else if (performance.now() - search.startedAt >= search.ms) this.#answer("checkmate timeout");
    }

    #answer(line) {
        this.#search = null;
        this.#send(line);
    }
}

/** locateFile: returns the address of a file of the package. */
export default async function createEngine({ locateFile = (name) => new URL(name, import.meta.url).href } = {}) {
    const address = locateFile("goryu.wasm");
    const isFile = address.startsWith("file:");
    const source = isFile ? (await import("node:fs/promises")).readFile(new URL(address)) : fetch(address);
    return new UsiEngine(await Engine.create(await compile(source)));
}
