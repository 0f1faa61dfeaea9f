#pragma once

#include <string_view>
#include <vector>

#include "base/ids.h"

namespace fusescope {

/// The role of a node or value in the kernel that runs it. The fusion rule that matched records it once, and the fused
/// node carries it, so that a backend builds the kernel from bindings instead of searching the graph again.
struct Binding {
  std::string_view role;  ///< one of roles::
  ValueId value;          ///< the value that the role refers to; see the roles
  NodeId node;            ///< the node that has the role; invalid if the role belongs to a value from outside
  bool operator==(const Binding&) const = default;
};
using Bindings = std::vector<Binding>;

namespace roles {
// Attention: softmax(terms(query · key)) · values. The terms are in the order in which they are applied.
inline constexpr std::string_view kQuery = "query";    ///< value: first operand of the first product
inline constexpr std::string_view kKey = "key";        ///< value: second operand of the first product
inline constexpr std::string_view kValues = "values";  ///< value: second operand of the second product
inline constexpr std::string_view kQueryScale =
    "query_scale";  ///< node: Mul or Div by a number right before the product; value: what it scales
inline constexpr std::string_view kKeyScale = "key_scale";  ///< the same as query_scale, for the key
inline constexpr std::string_view kScores = "scores";       ///< node: the first product; value: its result
/// The node is a Mul, Div, Add, Sub or Where that changes the scores, and the value is its operand that carries the
/// scores. Its other operands broadcast to the extents of that value. These are the extents of the scores or, after a
/// view, other extents with the same last two.
inline constexpr std::string_view kTerm = "term";
inline constexpr std::string_view kSoftmax = "softmax";  ///< node: Softmax or LogSoftmax; value: its result
inline constexpr std::string_view kGuard = "guard";      ///< node: IsNaN, then Where, of Where(IsNaN(p), number, p)
inline constexpr std::string_view kProduct = "product";  ///< node: the second product; value: the attention's result
// Norms: (x - mean) / sqrt(mean of squares + epsilon) · scale + bias over the last axes.
inline constexpr std::string_view kInput = "input";      ///< value: x, the input of the norm or of the rotation
inline constexpr std::string_view kEpsilon = "epsilon";  ///< value: a constant of one element
inline constexpr std::string_view kScale = "scale";      ///< value: the weight
inline constexpr std::string_view kBias = "bias";        ///< value: what is added at the end
inline constexpr std::string_view kResult = "result";    ///< value: the result of the kernel
/// The value is x seen as [N, groups, ...] in a group norm. Scale and bias run along the second axis of x itself, its
/// channels. If epsilon is not bound, it is that of the root, an InstanceNormalization.
inline constexpr std::string_view kGroups = "groups";
// Rotary embedding: kInput is rotated by an angle, which gives kResult.
/// Value: the cosine of the angle; it broadcasts to x or to half of x.
inline constexpr std::string_view kCosine = "cosine";
inline constexpr std::string_view kSine = "sine";  ///< value: the sine of the angle; it broadcasts like kCosine
// Convolution and matrix products: a root, then parts in the order in which they are applied.
/// Node; there are several if products of one input run as one kernel.
inline constexpr std::string_view kRoot = "root";
inline constexpr std::string_view kPart = "part";  ///< node of the epilogue; value: its result
// Quantised edges.
inline constexpr std::string_view kQuantize = "quantize";  ///< node: QuantizeLinear in the kernel; value: its result
inline constexpr std::string_view kDequantize =
    "dequantize";  ///< node: DequantizeLinear in the kernel; value: what it reads
}  // namespace roles

/// Returns the first binding with this role, or null.
const Binding* findBinding(const Bindings& bindings, std::string_view role);
/// Returns all bindings with this role, in order.
std::vector<Binding> bindingsOf(const Bindings& bindings, std::string_view role);

}  // namespace fusescope
