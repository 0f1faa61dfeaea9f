#pragma once

#include <memory>
#include <string>

#include "planning/plan.h"
#include "ui/canvas/canvas_scene.h"

namespace fusescope::test {

/// A plan of which a scene was made and laid out.
struct Drawn {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const CanvasScene> scene;

  const FusedNode& holding(const std::string& node) const;  ///< the fused node that holds it
  const CanvasItem& box(const FusedNode& fused) const { return scene->items[std::size_t(place(fused))]; }
  int place(const FusedNode& fused) const;  ///< index of the item that it is drawn by
};

// Both end the program where they fail.
Drawn drawn(std::shared_ptr<const Plan> plan);
std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                   const PriceModel* prices = nullptr);

}  // namespace fusescope::test
