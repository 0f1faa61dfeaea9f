#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compilers/compiler.h"
#include "verify/part_model.h"

namespace fusescope {

/// A segment of a plan, compiled.
struct CompiledPart {
  SegmentId segment;
  bool isOurs = false;              ///< our own engine runs it
  std::vector<std::string> inputs;  ///< values that it reads, by name
  std::vector<std::string> outputs;
  std::shared_ptr<Engine> engine;
  std::vector<LoweredPin> pins{};  ///< as Lowered::pins, in ids of the part's plan
};

/// A plan whose segments are compiled, in the order in which they run.
struct CompiledParts {
  std::shared_ptr<const Plan> plan;  ///< with what the compiler refused while it compiled
  std::vector<CompiledPart> parts;
};

/// A segment as its compiler is handed it, at these extents. A network of one segment is not cut: it is handed over as
/// it is, whatever it holds. Errors: it cannot be cut out.
Result<Part> segmentPart(const std::shared_ptr<const Plan>& plan, const Segment& segment,
                         const std::map<std::string, Dims>& extents, const StopToken& stop);

/// Compiles the segments of `plan` at the extents of `options`: those in fallback by our own compiler. A segment that
/// `compiler` cannot compile falls back: the node that it names, or that is found by compiling parts of the segment (at
/// most 64 in all); else all of them. Where the extents of a value between segments depend on data, what makes it falls
/// back together with what is behind it; a network that cannot be cut even so falls back whole. Errors: those of our
/// own compiler, and cancellation; of a compiler whose answers are recorded all, since it cannot be asked anew.
Result<CompiledParts> compileParts(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                   const std::map<std::string, Dims>& extents, const BuildOptions& options);

}  // namespace fusescope
