#include "position.h"

namespace goryu {

Position::Position() noexcept {
    constexpr std::array<int, 9> kBackRank{kLance, kKnight, kSilver, kGold, kKing, kGold, kSilver, kKnight, kLance};
    for (int file = 0; file < 9; ++file) {
        for (const Color color : {0, 1}) {
            put(9 * file + (color == 0 ? 8 : 0), make_piece(color, kBackRank[file]));
            put(9 * file + (color == 0 ? 6 : 2), make_piece(color, kPawn));
        }
    }
    for (const Color color : {0, 1}) {  // Rooks stand on 2h and 8b, bishops on 8h and 2b.
        const int rank = color == 0 ? 7 : 1;
        put(9 * (color == 0 ? 1 : 7) + rank, make_piece(color, kRook));
        put(9 * (color == 0 ? 7 : 1) + rank, make_piece(color, kBishop));
    }
    finish(0);
}

void Position::put(Square s, Piece piece) noexcept {
    toggle(s, piece);
    board_[s] = piece;
    board_key_ ^= kZobrist.board[piece][s];
    if (kind_of(piece) == kKing) kings_[color_of(piece)] = static_cast<std::uint8_t>(s);
}

void Position::put_in_hand(Color color, int kind, int count) noexcept {
    const int before = hands_[color].count(kind);
    hands_[color].add(kind, count);
    set_hand_count_key(color, kind, before, before + count);
}

void Position::finish(Color turn) noexcept {
    turn_ = turn;
    position_key_ ^= board_key_ ^ (turn == 1 ? kZobrist.side : 0);
    find_checks();
}

Bitboard Position::attackers(Color color, Square s, Bitboard occupied) const noexcept {
    // A piece attacks s if the same piece of the other colour, standing on s, would attack it.
    const auto reach = [&](int kind) { return tables.steps[make_piece(color ^ 1, kind)][s]; };
    Bitboard found = (reach(kPawn) & kinds_[kPawn]) | (reach(kKnight) & kinds_[kKnight])
                     | (reach(kSilver) & kinds_[kSilver]) | (reach(kGold) & golds())
                     | (reach(kKing) & (kinds_[kKing] | kinds_[kHorse] | kinds_[kDragon]));
    const Bitboard lances = tables.lance_rays[color ^ 1][s] & kinds_[kLance] & colors_[color];
    const Bitboard bishops = tables.bishop_rays[s] & (kinds_[kBishop] | kinds_[kHorse]) & colors_[color];
    const Bitboard rooks = tables.rook_rays[s] & (kinds_[kRook] | kinds_[kDragon]) & colors_[color];
    if (lances.any()) found |= lance_attacks(color ^ 1, s, occupied) & lances;
    if (bishops.any()) found |= bishop_attacks(s, occupied) & bishops;
    if (rooks.any()) found |= rook_attacks(s, occupied) & rooks;
    return found & colors_[color];
}

// The sliders of the other side that would give check if nothing stood between.
GORYU_INLINE Bitboard Position::snipers(Color king_color, Square king) const noexcept {
    return ((tables.lance_rays[king_color][king] & kinds_[kLance])
            | (tables.bishop_rays[king] & (kinds_[kBishop] | kinds_[kHorse]))
            | (tables.rook_rays[king] & (kinds_[kRook] | kinds_[kDragon])))
           & colors_[king_color ^ 1];
}

Bitboard Position::shields(Color king_color, Color color) const noexcept {
    Bitboard found;
    const Square king = kings_[king_color];
    if (king == kNoSquare) return found;
    for_each(snipers(king_color, king), [&](Square sniper) {
        const Bitboard on_line = tables.between[king][sniper] & occupied();
        if (on_line.any() && !on_line.more_than_one()) found |= on_line & colors_[color];
    });
    return found;
}

void Position::find_checks() noexcept {
    checkers_ = pinned_ = {};
    const Square king = kings_[turn_];
    if (king == kNoSquare) return;
    const Bitboard enemies = colors_[turn_ ^ 1];
    const auto reach = [&](int kind) { return tables.steps[make_piece(turn_, kind)][king]; };
    if (enemies.intersects(reach(kKing) | reach(kKnight))) {
        // A horse next to the king and straight of it, a dragon diagonally: the rest are slides.
        checkers_ = ((reach(kPawn) & kinds_[kPawn]) | (reach(kKnight) & kinds_[kKnight])
                     | (reach(kSilver) & kinds_[kSilver]) | (reach(kGold) & golds())
                     | (reach(kHorse) & kinds_[kHorse]) | (reach(kDragon) & kinds_[kDragon]))
                    & enemies;
    }
    for_each(snipers(turn_, king), [&](Square sniper) {
        const Bitboard on_line = tables.between[king][sniper] & occupied();
        if (on_line.none()) {
            checkers_ |= square_bit(sniper);
        } else if (!on_line.more_than_one()) {
            pinned_ |= on_line & colors_[turn_];
        }
    });
}

Bitboard Position::attacked_near_king(Color color, Bitboard squares, Bitboard occupied) const noexcept {
    const Square king = kings_[color];
    const Bitboard enemies = colors_[color ^ 1];
    const Bitboard lifted = occupied.without(square_bit(king));
    Bitboard attacked;
    for_each(enemies & tables.step_zone[color ^ 1][king],
             [&](Square s) { attacked |= tables.steps[board_[s]][s]; });
    for_each(enemies & kinds_[kLance], [&](Square s) {
        if (tables.lance_rays[color ^ 1][s].intersects(squares)) attacked |= lance_attacks(color ^ 1, s, lifted);
    });
    for_each(enemies & (kinds_[kBishop] | kinds_[kHorse]), [&](Square s) {
        if (tables.bishop_rays[s].intersects(squares)) attacked |= bishop_attacks(s, lifted);
    });
    for_each(enemies & (kinds_[kRook] | kinds_[kDragon]), [&](Square s) {
        if (tables.rook_rays[s].intersects(squares)) attacked |= rook_attacks(s, lifted);
    });
    return attacked & squares;
}

bool Position::can_move(Move move) const noexcept {
    const Square to = to_of(move);
    const int from = from_of(move);
    if (to >= kSquares || move >= 2 * kPromote || from > kDropFrom + kGold) return false;
    if (is_drop(move)) return board_[to] == kEmpty && !is_promotion(move) && hands_[turn_].has(dropped_kind(move));
    return colors_[turn_].has(from) && !colors_[turn_].has(to) && kind_of(board_[to]) != kKing
           && (!is_promotion(move) || can_promote(kind_of(board_[from])));
}

void Position::do_move(Move move, Undo& undo) noexcept {
    undo.checkers = checkers_;
    undo.pinned = pinned_;
    undo.board_key = board_key_;
    undo.position_key = position_key_;
    undo.move = move;
    undo.captured = kEmpty;

    const Square to = to_of(move);
    const Color us = turn_;
    std::uint64_t change = 0;
    if (is_drop(move)) {
        const int kind = dropped_kind(move);
        const Piece piece = make_piece(us, kind);
        const int count = hands_[us].count(kind);
        hands_[us].remove(kind);
        set_hand_count_key(us, kind, count, count - 1);
        toggle(to, piece);
        board_[to] = piece;
        change = kZobrist.board[piece][to];
    } else {
        const Square from = from_of(move);
        const Piece before = board_[from];
        const Piece after = is_promotion(move) ? static_cast<Piece>(before + kPromoted) : before;
        const Piece captured = board_[to];
        if (captured != kEmpty) {
            undo.captured = captured;
            toggle(to, captured);
            change = kZobrist.board[captured][to];
            const int kind = demoted(kind_of(captured));
            const int count = hands_[us].count(kind);
            hands_[us].add(kind);
            set_hand_count_key(us, kind, count, count + 1);
        }
        toggle(from, before);
        toggle(to, after);
        board_[from] = kEmpty;
        board_[to] = after;
        change ^= kZobrist.board[before][from] ^ kZobrist.board[after][to];
        if (kind_of(before) == kKing) kings_[us] = static_cast<std::uint8_t>(to);
    }
    board_key_ ^= change;
    position_key_ ^= change ^ kZobrist.side;
    turn_ = us ^ 1;
    find_checks();
}

void Position::undo_move(const Undo& undo) noexcept {
    turn_ ^= 1;
    const Color us = turn_;
    const Move move = undo.move;
    const Square to = to_of(move);
    const Piece after = board_[to];
    toggle(to, after);
    if (is_drop(move)) {
        board_[to] = kEmpty;
        hands_[us].add(kind_of(after));
    } else {
        const Square from = from_of(move);
        const Piece before = is_promotion(move) ? static_cast<Piece>(after - kPromoted) : after;
        toggle(from, before);
        board_[from] = before;
        board_[to] = undo.captured;
        if (undo.captured != kEmpty) {
            toggle(to, undo.captured);
            hands_[us].remove(demoted(kind_of(undo.captured)));
        }
        if (kind_of(before) == kKing) kings_[us] = static_cast<std::uint8_t>(from);
    }
    checkers_ = undo.checkers;
    pinned_ = undo.pinned;
    board_key_ = undo.board_key;
    position_key_ = undo.position_key;
}

}  // namespace goryu
