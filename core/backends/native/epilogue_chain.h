#pragma once

#include "backends/native/emitter.h"
#include "backends/native/exact_epilogue.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// A convolution or matrix product with what follows it as far as it can be post-operations.
struct Chain {
  enum class Kind { Bias, BatchNorm, Activation, Swish, Residual, Cast };
  struct Operation {
    Kind kind;
    NodeId node;
    ValueId operand;  ///< Bias, Residual: the other operand
    /// Nodes of the chain that it stands for.
    std::size_t nodeCount() const { return kind == Kind::Swish ? 2 : 1; }
    bool isActivation() const { return kind == Kind::Activation || kind == Kind::Swish; }
  };
  NodeId root;
  std::vector<NodeId> nodes;  ///< the root first
  std::vector<Operation> operations;
  ValueId result;
};

bool isConvolution(const Node& node);    ///< Conv or ConvTranspose
bool isMatrixProduct(const Node& node);  ///< MatMul or Gemm
/// Returns whether the node may follow a convolution or product in one kernel. Whether oneDNN can calculate it is
/// decided by appendActivation() of post_operations.h.
bool isActivation(const Node& node);

/// The root with what the plan binds behind it, as far as one primitive can take it: constants per channel, batch norm,
/// activations, x·sigmoid(x), sums with a tensor of the same extents, and casts that widen. None of them rounds.
Chain chainAfter(const Context& context, const Node& root);
/// The root alone.
Chain chainOf(const Node& root);
/// Whether the constant is one number for each channel of a convolution, or for each column of a product.
bool isPerChannel(const Context& context, ValueId value, const Node& root);

/// Claims the roots that `isRoot` accepts, which calculate in f32 and which nobody else claimed, with their chains. A
/// chain is emitted at its last node, so that a residual that is calculated meanwhile is there.
void claimChains(const Context& context, Units& units, bool (*isRoot)(const Node&),
                 Status (*emit)(Context&, const Chain&));

// In what follows, `taken` nodes of a chain, from the first, become one primitive.
/// What the chain gives behind those nodes.
ValueId resultOf(const Context& context, const Chain& chain, std::size_t taken);
/// Queues the nodes behind those.
void leaveToTapes(Context& context, const Chain& chain, std::size_t taken);
/// Runs each node by itself, where no primitive can run the root.
Status emitSeparately(Context& context, const Chain& chain);
/// The nodes from `first` on, of those that were taken.
EpilogueTape epilogueTape(const Context& context, const Chain& chain, std::size_t first, std::size_t taken);

}  // namespace fusescope::native
