#pragma once

#include "backends/native/lowering/emitter.h"
#include "backends/native/lowering/exact_epilogue.h"
#include "planning/kernel_bindings.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// A convolution or matrix product, and the operations behind it that one primitive can calculate as post-operations.
struct Chain {
  enum class Kind { Bias, BatchNorm, Activation, Swish, Residual, Cast };
  struct Operation {
    Kind kind;
    NodeId node;
    ValueId operand;  ///< for Bias and Residual: the other operand
    /// Returns how many nodes of the chain this operation calculates.
    std::size_t nodeCount() const { return kind == Kind::Swish ? 2 : 1; }
    bool isActivation() const { return kind == Kind::Activation || kind == Kind::Swish; }
  };
  NodeId root;
  std::vector<NodeId> nodes;  ///< the root first
  std::vector<Operation> operations;
  ValueId result;
};

bool isConvolution(const Node& node);  ///< Conv or ConvTranspose
/// Returns whether the node may follow a convolution or product in one kernel. Whether oneDNN can calculate it is
/// decided by appendActivation() of post_operations.h.
bool isActivation(const Node& node);

/// Returns the chain of the root and of the operations that the plan binds behind it, as far as one primitive can
/// calculate them: constants per channel, batch norms, activations, x·sigmoid(x), sums with a tensor of the same
/// extents, and casts that widen. None of these operations rounds.
Chain chainAfter(const Context& context, const RootBinding& root);
/// Returns a chain that consists of the root only.
Chain chainOf(const Node& root);
/// Returns whether the constant has one number for each channel of a convolution or for each column of a product.
bool isPerChannel(const Context& context, ValueId value, const Node& root);

/// Claims, with their chains, the bound roots of this kind that calculate in f32 and that no other emitter claimed. A
/// chain is emitted at its last node, so that residuals which are calculated between its nodes are known.
void claimChains(const Context& context, Units& units, RootBinding::Kind kind, Status (*emit)(Context&, const Chain&));

// The following functions are for a primitive that calculates the first `included` nodes of a chain.
/// Returns the value that the last of these nodes calculates.
ValueId resultOf(const Context& context, const Chain& chain, std::size_t included);
/// Queues the nodes after the first `included` ones.
void leaveToTapes(Context& context, const Chain& chain, std::size_t included);
/// Runs each node of the chain separately, if no primitive can run the root.
Status emitSeparately(Context& context, const Chain& chain);
/// Returns the operations of the nodes from index `first` up to `included` as a tape.
EpilogueTape epilogueTape(const Context& context, const Chain& chain, std::size_t first, std::size_t included);

}  // namespace fusescope::native
