#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/program.h"

namespace fusescope {

/// What the steps in bodies take while an engine is timed layer by layer: each body, at whatever depth, tells it of its
/// calls. It adds them up over one run of the network and keeps a sample for each run. One thread.
class BodyProfile {
 public:
  bool isOn() const { return m_on; }
  void forget();  ///< all that was
  void resume() { m_on = true; }
  void endRun();  ///< of the network
  void stop() { m_on = false; }

  void called(const Plan& body, const Program& program);
  void ran(const Plan& body, const Step& step, double ms);
  /// The means over these runs (middleRuns()), of all bodies of a node of `plan`; nothing for a node without bodies.
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
