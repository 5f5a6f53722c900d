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

/* Takes a network that `python3 tools/dev.py wasm` has packed, with the options that suit it; the file may be released
 * afterwards. Without bytes: the hashed evaluator, which knows nothing of shogi and answers fast, for tests. Forgets
 * what was searched. */
int goryu_load_network(const void *file, size_t bytes);

/* Sets an option of the search before it begins: c_init, c_base, c_factor, fpu_reduction, the same with
 * root_ before them, batch_size, capacity (nodes; forgets what was searched), mate_nodes, mate_nodes_per_visit,
 * lcb (0: the most visited move is played), draw_value; temperature (of the policy); max_ply (0: none),
 * entering_king (0 none, 1 24 points, 2 with a draw, 3 27 points, 4 with handicaps, 5 try), all_moves. */
int goryu_set_option(const char *name, double value);

/* Sets the position from USI's text: "startpos" or "sfen ...", and "moves ..." after it. */
int goryu_set_position(const char *position);
const char *goryu_sfen(void);

/* Leaves of the tree of legal moves. */
double goryu_perft(int depth);

/* What the network says of the position: writes the logits of its 2187 labels, returns its value. */
double goryu_evaluate(float *logits);

/* Begins a search of the position, which keeps what it knows of it; 0 if the game is over or there is no network.
 * playouts, evaluations: limits; infinity for none. */
int goryu_begin(double playouts, double evaluations);

/* Evaluates about that many positions, one or more; returns whether the search goes on. */
int goryu_go(int positions);

/* Of the search so far. */
double goryu_playouts(void);
double goryu_evaluations(void);
double goryu_nodes(void);
int goryu_depth(void);     /* The deepest playout. */
double goryu_value(void);

/* Ranks the legal moves; returns their number. Move 0 is the best. What follows is of move `i` of this ranking. */
int goryu_rank(void);
const char *goryu_move(int i);
int goryu_move_code(int i);      /* As in games/shogi/move.py. */
double goryu_move_visits(int i);
double goryu_move_prior(int i);
double goryu_move_value(int i);  /* For the side that moves. */
int goryu_move_mate(int i);      /* Signed plies to the proven end; 0: none. */
const char *goryu_line(int i);   /* The move and the expected moves after it. */

/* Searches a forced mate by the side to move, expanding at most `nodes` positions, and then `shortening_nodes` for a
 * shorter one. Returns 1 if there is one, 0 if there is none, -1 if it does not know. */
int goryu_solve(double nodes, double shortening_nodes);
const char *goryu_mate_line(void);
double goryu_mate_nodes(void);

/* Can the side to move declare its win? */
int goryu_can_declare(void);

#ifdef __cplusplus
}
#endif
