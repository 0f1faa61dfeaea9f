#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compilers/compiler.h"
#include "verify/part_model.h"

namespace fusescope {

/// A compiled segment of a plan.
struct CompiledPart {
  SegmentId segment;
  bool isOurs = false;              ///< true: our own engine runs it
  std::vector<std::string> inputs;  ///< names of the values that it reads
  std::vector<std::string> outputs;
  std::shared_ptr<Engine> engine;
  /// The engine of the segment that was compiled, if this segment is equal to that one and uses its answer; otherwise
  /// `engine`.
  std::shared_ptr<const Engine> compiledAs{};
  std::vector<LoweredPin> pins{};  ///< the same as Lowered::pins, with ids of the part's plan
};

/// A plan with its compiled segments in the order in which they run.
struct CompiledParts {
  std::shared_ptr<const Plan> plan;  ///< includes the nodes that the compiler refused while it compiled
  std::vector<CompiledPart> parts;
};

/// Returns a segment as its compiler receives it, at these extents. A network with one segment is not cut but passed on
/// unchanged. Errors: the segment cannot be cut out.
Result<Part> segmentPart(const std::shared_ptr<const Plan>& plan, const Segment& segment,
                         const std::map<std::string, Dims>& extents, const StopToken& stop);

/// Compiles the segments of `plan` at the extents of `options`; fallback segments are compiled by our own compiler. Of
/// segments that are equal, weights included, a compiler behind a probe compiles one (ProbedEngine::equalTo()). If
/// `compiler` cannot compile a segment, the node falls back that the compiler names or that is found by compiling parts
/// of the segment (at most 64 in total), or else the whole segment. If the extents of a value between segments depend
/// on data, its producer falls back together with everything after it up to known extents, and with the nodes that
/// must run before the last of these and after the producer's segment; a network that still cannot be cut falls back as
/// a whole. Errors: those of our own compiler, and cancellation; for a compiler with recorded answers all errors,
/// because it cannot be asked again.
Result<CompiledParts> compileParts(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                   const std::map<std::string, Dims>& extents, const BuildOptions& options);

/// Returns a decision for each set of equal segments of which one was compiled.
std::vector<Decision> equalSegments(const CompiledParts& made);

}  // namespace fusescope
