#pragma once

#include <QHash>
#include <QString>
#include <cstdint>
#include <vector>

namespace fusescope {

/// What a comparison says about an item or an edge on one of its two sides.
enum class DiffSign : std::uint8_t {
  Equal,    ///< the same on both sides; it is drawn faded
  Within,   ///< inside something that differs and has the mark
  Changed,  ///< different on both sides
  OnlyHere,
  OnlyThere  ///< missing on this side; drawn as a ghost
};

/// What one side of a comparison draws on the common scene. It is a value, const after it is made.
struct CanvasOverlay {
  bool isA = true;              ///< things that only A has are marked "−", things that only B has "+"
  std::vector<DiffSign> items;  ///< for each item
  std::vector<DiffSign> edges;  ///< for each edge, whether both sides have it
  QHash<int, QString> words;    ///< for each item, what differs: "there f16"
  /// A conversion that only one side has.
  struct Conversion {
    DiffSign sign;
    QString words;  ///< "only here", "there f32→f16"
  };
  QHash<int, Conversion> conversions;  ///< for each edge
  /// A kernel of this side whose nodes are drawn one by one: they get a common frame.
  struct Kernel {
    std::vector<int> items, edges;  ///< edges between its items
    int colorOf = -1;               ///< the item whose colour it gets
    QString label;                  ///< "Conv · f16 · 0.12 ms"
  };
  std::vector<Kernel> kernels;

  DiffSign of(int item) const { return items[std::size_t(item)]; }
};

}  // namespace fusescope
