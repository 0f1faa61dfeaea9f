#pragma once

#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "ui/document/plan_snapshot.h"
#include "ui/document/selection.h"

namespace fusescope {

/// A tensor around what is selected that can be looked at.
struct TensorChoice {
  enum class Kind {
    Weight,  ///< a constant: the model has its numbers
    Input,   ///< comes from outside of what is selected
    Output,  ///< what is selected makes it, and leaves it in memory
    Inner    ///< what is selected makes it, and a kernel holds it inside
  };
  Kind kind = Kind::Weight;
  QString label;                     ///< "weight conv1.weight · f32[64, 3, 7, 7]"
  std::string name;                  ///< as commands take it: of what is in a body "HOLDER/NAME"
  std::optional<Tensor> constant{};  ///< of a weight
  QString refusal{};                 ///< why a run cannot hand it out; empty: it can
};

/// Those of the selected nodes, in bodies too: weights first, then what they make, then what they read. Of very many
/// the first kMostChoices.
inline constexpr std::size_t kMostChoices = 200;
std::vector<TensorChoice> tensorChoices(const PlanSnapshot& snapshot, const Selection& selection);

}  // namespace fusescope
