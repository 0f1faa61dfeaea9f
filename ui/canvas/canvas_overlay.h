#pragma once

#include <QHash>
#include <QString>
#include <cstdint>
#include <vector>

namespace fusescope {

/// What a comparison says of an item or an edge of one of its two sides.
enum class DiffSign : std::uint8_t {
  Equal,    ///< the same on both sides: it fades
  Within,   ///< in something that differs, which has the mark
  Changed,  ///< on both sides, and not the same
  OnlyHere,
  OnlyThere  ///< not on this side: drawn as a ghost
};

/// What one side of a comparison draws on a scene that both share. A value, const once it is made.
struct CanvasOverlay {
  bool isA = true;              ///< what A alone has is gone in B ("−"), what B alone has is new ("+")
  std::vector<DiffSign> items;  ///< by item
  std::vector<DiffSign> edges;  ///< by edge: whether both sides have it
  QHash<int, QString> words;    ///< by item: what differs, "there f16"
  /// A conversion that one side alone has.
  struct Conversion {
    DiffSign sign;
    QString words;  ///< "only here", "there f32→f16"
  };
  QHash<int, Conversion> conversions;  ///< by edge
  /// A kernel of this side among nodes that are drawn one by one: they are framed together.
  struct Kernel {
    std::vector<int> items, edges;  ///< edges: between its items
    int colorOf = -1;               ///< the item whose colour it has
    QString label;                  ///< "Conv · f16 · 0.12 ms"
  };
  std::vector<Kernel> kernels;

  DiffSign of(int item) const { return items[std::size_t(item)]; }
};

}  // namespace fusescope
