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

/// A norm whose input and result are bound: (x - mean) / sqrt(mean of squares + epsilon) · scale + bias.
struct NormBinding {
  /// The nodes on the paths from the input to the result; empty if nodes outside need their results, or if the axes or
  /// epsilon are not found.
  std::vector<NodeId> nodes;
  ValueId input, result;
  ValueId scale, bias;                 ///< without a scale it is 1; without a bias it is 0
  bool centred = true;                 ///< false for a root mean square norm, which subtracts no mean
  ValueId groups;                      ///< the input seen as [N, groups, ...]; invalid if the norm is no group norm
  std::size_t axes = 0;                ///< the number of last axes that are normalised together; 0 for a group norm
  std::vector<ValueId> axesConstants;  ///< the constants that state these axes; their numbers become part of the kernel
  ValueId epsilon;                     ///< a constant of one element; invalid if an attribute states epsilon
  float ownEpsilon = 0;                ///< epsilon as the attribute of a normalisation operator among the nodes
  /// The values to which the scale is applied, before and after float Casts. If there is no scale, this is the bias.
  std::vector<ValueId> unweighted;
};

/// An attention whose products are bound: softmax(query · key, changed by `terms`) · values.
struct AttentionBinding {
  /// A node before the first product. Among the nodes before this product, only this node reads `source`.
  struct Above {
    enum class Kind { Move, Multiply, Divide };
    NodeId node;
    ValueId source;          ///< the operand whose elements it moves or scales
    Kind kind = Kind::Move;  ///< Move: it only moves elements or changes their type
    ValueId number;          ///< the number by which it multiplies or divides
  };
  /// A node that changes the scores. None of the nodes from the first product to the second calculates its operands.
  struct Term {
    enum class Kind {
      Multiply,
      Add,
      Subtract,
      Divide,
      ReplaceTrue,  ///< the operand takes the place of the scores where the condition is true
      ReplaceFalse  ///< the operand takes the place of the scores where the condition is false
    };
    Kind kind = Kind::Multiply;
    NodeId node;
    ValueId condition, operand;  ///< the condition is invalid unless the node replaces scores
  };
  /// The nodes from the first product to the second; empty if nodes outside need their results, or if one of them
  /// changes the scores in a way that no term describes.
  std::vector<NodeId> nodes;
  std::vector<NodeId> beforeSoftmax;        ///< those of `nodes` before Softmax; the first product is the first
  std::vector<NodeId> behindSoftmax;        ///< those of `nodes` that are between Softmax and the second product
  std::vector<Above> aboveQuery, aboveKey;  ///< before the operands of the first product; the node next to it is first
  std::vector<Term> terms;                  ///< in the order in which they are applied
  ValueId query, key, values;               ///< the operands of the products, apart from the probabilities
  ValueId scores;                           ///< the result of the first product
  ValueId probabilities;                    ///< the result of Softmax
  ValueId weights;                          ///< what the second product reads of the probabilities
  NodeId guard;                             ///< a Where that replaces NaN among the probabilities; invalid if none does
  ValueId guardNumber;                      ///< the number by which it replaces them
  NodeId product;                           ///< the second product
  ValueId result;                           ///< the result of the second product
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
/// from the nodes and outputs of the fused node, and from the bindings of its rule. They do not depend on types and
/// extents, and of all constants only on those that state the axes of a norm. The emitter decides whether its kernel
/// can run what is bound.
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
