#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

// What a fused node is (FusedNode::kind), and what it may hold besides its root. A backend that has a kernel for a
// kind can rely on what is said here; whatever it cannot run faster, the reference way (node after node) still runs.
//
//   conv        Conv or ConvTranspose, then an epilogue
//   matmul      MatMul; views and last-two-axes Transposes before its operands; then an epilogue; then views. Or
//   several
//               MatMul of one value by constants, each with an epilogue and an output of its own; gemm likewise
//   gemm        Gemm; views before its first operand; then an epilogue; then views
//   attention   softmax(terms(q·kᵀ))·v; views and Transposes of q, k, v and of the result, and the parts (Slice, Split,
//               Gather of one index) that they are; scales; the guard Where(IsNaN(p), 0, p)
//   rotary      x · cos + rotate(x) · sin, halves of x by Slice or Split; views and Transposes before x
//   layer_norm  LayerNormalization, or its arithmetic
//   rms_norm    RMSNormalization, or its arithmetic
//   group_norm  GroupNormalization; or InstanceNormalization, or its arithmetic, of x seen as [N, groups, ...], the
//   views
//               around it, weight and bias along the channels
//   softmax     Softmax or LogSoftmax; scale and mask before it; the guard after it
//   pointwise   elementwise nodes whose outputs have equal extents; operands from outside may broadcast; any of its
//               values may be an output; Slices, Splits, Expands and Gathers of one index of what it reads; then
//               views
//   batch_norm  BatchNormalization that no conv or gemm took, then an epilogue
//   instance_norm, norm, pool, reduce, concat, split, slice, gather, scatter, pad, resize,
//   expand, quantize, shape, recurrence, random, control_flow: a single node
//   if, loop, scan: a single node whose bodies have plans of their own (Plan::bodies) where it is accelerated
//   view        only views: no element moves (Reshape and its like, and a Transpose that only moves axes of one
//   element) transpose   Transpose, and views around it operator    anything else, a single node
//
// An epilogue is a set of elementwise nodes (and BatchNormalization with constant statistics) that follow the root:
// each has the extents of the root's output and reads values of the kernel, constants, or values from outside that
// broadcast to those extents. Only its last value leaves the kernel. Behind a view inside an epilogue (gemm, Reshape,
// residual Add) operands from outside are scalars, have the extents of the view, or run along its last axis, which is
// then the last axis of the root's output too.
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

/// The kind of a fused node that holds `node` alone.
std::string_view kindOfSingle(const Node& node);

/// Every kind there is, in the order of the list above.
std::vector<std::string> allKinds();

}  // namespace fusescope
