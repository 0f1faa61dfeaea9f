#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/gate_product.h"
#include "backends/native/program.h"

namespace fusescope::native {

/// The weights of one direction.
struct RecurrentDirection {
  bool fromEnd = false;  ///< it walks from the last step to the first
  std::unique_ptr<GateProduct> input, recurrent;
  /// GRU that resets before the product: the product of its third gate, apart from the others.
  std::unique_ptr<GateProduct> third;
  std::optional<Ref> bias;       ///< of all gates
  std::optional<Ref> lateBias;   ///< GRU, reset after the product: of that product
  std::optional<Ref> peepholes;  ///< LSTM: of gates i, o and f
};

/// An LSTM or GRU with the activations of the standard, whose weights are constants. Refs are plain; x, states and
/// results are f32 or, where the weights are no bytes, narrow floats.
struct RecurrentCall {
  bool isLstm = true;
  bool resetsProduct = false;  ///< GRU: linear_before_reset
  bool batchFirst = false;     ///< layout 1
  std::int64_t time = 0, batch = 0, hidden = 0;
  std::vector<RecurrentDirection> directions;
  Ref x;
  std::optional<Ref> lengths;  ///< int32: steps of each sequence; nothing: all of them
  std::optional<Ref> initialState, initialCell;
  std::optional<Ref> all, state, cell;  ///< Y, Y_h, Y_c where they are wanted
};

/// Projects all steps by one product, then walks along them; two directions side by side where there are threads.
std::unique_ptr<Step> makeRecurrentStep(RecurrentCall call, int threads);

}  // namespace fusescope::native
