#pragma once

#include <deque>
#include <vector>

#include "ui/canvas/canvas_level.h"
#include "ui/canvas/cover_parts.h"

namespace fusescope {

/// Returns what is open at first: nothing, except that a network which consists almost only of control flow shows its
/// content.
OpenState openAtFirst(const Cover& cover);
/// Returns possible states for a network that is opened, from the fewest to the most open containers. Each state opens
/// one more group of equal blocks, the outermost first, and among these the largest. They are limited by an estimate of
/// one and a half times the room in a view of this size, because only a layout shows the exact size. It is a pure
/// function and may run on any thread.
std::vector<OpenState> initialStates(const CoverParts& parts, const QSizeF& view);
/// Returns the state in which all containers of a scene are open, including those inside closed ones.
OpenState allOpen(const CanvasScene& scene);
/// Builds the scene of a cover without a layout. A node that is in no fused node has its own box. Things in a body have
/// the names that directives use: HOLDER/NAME. May run on any thread, but only once at a time for one `parts`.
CanvasScene buildCanvas(std::shared_ptr<const CoverParts> parts, const OpenState& open);
/// Builds the scene of a cover that outlives it. `modules` are the blocks of its model; null: no blocks are drawn.
CanvasScene buildCanvas(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                        std::shared_ptr<const ModuleTree> modules = nullptr);

/// A scene and what it was made from, so that scenes with other open containers can be derived from it.
struct BuiltCanvas {
  CanvasScene scene;
  std::deque<CanvasLevel> levels;  ///< the network first
  /// The fused node that an item represents.
  struct FusedAt {
    CanvasLevel* level = nullptr;  ///< null: the item represents something else
    int index = -1;
    bool hidesContainers = false;  ///< it is closed, and contains more than nodes
  };
  std::vector<FusedAt> fusedAt;  ///< for each item
};
BuiltCanvas buildCanvasWithLevels(std::shared_ptr<const CoverParts> parts, const OpenState& open);

}  // namespace fusescope
