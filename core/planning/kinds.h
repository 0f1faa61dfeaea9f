#pragma once

#include <string_view>
#include <vector>

namespace fusescope {

struct Node;

/// The names of the kinds of fused nodes. `fused_node_kinds.inc` lists them and says what a fused node of each kind may
/// contain.
namespace kinds {
#define KIND(NAME, TEXT, FAMILY) inline constexpr std::string_view k##NAME = TEXT;
#include "planning/fused_node_kinds.inc"
#undef KIND
}  // namespace kinds

/// Returns the kind of a fused node that contains only `node`.
std::string_view kindOfSingle(const Node& node);

/// Returns all kinds.
std::vector<std::string_view> allKinds();

/// Returns the kind whose colour fused nodes of `kind` have in the window: "matmul" for "gemm". `kind` may also be a
/// word of another compiler for one of its kernels; the result is "other" if it has no colour of its own.
std::string_view kindFamily(std::string_view kind);

}  // namespace fusescope
