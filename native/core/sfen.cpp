#include "sfen.h"

#include <algorithm>

#include "legality.h"

namespace goryu {
namespace {

constexpr std::string_view kLetters = ".PLNSBRGK";
constexpr std::array<int, 7> kHandTextOrder{kRook, kBishop, kGold, kSilver, kKnight, kLance, kPawn};
constexpr int kMaxMoveNumber = 9999;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// The piece of a letter, or kEmpty; upper case is black.
Piece piece_of(char letter) {
    const char upper = is_lower(letter) ? static_cast<char>(letter - 'a' + 'A') : letter;
    const std::size_t kind = kLetters.find(upper, 1);
    if (kind == std::string_view::npos) return kEmpty;
    return make_piece(is_lower(letter) ? 1 : 0, static_cast<int>(kind));
}

// Removes the first of the space-separated words from the text and returns it; empty at the end.
std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

bool parse_board(std::string_view text, Position& position) {
    int rank = 0, file = 8;
    bool promoted = false;
    for (const char c : text) {
        if (c == '/') {
            if (file != -1 || promoted || ++rank > 8) return false;
            file = 8;
        } else if (c == '+') {
            if (promoted) return false;
            promoted = true;
        } else if (c >= '1' && c <= '9') {
            file -= c - '0';
            if (promoted || file < -1) return false;
        } else {
            Piece piece = piece_of(c);
            if (piece == kEmpty || file < 0 || (promoted && !can_promote(kind_of(piece)))) return false;
            if (promoted) piece = static_cast<Piece>(piece + kPromoted);
            position.put(9 * file-- + rank, piece);
            promoted = false;
        }
    }
    return rank == 8 && file == -1 && !promoted;
}

bool parse_hands(std::string_view text, HandCounts& hands) {
    if (text == "-") return true;
    std::size_t digits = 0;
    int count = 0;
    for (const char c : text) {
        if (is_digit(c)) {
            count = 10 * count + (c - '0');
            if (++digits > 2 || count == 0) return false;
            continue;
        }
        const Piece piece = piece_of(c);
        if (piece == kEmpty || kind_of(piece) == kKing || (digits != 0 && count == 1)) return false;
        int& held = hands[color_of(piece)][kind_of(piece)];
        if (held != 0) return false;
        held = digits != 0 ? count : 1;
        digits = 0;
        count = 0;
    }
    return digits == 0;
}

bool parse_move_number(std::string_view text, int& number) {
    if (text.empty() || text.size() >= 10) return false;
    number = 0;
    for (const char c : text) {
        if (!is_digit(c)) return false;
        number = 10 * number + (c - '0');
    }
    return number <= kMaxMoveNumber;
}

// Kings, totals, two pawns on a file, pieces that can never move.
bool obeys_rules(const Position& position, const HandCounts& hands, Color turn, bool allow_missing_king) {
    for (const Color color : {0, 1}) {
        const Bitboard kings = position.of(color, kKing);
        if (kings.more_than_one() || (kings.none() && !(allow_missing_king && color == turn))) return false;
        Bitboard pawns = position.of(color, kPawn);
        for (Bitboard seen; pawns.any();) {
            const Bitboard pawn = square_bit(pawns.pop_first());
            if (seen.intersects(pawn)) return false;
            seen |= whole_files(pawn);
        }
        for (const int kind : {kPawn, kLance, kKnight}) {
            if (position.of(color, kind).intersects(kDeadSquares[color][kind])) return false;
        }
    }
    for (int kind = kPawn; kind <= kGold; ++kind) {
        int total = hands[0][kind] + hands[1][kind] + position.of_kind(kind).count();
        if (can_promote(kind)) total += position.of_kind(kind + kPromoted).count();
        if (total > kPieceTotals[kind]) return false;
    }
    return true;
}

void append_count(std::string& text, int count) {
    if (count > 1) text += std::to_string(count);
}

}  // namespace

std::optional<SfenPosition> parse_sfen(std::string_view text, bool allow_missing_king) {
    const std::string_view board = next_word(text), side = next_word(text), held = next_word(text);
    const std::string_view number = next_word(text);
    SfenPosition parsed{Position::empty(), 1};
    HandCounts hands{};
    if (!next_word(text).empty() || (side != "b" && side != "w") || held.empty()) return std::nullopt;
    if (!parse_board(board, parsed.position) || !parse_hands(held, hands)) return std::nullopt;
    if (!number.empty() && !parse_move_number(number, parsed.move_number)) return std::nullopt;
    if (!complete(parsed.position, hands, side == "w" ? 1 : 0, allow_missing_king)) return std::nullopt;
    return parsed;
}

bool complete(Position& position, const HandCounts& hands, Color turn, bool allow_missing_king) noexcept {
    if (!obeys_rules(position, hands, turn, allow_missing_king)) return false;
    if (position.attackers(turn, position.king(turn ^ 1), position.occupied()).any()) return false;
    for (const Color color : {0, 1}) {
        for (int kind = kPawn; kind <= kGold; ++kind) position.put_in_hand(color, kind, hands[color][kind]);
    }
    position.finish(turn);
    return true;
}

std::string to_sfen(const Position& position, int move_number) {
    std::string text;
    for (int rank = 0; rank < 9; ++rank) {
        if (rank > 0) text += '/';
        int blanks = 0;
        const auto end_blanks = [&] {
            if (blanks > 0) text += static_cast<char>('0' + blanks);
            blanks = 0;
        };
        for (int file = 8; file >= 0; --file) {
            const Piece piece = position.piece(9 * file + rank);
            if (piece == kEmpty) {
                ++blanks;
                continue;
            }
            end_blanks();
            if (kind_of(piece) > kKing) text += '+';
            const char letter = kLetters[demoted(kind_of(piece))];
            text += color_of(piece) == 0 ? letter : static_cast<char>(letter - 'A' + 'a');
        }
        end_blanks();
    }
    text += position.turn() == 0 ? " b " : " w ";
    const std::size_t before_hands = text.size();
    for (const Color color : {0, 1}) {
        for (const int kind : kHandTextOrder) {
            const int count = position.hand(color).count(kind);
            if (count == 0) continue;
            append_count(text, count);
            text += color == 0 ? kLetters[kind] : static_cast<char>(kLetters[kind] - 'A' + 'a');
        }
    }
    if (text.size() == before_hands) text += '-';
    return text + ' ' + std::to_string(move_number);
}

}  // namespace goryu
