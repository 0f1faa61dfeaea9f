#include "ui/document/names_apart.h"

#include <algorithm>

namespace fusescope {

namespace {

const QChar kEllipsis(0x2026);
constexpr int kRounding = 3;  ///< the number of pixels by which a whole text may be wider than its five pieces

/// The number of characters that two names have in common at their beginnings and ends.
struct Common {
  int front = 0, back = 0;
};

template <class Text>
Common commonOf(const Text& a, const Text& b) {
  const int aSize = static_cast<int>(a.size()), bSize = static_cast<int>(b.size()), most = std::min(aSize, bSize);
  Common common;
  while (common.front < most && a[common.front] == b[common.front]) ++common.front;
  while (common.back < most - common.front && a[aSize - 1 - common.back] == b[bSize - 1 - common.back]) ++common.back;
  return common;
}

bool isLessFromBehind(std::string_view a, std::string_view b) {
  return std::ranges::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

/// A piece of a name: the characters [begin, end).
struct Piece {
  int begin = 0, end = 0;
};

/// Returns the piece in which `name` differs from `twin`.
Piece differenceOf(const QString& name, const QString& twin) {
  const Common common = commonOf(name, twin);
  return {common.front, name.size() - common.back};
}

/// Extends `piece` to whole words: "encoder.0" for the "0" in it.
Piece inWholeWords(const QString& name, Piece piece) {
  const auto isInWord = [&name](int at) {
    return name[at].isLetterOrNumber() || name[at] == QLatin1Char('.') || name[at] == QLatin1Char('_');
  };
  while (piece.begin > 0 && isInWord(piece.begin - 1)) --piece.begin;
  while (piece.end < name.size() && isInWord(piece.end)) ++piece.end;
  return piece;
}

/// Returns how many characters at the beginning (`front`) or end of the name fit into the width `room`, but not more
/// than `most`.
int lettersIn(double room, const QString& name, bool front, int most, const QFontMetrics& font) {
  int letters = 0;
  while (letters < most && font.horizontalAdvance(front ? name.left(letters + 1) : name.right(letters + 1)) <= room)
    ++letters;
  return letters;
}

}  // namespace

std::vector<std::string_view> twinsOf(const std::vector<std::string_view>& names) {
  std::vector<std::string_view> sorted = names;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::string_view> sortedFromBehind = sorted;
  std::ranges::sort(sortedFromBehind, isLessFromBehind);
  std::vector<std::string_view> twins;
  twins.reserve(names.size());
  for (const std::string_view name : names) {
    std::string_view twin;
    int most = -1;
    const auto consider = [&](const std::vector<std::string_view>& order, auto place) {
      for (const std::ptrdiff_t neighbour : {place - order.begin() - 1, place - order.begin() + 1}) {
        if (neighbour < 0 || neighbour >= std::ssize(order)) continue;
        const Common common = commonOf(name, order[static_cast<std::size_t>(neighbour)]);
        if (common.front + common.back <= most) continue;
        most = common.front + common.back;
        twin = order[static_cast<std::size_t>(neighbour)];
      }
    };
    consider(sorted, std::ranges::lower_bound(sorted, name));
    consider(sortedFromBehind, std::ranges::lower_bound(sortedFromBehind, name, isLessFromBehind));
    twins.push_back(twin);
  }
  return twins;
}

QString elidedApart(const QString& name, const QString& twin, const QFontMetrics& font, int width) {
  const QString plain = font.elidedText(name, Qt::ElideMiddle, width);
  if (plain == name || twin.isEmpty()) return plain;
  const Piece different = differenceOf(name, twin);
  const auto wide = [&font](const QString& text) { return font.horizontalAdvance(text); };
  for (const Piece& kept : {inWholeWords(name, different), different}) {
    const int front = plain.indexOf(kEllipsis), back = plain.size() - 1 - front;
    if (kept.end <= front || kept.begin >= name.size() - back) return plain;
    const QString middle = name.mid(kept.begin, kept.end - kept.begin);
    const int room = width - wide(middle) - 2 * wide(kEllipsis) - kRounding, behind = name.size() - kept.end;
    if (middle.isEmpty() || 2 * wide(middle) > width || room < 0) continue;
    // The remaining width is shared by both ends; what one of them does not need is given to the other.
    const int half = lettersIn(room / 2.0, name, false, behind, font);
    const int head = lettersIn(room - wide(name.right(half)), name, true, kept.begin, font);
    const int tail = lettersIn(room - wide(name.left(head)), name, false, behind, font);
    const auto gap = [](int left) { return left > 0 ? QString(kEllipsis) : QString(); };
    return name.left(head) + gap(kept.begin - head) + middle + gap(behind - tail) + name.right(tail);
  }
  return plain;
}

}  // namespace fusescope
