#pragma once

#include <memory>
#include <vector>

#include "base/ids.h"
#include "planning/cover.h"

namespace fusescope {

class Graph;

/// Floats that a node reads and that a DequantizeLinear of its fused node makes of codes.
struct CodesBefore {
  NodeId dequantize;          ///< invalid: it reads no such floats
  std::vector<NodeId> owned;  ///< the DequantizeLinear, and views behind it, as far as nobody else needs their results
  NodeId quantize;            ///< the QuantizeLinear that makes the codes for `dequantize` alone; invalid if none does
};

/// One operation behind a convolution or product. Its nodes alone read what the operation before it leaves.
struct EpilogueOperation {
  enum class Kind {
    Sum,        ///< an Add; it has an operand
    BatchNorm,  ///< a BatchNormalization
    Swish,      ///< x · sigmoid(x): a Sigmoid and a Mul
    Cast,       ///< from one float to another
    Quantize,   ///< a QuantizeLinear and, if it alone reads the codes, a DequantizeLinear
    Function    ///< any other elementwise node, whose first input is what it is applied to
  };
  Kind kind = Kind::Function;
  std::vector<NodeId> nodes;  ///< in graph order
  ValueId source;             ///< what it is applied to
  ValueId operand;            ///< of a Sum: what is added
  CodesBefore operandCodes;   ///< of a Sum: where the operand comes from codes
  ValueId result;             ///< what its last node leaves
};

/// A convolution or product in a fused node, with all that its kernel may run together with it.
struct RootBinding {
  enum class Kind { Convolution, Product } kind = Kind::Product;
  NodeId root;
  CodesBefore first, second;                ///< where its first two inputs come from codes; of a product the first one
                                            ///< also by views
  std::vector<EpilogueOperation> epilogue;  ///< in the order in which they are applied
};

/// The nodes of a norm whose input and result are bound.
struct NormBinding {
  std::vector<NodeId> nodes;  ///< on the ways from the input to the result; empty: others need what they make
  /// What the scale, or where there is none the bias, is applied to, and what that was before float Casts.
  std::vector<ValueId> unweighted;
};

/// The nodes of an attention whose products are bound.
struct AttentionBinding {
  /// A node above the first product that alone reads `source` for what is below it.
  struct Above {
    NodeId node;
    ValueId source;       ///< what it makes its result of
    bool scales = false;  ///< it is a Mul or Div by a number; else it only moves elements or changes their type
  };
  std::vector<NodeId> nodes;          ///< from the first product to the second; empty: others need what they make
  std::vector<NodeId> behindSoftmax;  ///< of these, those between Softmax and the second product
  std::vector<Above> query, key;      ///< above the operands of the first product, from the product upwards
};

/// Codes that are only picked and moved between DequantizeLinears and a QuantizeLinear.
struct HeldCodesBinding {
  struct Float {
    ValueId value;
    NodeId maker, reader;  ///< the one node that makes it, and the one that reads it
  };
  NodeId quantize;
  std::vector<Float> floats;  ///< what stands for codes, each behind the one that is made of it; the last one is made
                              ///< by a DequantizeLinear
};

/// What the nodes of a fused node are to the kernels that may run several of them together. It follows from the graph,
/// from which nodes the fused node has and gives out, and from the bindings of its rule. Types, extents and constants
/// are not looked at: whether a kernel can take what is bound here is for its emitter to say.
struct KernelBindings {
  std::vector<RootBinding> roots;           ///< in graph order
  NormBinding norm;                         ///< of a fused node that is a norm
  AttentionBinding attention;               ///< of one that is an attention
  std::vector<HeldCodesBinding> heldCodes;  ///< in graph order
};

/// Null where nothing is bound. It is no part of plans in files: it is made whenever a plan is made, and so when a file
/// is opened.
std::shared_ptr<const KernelBindings> bindKernel(const Graph& graph, const FusedNode& fused);

/// Those of the fused node; without any entry where there are none.
const KernelBindings& kernelBindings(const FusedNode& fused);
/// What is bound of the convolution or product `root`; null if it is none, or not in the fused node.
const RootBinding* findRoot(const FusedNode& fused, NodeId root);
/// Whether the fused node has a root of this kind.
bool hasRoot(const FusedNode& fused, RootBinding::Kind kind);

}  // namespace fusescope
