/* Goryu's engine as one WebAssembly module: rules, mate search, PUCT search and networks, on one thread.
 *
 * An instance of the module is one engine. Texts are UTF-8 and end with a zero byte. Texts that are returned belong to
 * the module and stay as they are until the next call of the same function. Values are in [-1, +1] for the side to
 * move of the position. A function that can fail returns 0, and goryu_error() says why; what was set before stays.
 * A broken module (no memory, a damaged network) traps; goryu_error() has the reason, and the instance is lost.
 *
 * The results are those of goryu's Python and native code, bit by bit.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory for what is passed to the module. */
void *goryu_allocate(size_t bytes);
void goryu_release(void *memory);

/* Why the last function failed. */
const char *goryu_error(void);

/* The module imports it from `env`: a mate search asks it now and then whether to end. */
#ifdef __wasm__
__attribute__((import_module("env"), import_name("goryu_should_stop")))
#endif
int goryu_should_stop(void);

/* Takes a network that `python3 tools/dev.py wasm` has packed, with the options that suit it; the file may be released
 * afterwards. Without bytes: the hashed evaluator, which knows nothing of shogi and answers fast, for tests. Forgets
 * what was searched. */
int goryu_load_network(const void *file, size_t bytes);

/* Sets an option of the search before it begins: c_init, c_base, c_factor, fpu_reduction, the same with
 * root_ before them, batch_size, capacity and capacity_bytes (nodes and their memory; forget what was searched),
 * mate_nodes, mate_nodes_per_visit, lcb (0: the most visited move is played), draw_value; temperature (of the
 * policy); max_ply (0: none), entering_king (0 none, 1 24 points, 2 for handicaps, 3 27 points, 4 for handicaps,
 * 5 try), all_moves, first_recurrence; missing_king (1: the side to move of a position may lack its king);
 * slice (see goryu_go). */
int goryu_set_option(const char *name, double value);

/* Sets the position from USI's text: "startpos" or "sfen ...", and "moves ..." after it. */
int goryu_set_position(const char *position);
const char *goryu_sfen(void);

/* Leaves of the tree of legal moves. */
double goryu_perft(int depth);

/* What the network says of the position: writes the logits of its 2187 labels, returns its value. */
double goryu_evaluate(float *logits);
/* Writes the probabilities of the legal moves, which ascend, and returns the value; NaN without a network. A position
 * has at most 593 moves. */
double goryu_policy(double *policy);

/* Begins a search of the position, which keeps what it knows of it; 0 without a legal move or a network.
 * playouts, evaluations: limits; infinity for none. */
int goryu_begin(double playouts, double evaluations);

/* Closes a move of the root for the search that has begun. i: its place among the edges of the node. */
void goryu_close(int i);

/* Evaluates that many positions, or a batch more; fewer when a playout finds none to evaluate. 0: as many as the option
 * slice says, which a network's file sets so that they take some milliseconds. Returns whether the search goes on. */
int goryu_go(int positions);

/* Counters of the search so far: playouts, evaluations, the sum of the depths of the playouts and the greatest,
 * nodes, hashfull; is the root proven, is it exhausted, is the search over? then the move that would be played and its
 * lead, -1 if there is none. As SearchStats in search/result.py. */
const double *goryu_stats(void);
double goryu_value(void);

/* Adds a mate to what is known. line: of the side to move in the position, to the end. Returns whether it could be
 * added, or -1 if the line cannot be read. */
int goryu_add_mate(const char *line);

/* Forgets what was searched. */
void goryu_clear(void);

/* The graph. A node has a number, -1 for none; goryu_find takes the halves of its key. goryu_node returns both halves
 * of the key, ply, value, raw value, variance, proof, distance, visits, is_complete, and the numbers of its legal and
 * its tried moves. goryu_edges has for every legal move: its code, prior, visits, child, value if it was visited, and
 * whether it has repeated a position. As search/graph/node.py. */
int goryu_root(void);
int goryu_find(double high, double low);
const double *goryu_node(int node);
const double *goryu_edges(int node);

/* Ranks the legal moves; returns their number. Move 0 is the best. What follows is of move `i` of this ranking. */
int goryu_rank(void);
const char *goryu_move(int i);
int goryu_move_code(int i);      /* As in games/shogi/move.py. */
double goryu_move_visits(int i);
double goryu_move_prior(int i);
double goryu_move_value(int i);  /* For the side that moves. */
int goryu_move_mate(int i);      /* Signed plies to the proven end; 0: none. */
const char *goryu_line(int i);   /* The move and the expected moves after it. */

/* The first move that mates at once, by its code, or 0. */
int goryu_mate_in_one(void);

/* Searches a forced mate by the side to move, expanding at most `nodes` positions, and then `shortening_nodes` for a
 * shorter one; entries: of its table, 0 for the usual number. Returns 1 if there is one, 0 if there is none, -1 if it
 * does not know. */
int goryu_solve(double nodes, double shortening_nodes, double entries);
const char *goryu_mate_line(void);
double goryu_mate_nodes(void);

/* Can the side to move declare its win? */
int goryu_can_declare(void);

#ifdef __cplusplus
}
#endif
