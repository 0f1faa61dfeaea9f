#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/kernels/gate_product.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

/// The weights of one direction.
struct RecurrentDirection {
  bool fromEnd = false;  ///< it runs from the last step to the first
  std::unique_ptr<GateProduct> input, recurrent;
  /// For a GRU that resets before the product: the product of its third gate, separate from the others.
  std::unique_ptr<GateProduct> third;
  std::optional<Ref> bias;       ///< for all gates
  std::optional<Ref> lateBias;   ///< for a GRU that resets after the product: the bias of that product
  std::optional<Ref> peepholes;  ///< for an LSTM: for gates i, o and f
};

/// An LSTM or GRU with the standard activations and constant weights. Refs are plain; x, states and results are f32 or,
/// unless the weights are bytes, narrow floats.
struct RecurrentCall {
  bool isLstm = true;
  bool resetsProduct = false;  ///< GRU: linear_before_reset
  bool batchFirst = false;     ///< layout 1
  std::int64_t time = 0, batch = 0, hidden = 0;
  std::vector<RecurrentDirection> directions;
  Ref x;
  std::optional<Ref> lengths;  ///< int32, steps of each sequence; nothing: all sequences have all steps
  std::optional<Ref> initialState, initialCell;
  std::optional<Ref> all, state, cell;  ///< Y, Y_h and Y_c, if they are requested
};

/// Calculates the products of the input for all steps at once, then runs the steps in order; two directions run
/// concurrently if there are threads.
std::unique_ptr<Step> makeRecurrentStep(RecurrentCall call, int threads);

}  // namespace fusescope::native
