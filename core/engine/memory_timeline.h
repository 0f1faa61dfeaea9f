#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusescope {

/// What stands in the arena of a built network while it runs, step by step in order of execution. A value.
struct MemoryTimeline {
  struct Step {
    std::string name;      ///< of the fused node, or of a conversion or copy
    std::string identity;  ///< FusedNode::identity in hex; empty: it runs no fused node
    bool operator==(const Step&) const = default;
  };
  /// Bytes that are taken from the first to the last of some steps, both included.
  struct Piece {
    std::string name;        ///< of the value; of what a step needs while it runs, the step's
    std::int64_t bytes = 0;  ///< at least 1
    std::size_t first = 0, last = 0;
    bool isScratch = false;  ///< no value: what one step needs while it runs
    bool operator==(const Piece&) const = default;
  };
  std::vector<Step> steps;
  std::vector<Piece> pieces;
  std::int64_t arenaBytes = 0;   ///< that are reserved: at least the peak, for pieces lie at fixed places
  std::int64_t callerBytes = 0;  ///< of the network's inputs and outputs, which stand outside of the arena
  std::int64_t boxed = 0;        ///< values without a place in the arena: their extents are known while it runs alone
  std::int64_t holders = 0;      ///< steps that run bodies, in arenas of their own that are not told here
  bool operator==(const MemoryTimeline&) const = default;

  /// By step: how many bytes are taken.
  std::vector<std::int64_t> taken() const;
  /// The pieces that are there at a step, the largest first.
  std::vector<const Piece*> at(std::size_t step) const;
};

/// The first step at which the most bytes are taken; 0 where there is none.
std::size_t peakOf(const std::vector<std::int64_t>& taken);

struct Plan;
struct Program;

/// Of a program whose memory is planned. `plan`: whose fused nodes it runs.
MemoryTimeline memoryTimeline(const Program& program, const Plan& plan);

}  // namespace fusescope
