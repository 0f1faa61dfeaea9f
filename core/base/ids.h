#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace fusescope {

/// An index that has a type of its own for each kind of thing. A default-constructed id refers to nothing.
template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<std::uint32_t>(i)) {}
  constexpr bool valid() const { return index != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;            ///< a node of a Graph
using ValueId = Id<struct ValueTag>;          ///< a value (tensor) of a Graph
using OriginId = Id<struct OriginTag>;        ///< a node of the file
using SegmentId = Id<struct SegmentTag>;      ///< a segment of a Plan
using FusedNodeId = Id<struct FusedNodeTag>;  ///< a fused node of a Plan

}  // namespace fusescope

template <class Tag>
struct std::hash<fusescope::Id<Tag>> {
  std::size_t operator()(fusescope::Id<Tag> id) const noexcept { return id.index; }
};
