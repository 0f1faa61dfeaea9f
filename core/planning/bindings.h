#pragma once

#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// What a node or a value is to the kernel that runs it: made once, by the rule that matched, and carried with the
/// fused node, so that a backend builds what the plan says instead of looking for it again.
struct Binding {
  std::string_view role;  ///< one of roles::
  ValueId value;          ///< what the role is about; see the roles
  NodeId node;            ///< the node that plays it; invalid where it is a value from outside
  bool operator==(const Binding&) const = default;
};
using Bindings = std::vector<Binding>;

namespace roles {
// attention: softmax(terms(query · key)) · values, the terms in the order in which they are applied.
inline constexpr std::string_view kQuery = "query";    ///< value: first operand of the first product
inline constexpr std::string_view kKey = "key";        ///< value: second operand of the first product
inline constexpr std::string_view kValues = "values";  ///< value: second operand of the second product
inline constexpr std::string_view kQueryScale =
    "query_scale";  ///< node: Mul or Div by a number right before the product; value: what it scales
inline constexpr std::string_view kKeyScale = "key_scale";  ///< likewise
inline constexpr std::string_view kScores = "scores";       ///< node: the first product; value: its result
/// node: Mul, Div, Add, Sub or Where that changes the scores; value: its operand that carries them. Its other operands
/// broadcast to the extents of that value, which are those of the scores, or, behind a view, others with the same last
/// two.
inline constexpr std::string_view kTerm = "term";
inline constexpr std::string_view kSoftmax = "softmax";  ///< node: Softmax or LogSoftmax; value: its result
inline constexpr std::string_view kGuard = "guard";      ///< node: IsNaN, then Where, of Where(IsNaN(p), number, p)
inline constexpr std::string_view kProduct = "product";  ///< node: the second product; value: the attention's result
// norms: (x - mean) / sqrt(mean of squares + epsilon) · scale + bias over the last axes.
inline constexpr std::string_view kInput = "input";      ///< value: x
inline constexpr std::string_view kEpsilon = "epsilon";  ///< value: a constant of one element
inline constexpr std::string_view kScale = "scale";      ///< value: the weight
inline constexpr std::string_view kBias = "bias";        ///< value: added at the end
inline constexpr std::string_view kResult = "result";    ///< value: what leaves the kernel
/// group_norm; value: x seen as [N, groups, ...]. Scale and bias run along the channels of x itself, its second axis;
/// epsilon is that of an InstanceNormalization, the root, where it is not bound.
inline constexpr std::string_view kGroups = "groups";
// rotary embedding: kInput turned by an angle, kResult.
inline constexpr std::string_view kCosine = "cosine";  ///< value: of the angle; broadcasts to x or to half of it
inline constexpr std::string_view kSine = "sine";      ///< value: likewise
// conv, matmul, gemm: a root, then parts in the order in which they are applied.
inline constexpr std::string_view kRoot = "root";  ///< node; several where products of one input run as one kernel
inline constexpr std::string_view kPart = "part";  ///< node of the epilogue; value: its result
// quantised edges
inline constexpr std::string_view kQuantize = "quantize";  ///< node: QuantizeLinear in the kernel; value: its result
inline constexpr std::string_view kDequantize =
    "dequantize";  ///< node: DequantizeLinear in the kernel; value: what it reads
}  // namespace roles

/// The first binding of a role; null if there is none.
const Binding* findBinding(const Bindings& bindings, std::string_view role);
/// All of a role, in order.
std::vector<Binding> bindingsOf(const Bindings& bindings, std::string_view role);

}  // namespace fusescope
