#pragma once

#include <optional>
#include <set>
#include <vector>

#include "backends/native/code_scales.h"
#include "backends/native/context.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// A convolution or product of codes with what follows it as far as one kernel can take it:
///   quantize(act(round(sums · scale + bias) + residual))
struct QuantizedChain {
  enum class Kind { Bias, Activation, Round, Residual, Cast };
  struct Operation {
    Kind kind;
    std::vector<NodeId> nodes;       ///< that it stands for, in graph order
    ValueId operand = {};            ///< Bias: a constant; Residual: codes, or floats where there is no `codes`
    std::optional<CodeScale> codes;  ///< Round: quantised to and dequantised from; Residual: what the operand is
  };
  NodeId root;
  ValueId source;             ///< the codes that it reads
  NodeId quantize;            ///< the QuantizeLinear that makes them for it alone; invalid if there is none
  CodeScale sourceScale;      ///< theirs
  NodeId weights;             ///< the DequantizeLinear of its weights, or of a second operand that is no constant
  ValueId right;              ///< such a one's codes
  CodeScale rightScale;       ///< and theirs
  std::set<NodeId> absorbed;  ///< nodes before the root that nothing else needs
  std::vector<Operation> operations;
  std::optional<Operation> result;  ///< Round: the QuantizeLinear that it ends with
  NodeId last;                      ///< node whose result it leaves
};

/// Returns how many channels of a convolution or product may have separate scales.
std::int64_t channelsOf(const Node& root, const Dims& result);
/// The chain of `root` as the plan binds it; nothing where it is no product of codes that a kernel can run.
std::optional<QuantizedChain> quantizedChainAfter(const Context& context, const Node& root);

}  // namespace fusescope::native
