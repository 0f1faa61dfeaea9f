#pragma once

#include <map>
#include <set>
#include <string>

#include "session/minimal_part.h"
#include "session/recorded_values.h"

namespace fusescope {

/// Cuts parts out of a network, compiles them, and tells whether they show what is searched for.
class PartTrial {
 public:
  /// All must outlive it. `recorded`: what the values of the network are.
  PartTrial(const Artifact& artifact, const NetworkCutter& cutter, const RecordedValues& recorded,
            const MinimalOptions& options)
      : m_artifact(artifact), m_cutter(cutter), m_recorded(recorded), m_options(options) {}

  struct Shown {
    bool isShown = false;
    std::string what;  ///< for people, either way
  };
  /// Whether the part of `nodes` shows it by the compiler of the artifact and, where there is another to hold it
  /// against, not by that. Errors: the part cannot be made, compiled or run by one of them.
  Result<Shown> shown(const std::set<std::size_t>& nodes);

 private:
  /// What one compiler makes of a part.
  struct Outcome {
    std::map<std::string, double> off{};  ///< Difference: outputs that are too far off, in rms
    double worst = 0;                     ///< likewise, of all outputs
    std::string refused{};                ///< Refusal: what is; empty: nothing
    std::string kernels{};                ///< Unfused: in which kernels the two nodes are
    bool isUnfused = false;
  };

  Result<Outcome> outcomeOf(const PlanOptions& wishes, const std::filesystem::path& path, const NetworkPart& part);
  Result<PlanOptions> optionsFor(const PlanOptions& wishes, const std::filesystem::path& path) const;
  std::map<std::string, Tensor> inputsOf(const NetworkPart& part) const;
  BuildOptions buildFor(const Artifact& artifact, const NetworkPart& part) const;
  Status compareOutputs(const Artifact& artifact, const NetworkPart& part, Outcome& outcome) const;
  Status findRefusals(const Artifact& artifact, const NetworkPart& part, Outcome& outcome) const;
  Status findKernels(Artifact& artifact, Outcome& outcome) const;
  bool isShown(const Outcome& outcome) const;
  bool isShownAgainst(const Outcome& outcome, const Outcome& other) const;
  std::string inWords(const Outcome& outcome) const;

  const Artifact& m_artifact;
  const NetworkCutter& m_cutter;
  const RecordedValues& m_recorded;
  const MinimalOptions& m_options;
};

}  // namespace fusescope
