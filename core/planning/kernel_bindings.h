#pragma once

#include <memory>
#include <vector>

#include "base/ids.h"
#include "planning/cover.h"

namespace fusescope {

class Graph;

/// Floats that a node reads and that a DequantizeLinear in the same fused node calculates from codes.
struct CodesBefore {
  NodeId dequantize;          ///< invalid if the node reads no such floats
  std::vector<NodeId> owned;  ///< the DequantizeLinear, and views behind it, as far as nobody else needs their results
  NodeId quantize;            ///< the QuantizeLinear that makes the codes only for `dequantize`; invalid if none does
};

/// What calculates the second operand of a product: Transposes, and before them possibly a DequantizeLinear.
struct MatrixBefore {
  std::vector<NodeId> transposes;  ///< the node next to the product is the first
  NodeId dequantize;               ///< invalid if another node, or none in the fused node, is before the Transposes
};

/// One operation after a convolution or product. Only its nodes read the result of the operation before it.
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
  ValueId source;             ///< the value to which it is applied
  ValueId operand;            ///< the value that a Sum adds
  CodesBefore operandCodes;   ///< the codes from which the operand of a Sum is calculated
  ValueId result;             ///< the result of its last node
};

/// A convolution or product in a fused node, with all that its kernel may run together with it.
struct RootBinding {
  enum class Kind { Convolution, Product } kind = Kind::Product;
  NodeId root;
  /// The codes from which its first two inputs are calculated. Views may be between the codes and the first input of a
  /// product.
  CodesBefore first, second;
  MatrixBefore matrix;                      ///< empty for a convolution
  std::vector<EpilogueOperation> epilogue;  ///< in the order in which they are applied
};

/// The nodes of a norm whose input and result are bound.
struct NormBinding {
  /// The nodes on the paths from the input to the result; empty if nodes outside need their results.
  std::vector<NodeId> nodes;
  /// The values to which the scale is applied, before and after float Casts. If there is no scale, this is the bias.
  std::vector<ValueId> unweighted;
};

/// The nodes of an attention whose products are bound.
struct AttentionBinding {
  /// A node before the first product. Among the nodes before this product, only this node reads `source`.
  struct Above {
    NodeId node;
    ValueId source;       ///< its operand
    bool scales = false;  ///< true: a Mul or Div by a number; false: it only moves elements or changes their type
  };
  /// The nodes from the first product to the second; empty if nodes outside need their results.
  std::vector<NodeId> nodes;
  std::vector<NodeId> behindSoftmax;  ///< those of `nodes` that are between Softmax and the second product
  std::vector<Above> query, key;      ///< before the operands of the first product; the node next to it is the first
};

/// Codes that are only selected and moved between DequantizeLinears and a QuantizeLinear.
struct HeldCodesBinding {
  struct Float {
    ValueId value;
    NodeId maker, reader;  ///< the node that calculates it, and the only node that reads it
  };
  NodeId quantize;
  /// The float values that represent codes, in reverse order of calculation; a DequantizeLinear produces the last one.
  std::vector<Float> floats;
};

/// A Gather from a table that a DequantizeLinear calculates from codes. Only the Gather reads this table.
struct DequantizedTableBinding {
  NodeId gather, dequantize;
};

/// The roles of the nodes of a fused node in kernels that may run several of them together. They follow from the graph,
/// from the nodes and outputs of the fused node, and from the bindings of its rule, and do not depend on types, extents
/// and constants. The emitter decides whether its kernel can run what is bound.
struct KernelBindings {
  std::vector<RootBinding> roots;               ///< in graph order
  NormBinding norm;                             ///< empty if the fused node is not a norm
  AttentionBinding attention;                   ///< empty if the fused node is not an attention
  std::vector<HeldCodesBinding> heldCodes;      ///< in graph order
  std::vector<DequantizedTableBinding> tables;  ///< in graph order
};

/// Finds the bindings of a fused node; returns null if nothing is bound. Plans in files do not contain them; they are
/// computed again when a file is opened.
std::shared_ptr<const KernelBindings> bindKernel(const Graph& graph, const FusedNode& fused);

/// Returns the kernel bindings of the fused node. If nothing is bound, the result is empty.
const KernelBindings& kernelBindings(const FusedNode& fused);
/// Returns the binding of the convolution or product `root`; null if `root` is another node, or is not in the fused
/// node.
const RootBinding* findRoot(const FusedNode& fused, NodeId root);
/// Returns the DequantizeLinear that calculates the table of `gather`; invalid if no table is bound to that node.
NodeId findTable(const FusedNode& fused, NodeId gather);
/// Returns whether the fused node contains a root of this kind.
bool hasRoot(const FusedNode& fused, RootBinding::Kind kind);

}  // namespace fusescope
