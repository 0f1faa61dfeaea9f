#include "ui/document/build_step.h"

#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

BuildStep buildStep(const PlanDocument& document, const RunController& controller) {
  const Compilers& compilers = controller.compilers();
  const Compiler* other = controller.plansOnly() ? otherBuilder(*document.snapshot()->plan, compilers) : nullptr;
  const std::string name = other == nullptr ? document.options().compiler : std::string(other->name());
  return {.other = other,
          .words = other == nullptr ? QStringLiteral("Build this plan") : QStringLiteral("Build with %1").arg(qs(name)),
          .timesIt = compilers.whyNot(name, Ability::Time).isEmpty(),
          .refusal = other == nullptr ? controller.buildRefusal() : controller.buildWithRefusal(*other)};
}

void buildByStep(const PlanDocument& document, RunController& controller) {
  const BuildStep step = buildStep(document, controller);
  if (!step.refusal.isEmpty()) return;
  if (step.other == nullptr) {
    controller.build();
  } else {
    controller.buildWith(*step.other);
  }
}

}  // namespace fusescope
