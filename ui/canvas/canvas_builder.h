#pragma once

#include <deque>
#include <vector>

#include "ui/canvas/canvas_level.h"

namespace fusescope {

/// What is open at first: nothing, but a network that is hardly more than its control flow shows what is in it.
OpenState openAtFirst(const Cover& cover);
/// What may be open when a network is opened, from the least to the most of it: each state opens one more group of
/// equal blocks, the outermost first, of these the largest. As far as what is open has room in a view of this size by
/// an estimate, and half as much again: only a layout tells. `modules`: blocks of the cover's model, or null. Pure; any
/// thread.
std::vector<OpenState> statesAtRest(const Cover& cover, const std::shared_ptr<const ModuleTree>& modules,
                                    const QSizeF& view);
/// All of a scene, and what is in what is closed there.
OpenState allOpen(const CanvasScene& scene);
/// The scene of a cover, not yet laid out. Pure; any thread. A node that is in no fused node has a box of its own.
/// Things in a body have the names that directives give them: HOLDER/NAME.
/// `modules`: the blocks of the cover's model; null: none are drawn.
CanvasScene buildCanvas(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                        std::shared_ptr<const ModuleTree> modules = nullptr);

/// A scene and what it was made of, for scenes that differ from it in what is open. Refers to the cover and the fonts.
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
BuiltCanvas buildCanvasWithLevels(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                                  std::shared_ptr<const ModuleTree> modules = nullptr);

}  // namespace fusescope
