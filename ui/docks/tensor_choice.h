#pragma once

#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/selection.h"

namespace fusescope {

/// A tensor of the selection that can be displayed.
struct TensorChoice {
  enum class Kind {
    Weight,  ///< a constant of the model
    Input,   ///< it is made outside of the selection
    Output,  ///< the selection makes it and writes it to memory
    Inner    ///< the selection makes it, and it stays inside a kernel
  };
  Kind kind = Kind::Weight;
  QString label;                     ///< "weight conv1.weight · f32[64, 3, 7, 7]"
  std::string name;                  ///< the name for commands: in a body "HOLDER/NAME"
  std::optional<Tensor> constant{};  ///< set for a weight
  QString refusal{};                 ///< why a run cannot return it; empty: it can
};

/// Returns the tensors of the selected nodes, also in bodies: first weights, then results, then inputs; at most
/// kMostChoices.
inline constexpr std::size_t kMostChoices = 200;
std::vector<TensorChoice> tensorChoices(const PlanSnapshot& snapshot, const Selection& selection);

}  // namespace fusescope
