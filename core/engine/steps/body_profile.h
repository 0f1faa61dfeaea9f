#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/program/program.h"

namespace fusescope {

/// Collects how long the steps in bodies take while an engine is timed layer by layer. Each body, at any depth, reports
/// its calls here. The times are summed over one run of the network, and each run is one sample. It is used by one
/// thread.
class BodyProfile {
 public:
  bool isOn() const { return m_on; }
  void forget();  ///< Deletes all samples.
  void resume() { m_on = true; }
  void endRun();  ///< Ends the sample of the current run of the network.
  void stop() { m_on = false; }

  void called(const Plan& body, const Program& program);
  void ran(const Plan& body, const Step& step, double ms);
  /// Returns the times of all bodies of a node of `plan`, as means over `runs` (see middleRuns()). The result is empty
  /// for a node without bodies.
  std::vector<BodyTimes> of(const Plan& plan, const FusedNode& fused, const std::vector<std::size_t>& runs) const;

 private:
  struct Entry {
    StepTime step;
    double ms = 0;  ///< in the run under way
    std::vector<double> runs;
  };
  struct Body {
    std::int64_t calls = 0;  ///< in the run under way
    std::vector<double> callsOfRuns;
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> entryOf;  ///< by key
    const Program* last = nullptr;               ///< that was called in this run
  };
  static std::string keyOf(FusedNodeId fused, const std::string& name);
  Entry& entryOf(Body& body, StepTime step) const;

  bool m_on = false;
  std::size_t m_runs = 0;
  std::map<const Plan*, Body> m_bodies;
};

}  // namespace fusescope
