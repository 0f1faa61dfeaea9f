#pragma once

#include <deque>
#include <vector>

#include "ui/canvas/canvas_level.h"
#include "ui/canvas/cover_parts.h"

namespace fusescope {

/// What is open at first: nothing, but a network that is hardly more than its control flow shows what is in it.
OpenState openAtFirst(const Cover& cover);
/// What may be open when a network is opened, from the least to the most of it: each state opens one more group of
/// equal blocks, the outermost first, of these the largest. As far as what is open has room in a view of this size by
/// an estimate, and half as much again: only a layout tells. Pure; any thread.
std::vector<OpenState> statesAtRest(const CoverParts& parts, const QSizeF& view);
/// All of a scene, and what is in what is closed there.
OpenState allOpen(const CanvasScene& scene);
/// The scene of a cover, not yet laid out. A node that is in no fused node has a box of its own. Things in a body have
/// the names that directives give them: HOLDER/NAME. Any thread, but one at a time for one `parts`.
CanvasScene buildCanvas(std::shared_ptr<const CoverParts> parts, const OpenState& open);
/// The same of a cover that outlives the scene. `modules`: the blocks of its model; null: none are drawn.
CanvasScene buildCanvas(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                        std::shared_ptr<const ModuleTree> modules = nullptr);

/// A scene and what it was made of, for scenes that differ from it in what is open.
struct BuiltCanvas {
  CanvasScene scene;
  std::deque<CanvasLevel> levels;  ///< the network first
  /// The fused node that an item is drawn for.
  struct FusedAt {
    CanvasLevel* level = nullptr;  ///< null: it is drawn for something else
    int index = -1;
    bool hidesContainers = false;  ///< it is closed, and more than nodes would be seen in it
  };
  std::vector<FusedAt> fusedAt;  ///< by item
};
BuiltCanvas buildCanvasWithLevels(std::shared_ptr<const CoverParts> parts, const OpenState& open);

}  // namespace fusescope
