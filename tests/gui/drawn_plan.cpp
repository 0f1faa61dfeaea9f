#include "tests/gui/drawn_plan.h"

#include "layout/level_cache.h"
#include "tests/gui/sample_canvas.h"
#include "ui/canvas/scene_maker.h"

namespace fusescope::test {

const FusedNode& Drawn::holding(const std::string& node) const {
  return *plan->fusedNodeOf(*plan->graph().findNode(node));
}

int Drawn::place(const FusedNode& fused) const {
  return scene->itemOfKey(handle(fused));
}

Drawn drawn(std::shared_ptr<const Plan> plan) {
  SceneMaker maker(std::make_shared<CanvasFonts>());
  LevelCache cache;
  auto scene = maker.make(plan, OpenState(), {.cache = &cache});
  if (!scene.ok()) qFatal("%s", scene.error().text().c_str());
  return {std::move(plan), scene.value()};
}

std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                   const PriceModel* prices) {
  auto plan = makePlan(model, options, prices);
  if (!plan.ok()) qFatal("%s", plan.error().text().c_str());
  return plan.value();
}

}  // namespace fusescope::test
