#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/graph.h"

namespace fusescope::native {

/// How codes of 8 bits stand for numbers: number = (code - zero) · scale, by one scale that is a constant.
struct CodeScale {
  ValueId scale;
  float zero = 0;
  DataType type = DataType::Undefined;  ///< I8 or U8
  float least() const { return type == DataType::I8 ? -128.0f : 0.0f; }
  float most() const { return type == DataType::I8 ? 127.0f : 255.0f; }
};

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
  CodeScale sourceScale;      ///< theirs
  NodeId weights;             ///< the DequantizeLinear of its weights, or of a second operand that is no constant
  ValueId right;              ///< such a one's codes
  CodeScale rightScale;       ///< and theirs
  std::set<NodeId> absorbed;  ///< nodes before the root that nothing else needs
  std::vector<Operation> operations;
  std::optional<Operation> result;  ///< Round: the QuantizeLinear that it ends with
  NodeId last;                      ///< node whose result it leaves
};

}  // namespace fusescope::native
