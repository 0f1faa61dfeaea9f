#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

struct Node;

// The kinds of fused nodes (FusedNode::kind), and the nodes that a fused node of each kind may contain besides its
// root. A backend with a kernel for a kind can rely on this list. Whatever no kernel of it runs is run by the reference
// backend, node by node.
//
// clang-format off
//   kind         nodes
//   conv         Conv or ConvTranspose, then an epilogue
//   matmul       MatMul; views and Transposes of the last two axes before its operands; then an epilogue; then views.
//                Or several MatMul of one value by constants, each with an epilogue and an output of its own; this also
//                applies to gemm
//   gemm         Gemm; views before its first operand; then an epilogue; then views
//   attention    softmax(terms(q·kᵀ))·v; views and Transposes of q, k, v and of the result; a Slice, Split or Gather
//                of one index that makes q, k or v a part of another value; scales; the guard Where(IsNaN(p), 0, p)
//   rotary       x · cos + rotate(x) · sin, where Slice or Split gives the halves of x; views and Transposes before x
//   layer_norm   LayerNormalization, or its arithmetic
//   rms_norm     RMSNormalization, or its arithmetic
//   group_norm   GroupNormalization; or InstanceNormalization, or its arithmetic, of x seen as [N, groups, ...], with
//                the views around it, and weight and bias along the channels
//   softmax      Softmax or LogSoftmax; scale and mask before it; the guard after it
//   pointwise    elementwise nodes whose outputs have equal extents. Operands from outside may broadcast, and any value
//                may be an output. Slices, Splits, Expands and Gathers of one index of its operands; then views
//   batch_norm   BatchNormalization that is in no conv or gemm, then an epilogue
//   view         only views, which move no element: Reshape and similar operators, and a Transpose that moves only axes
//                of one element
//   transpose    Transpose, and the views around it
//   instance_norm, norm, pool, reduce, concat, split, slice, gather, scatter, pad, resize, expand, quantize, shape,
//   recurrence, random, control_flow
//                a single node
//   if, loop, scan
//                a single node; if it is accelerated, its bodies have plans of their own (Plan::bodies)
//   operator     any other single node
// clang-format on
//
// An epilogue is a set of elementwise nodes (and BatchNormalization with constant statistics) that follow the root.
// Each has the extents of the root's output, and reads values of the kernel, constants, or values from outside that
// broadcast to those extents. Only its last value leaves the kernel. After a view inside an epilogue (gemm, Reshape,
// residual Add), operands from outside are scalars, have the extents of the view, or run along its last axis, which is
// then also the last axis of the root's output.
namespace kinds {
inline constexpr std::string_view kConv = "conv";
inline constexpr std::string_view kMatMul = "matmul";
inline constexpr std::string_view kGemm = "gemm";
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kLayerNorm = "layer_norm";
inline constexpr std::string_view kRmsNorm = "rms_norm";
inline constexpr std::string_view kGroupNorm = "group_norm";
inline constexpr std::string_view kRotary = "rotary";
inline constexpr std::string_view kQuantize = "quantize";
inline constexpr std::string_view kSoftmax = "softmax";
inline constexpr std::string_view kPointwise = "pointwise";
inline constexpr std::string_view kBatchNorm = "batch_norm";
inline constexpr std::string_view kPool = "pool";
inline constexpr std::string_view kReduce = "reduce";
inline constexpr std::string_view kView = "view";
inline constexpr std::string_view kTranspose = "transpose";
inline constexpr std::string_view kConcat = "concat";
inline constexpr std::string_view kSlice = "slice";
inline constexpr std::string_view kGather = "gather";
inline constexpr std::string_view kResize = "resize";
inline constexpr std::string_view kOperator = "operator";
}  // namespace kinds

/// Returns the kind of a fused node that contains only `node`.
std::string_view kindOfSingle(const Node& node);

/// Returns all kinds.
std::vector<std::string> allKinds();

}  // namespace fusescope
