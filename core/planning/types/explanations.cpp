#include "planning/types/explanations.h"

namespace fusescope {

void Explanations::add(Decision decision, DirectiveAnswer answer) {
  answer.directive = decision.by;
  answer.about = decision.subjects;
  answer.decision = static_cast<std::uint32_t>(decisions.size());
  answers.push_back(std::move(answer));
  add(std::move(decision));
}

}  // namespace fusescope
