#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/program.h"

namespace fusescope::native {

/// An LSTM or GRU with the activations of the standard, whose weights are constants. All operands are f32 and plain;
/// weights as ONNX has them: W [directions, gates·hidden, features], R [directions, gates·hidden, hidden],
/// B [directions, 2·gates·hidden].
struct RecurrentCall {
  bool isLstm = true;
  bool resetsProduct = false;  ///< GRU: linear_before_reset
  bool batchFirst = false;     ///< layout 1
  std::vector<char> fromEnd;   ///< by direction: it walks from the last step to the first
  std::int64_t time = 0, batch = 0, features = 0, hidden = 0;
  Tensor w, r, b;  ///< `b` may be empty
  Ref x;
  std::optional<Ref> initialState, initialCell;
  std::optional<Ref> all, state, cell;  ///< Y, Y_h, Y_c where they are wanted
};

/// Projects all steps by one product, then walks along them; two directions side by side where there are threads.
std::unique_ptr<Step> makeRecurrentStep(RecurrentCall call, int threads);

}  // namespace fusescope::native
