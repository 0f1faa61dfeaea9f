#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fusescope {

/// The contents of the arena of a built network while it runs, step by step in order of execution.
struct MemoryTimeline {
  struct Step {
    std::string name;      ///< the name of the fused node, conversion or copy
    std::string identity;  ///< FusedNode::identity in hex; empty if the step runs no fused node
    bool operator==(const Step&) const = default;
  };
  /// Bytes that are occupied during the steps `first` to `last`, both included.
  struct Piece {
    std::string name;        ///< the name of the value, or of the step that needs the scratch memory
    std::int64_t bytes = 0;  ///< at least 1
    std::size_t first = 0, last = 0;
    bool isScratch = false;  ///< true: scratch memory of one step, not a value
    bool operator==(const Piece&) const = default;
  };
  std::vector<Step> steps;
  std::vector<Piece> pieces;
  std::int64_t arenaBytes = 0;   ///< bytes that are reserved; at least the peak, because pieces have fixed places
  std::int64_t callerBytes = 0;  ///< bytes of the network's inputs and outputs, which are outside the arena
  std::int64_t boxed = 0;        ///< values without a place in the arena, because their extents are known only while
                                 ///< the network runs
  std::int64_t holders = 0;      ///< steps that run bodies; the arenas of these bodies are not included here
  bool operator==(const MemoryTimeline&) const = default;

  /// Returns for each step how many bytes are occupied.
  std::vector<std::int64_t> usedBytes() const;
  /// Returns the pieces that are in memory at a step, the largest first.
  std::vector<const Piece*> at(std::size_t step) const;
};

/// Returns the first step at which most bytes are occupied; 0 if there is no step.
std::size_t peakOf(const std::vector<std::int64_t>& used);

struct Plan;
struct Program;

/// Returns the timeline of a program whose memory is planned. `plan` is the plan whose fused nodes it runs.
MemoryTimeline memoryTimeline(const Program& program, const Plan& plan);

}  // namespace fusescope
