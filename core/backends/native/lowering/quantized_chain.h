#pragma once

#include <optional>
#include <set>
#include <vector>

#include "backends/native/lowering/code_scales.h"
#include "backends/native/lowering/context.h"

namespace fusescope {
struct Node;
struct RootBinding;
}  // namespace fusescope

namespace fusescope::native {

/// A convolution or product of codes, and the operations behind it that one kernel can calculate:
///   quantize(act(round(sums · scale + bias) + residual))
struct QuantizedChain {
  enum class Kind { Bias, Activation, Round, Residual, Cast };
  struct Operation {
    Kind kind;
    std::vector<NodeId> nodes;  ///< the nodes of the operation, in the order of the graph
    ValueId operand = {};       ///< Bias: a constant; Residual: codes, or floats if `codes` is not set
    /// Round: the codes to which numbers are rounded; Residual: the codes of the operand.
    std::optional<CodeScale> codes;
  };
  NodeId root;
  ValueId source;         ///< the codes of the first operand
  NodeId quantize;        ///< the QuantizeLinear that makes these codes only for this root; invalid if there is none
  CodeScale sourceScale;  ///< the scale of these codes
  NodeId weights;         ///< the DequantizeLinear of the weights, or of a second operand that is not constant
  ValueId right;          ///< the codes of a second operand that is not constant
  CodeScale rightScale;   ///< the scale of those codes
  std::set<NodeId> absorbed;  ///< nodes before the root whose results nothing else needs
  std::vector<Operation> operations;
  std::optional<Operation> result;  ///< Round: the QuantizeLinear at the end of the chain
  NodeId last;                      ///< the node whose result is the result of the chain
};

/// Returns how many channels of a convolution or product may have separate scales.
std::int64_t channelsOf(const Node& root, const Dims& result);
/// Returns the chain that the plan binds at `root`, or nothing if it is not a product of codes that a kernel can run.
std::optional<QuantizedChain> quantizedChainAfter(const Context& context, const RootBinding& root);

}  // namespace fusescope::native
